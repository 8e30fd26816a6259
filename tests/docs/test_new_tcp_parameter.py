"""A TCP parameter is defined at three places: one is added to a copy of the tree to count them.

The example is `least_ssthresh`: a lower bound for Reno's ssthresh, segments. `make generate-docs`
then creates the rest: the class, the profiles for Rust, the tables of the reference.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tree_copies import ROOT, changed, docs_of, run

TABLE = "python/airpath/scenario/tcp/tcp_options.toml"
CONFIG, RENO = "crates/tcp/src/config.rs", "crates/tcp/src/congestion/reno.rs"
LAST = "[option.max_syn_retries]\n"
ROW = """[option.least_ssthresh]
type = "count"
meaning = "Smallest ssthresh that a reduction leaves, segments, from 1"
rfc      = [2, "RFC 5681 §3.1 eq. 4"]
ns3-2014 = [2, "ns-3.21, class TcpReno"]
ns3      = [2, "ns-3.48, class TcpNewReno"]
ns2      = [2, "ns-2, tcp.cc"]
linux    = [2, "tcp_reno_ssthresh"]
acts = "loss"
kernel.does = "2"
kernel.same = [2]
models = {fixed-point = "recovery"}

"""
LAST_RANGE = '        checks.within("max_backoff", self.max_backoff, positive);\n'
FIELD = "    pub max_syn_retries: Option<u32>,\n"
EDITS = [
    (TABLE, LAST, ROW + LAST),
    (
        CONFIG,
        FIELD,
        f"{FIELD}    /// Smallest ssthresh that a reduction leaves, segments (RFC 5681 eq. 4).\n"
        "    pub least_ssthresh: u32,\n",
    ),
    (
        CONFIG,
        LAST_RANGE,
        f'{LAST_RANGE}        checks.within("least_ssthresh", self.least_ssthresh, positive);\n',
    ),
    (RENO, "pub struct Reno {\n", "pub struct Reno {\n    least_ssthresh: u32,\n"),
    (
        RENO,
        "            beta_ecn: half(),\n",
        "            least_ssthresh: options.least_ssthresh,\n            beta_ecn: half(),\n",
    ),
    (
        RENO,
        "self.ssthresh = window.max(2 * self.mss);",
        "self.ssthresh = window.max(u64::from(self.least_ssthresh) * self.mss);",
    ),
]
"""Edits that add the parameter: file, old text, new text."""
REFUSAL = """
#[cfg(test)]
mod least_ssthresh {
    #[test]
    fn zero_is_rejected() {
        let mut options = super::TcpConfig::of_profile("rfc").expect("a profile");
        assert_eq!(options.validate(), Ok(()));
        options.least_ssthresh = 0;
        let error = options.validate().expect_err("below its range").to_string();
        assert_eq!(error, "least_ssthresh = 0: below 1. Accepted: at least 1");
    }
}
"""
"""Rust test of the parameter's range, which Python does not check."""
RUN = """
import json
import airpath as ap
from airpath.scenario.checking import with_types_alone
from airpath.emulation.kernel import for_flows
from airpath.engine.resolved import ResolvedScenario

def scenario(segments):
    flows = ap.flows(base_rtt="40 ms", tcp={"least_ssthresh": segments})
    link = ap.link.Fixed(rate="5 Mbit/s")
    hop = ap.Bottleneck(aqm="droptail", link=link)
    return ap.Scenario(duration="10 s", bottleneck=hop, flows=flows)

try:
    scenario("two")
except ap.errors.ScenarioError as error:
    refused = str(error)
given = with_types_alone(lambda: scenario(3))  # The engine is not rebuilt.
resolved = json.loads(given.resolve()[0])
kernel = for_flows(given, ResolvedScenario(resolved), lambda name: True)
found = [line for line in kernel.not_applied if line["option"] == "tcp.least_ssthresh"]
options = resolved["flows"][0]["source"]["options"]
print(json.dumps([options["least_ssthresh"], refused, found]))
"""


@pytest.fixture
def extended(tree: Path) -> Path:
    """Return a copy of the checkout with the parameter."""
    for name, before, after in EDITS:
        text = (tree / name).read_text("utf-8")
        assert text.count(before) == 1, (name, before)
        (tree / name).write_text(text.replace(before, after), "utf-8")
    return tree


def test_parameter_is_defined_in_three_files(
    extended: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression test: a parameter required 20 edits in 14 files."""
    by_hand = changed(extended)
    assert by_hand == sorted({name for name, _, _ in EDITS})
    assert len(by_hand) == 3
    docs = docs_of(extended)
    assert sorted(set(changed(extended)) - set(by_hand)) == [
        "crates/tcp/generated/profiles.json",
        "docs/reference/models/fixed-point.md",
        "docs/reference/tcp-profiles.md",
        "python/airpath/scenario/tcp/config.py",
    ]
    profiles = json.loads((extended / "crates/tcp/generated/profiles.json").read_text("utf-8"))
    assert {profile["least_ssthresh"] for profile in profiles.values()} == {2}
    value, refused, differences = json.loads(
        run(sys.executable, "-c", RUN, directory=extended, **docs)
    )
    assert value == 3
    assert refused == 'flows: tcp.least_ssthresh = "two": not an integer. Use an integer.'
    difference = {"option": "tcp.least_ssthresh", "asked": "3", "kernel": "2"}
    assert differences == [{"flows": [0], **difference}]
    with capsys.disabled():
        print(f"\nTCP parameter: {len(EDITS)} edits in {len(by_hand)} files")


@pytest.mark.long
def test_new_parameter_compiles_and_is_in_every_profile(extended: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("no cargo")
    docs = docs_of(extended)
    suites = ("tests/unit/test_tcp_table.py", "tests/docs/test_parameters.py")
    quiet = ("-q", "-p", "no:cacheprovider")
    chosen = ("-k", "least_ssthresh or tcp or fixed-point or profiles")
    run(*(sys.executable, "-m", "pytest", *quiet, *suites, *chosen), directory=extended, **docs)
    with (extended / CONFIG).open("a", encoding="utf-8") as config:
        config.write(REFUSAL)
    run(
        *("cargo", "test", "--quiet", "--offline", "-p", "airpath-tcp", "--lib"),
        directory=extended,
        CARGO_TARGET_DIR=str(ROOT / "target"),
    )

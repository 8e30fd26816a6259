"""A new family of components is one line in Rust and one in Python, added to a copy of the tree.

The example is `jitter`: an additional time of every transmission of a fixed link. The test counts
the edited places of the family, and of the link that uses its components.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from tree_copies import ROOT, changed, docs_of, run

FAMILY = ("--family", "jitter")
QUIET = ("-q", "-p", "no:cacheprovider")
MOST_EDITS = 13
"""Number of edits: three Rust files, their module, a module of classes and its import, its
namespace in `airpath` (a module and two lines), a page, a section of the page of scenarios, and the
line of the family in either list.
"""
LISTS = {"crates/path/src/components.rs: family", "python/airpath/scenario/components.py: family"}

FIXED, LINKS = "crates/link/src/links/fixed.rs", "python/airpath/scenario/link/links.py"
TAKER = [
    (
        FIXED,
        "use crate::link::Link;\n",
        "use crate::jitter::{AnyJitter, Jitter};\nuse crate::link::Link;\n",
    ),
    (
        FIXED,
        "    pub errors: Option<Value>,\n",
        "    pub errors: Option<Value>,\n"
        "    /// What a transmission takes besides; absent: nothing.\n"
        "    #[serde(default)]\n"
        "    pub jitter: Option<Value>,\n",
    ),
    (
        FIXED,
        "#[derive(Clone, Debug)]\npub struct Fixed {\n",
        "pub struct Fixed {\n    jitter: Option<AnyJitter>,\n",
    ),
    (
        FIXED,
        "        Fixed { rate, loss, last: (",
        "        Fixed { jitter: None, rate, loss, last: (",
    ),
    (
        FIXED,
        "        let ends = now + self.last.1;\n",
        "        let mut ends = now + self.last.1;\n"
        "        if let Some(jitter) = &mut self.jitter {\n"
        "            ends = ends + jitter.time(now);\n"
        "        }\n",
    ),
    (
        FIXED,
        "        *self = Fixed::new(rate, self.loss);\n",
        "        let jitter = self.jitter.take();\n"
        "        *self = Fixed { jitter, ..Fixed::new(rate, self.loss) };\n",
    ),
    (
        FIXED,
        "        let fixed = Fixed::new(Rate(config.rate_bps), config.loss);\n",
        '        let (seed, registry) = (setup.seed.child("jitter"), '
        "&setup.extra.registries.get());\n"
        "        let jitter = config.jitter.as_ref().map(|description| {\n"
        "            AnyJitter::build(description, Setup { seed, registry, extra: () })\n"
        "        });\n"
        '        let jitter = jitter.transpose().map_err(|error| error.under("jitter"))?;\n'
        "        let fixed = Fixed::new(Rate(config.rate_bps), config.loss);\n"
        "        let fixed = Fixed { jitter, ..fixed };\n",
    ),
    (
        LINKS,
        "from airpath.scenario.link.base import ",
        "from airpath.scenario.base import Maybe\n"
        "from airpath.scenario.jitter import Jitter\n"
        "from airpath.scenario.link.base import ",
    ),
    (
        LINKS,
        "        Bit rate of frames (IP packet plus `frame_overhead`), above 0.\n",
        "        Bit rate of frames (IP packet plus `frame_overhead`), above 0.\n"
        "    jitter : Jitter, optional\n"
        "        What a transmission takes besides. Default: nothing.\n",
    ),
    (
        LINKS,
        "    loss: Real = 0.0\n\n\nclass Regime(Model):\n",
        "    loss: Real = 0.0\n    jitter: Maybe[Jitter] = ABSENT\n\n\nclass Regime(Model):\n",
    ),
]
"""Edits with which the fixed link uses the components: file, old text, new text."""
FROM_OUTSIDE = """
#[cfg(test)]
mod tests {
    use super::Components;
    use airpath_link::jitter::JitterRegistry;

    #[test]
    fn registered_component_reaches_the_links() {
        let mut components = Components::default();
        components.jitter.register("mine", |_, _| unreachable!("it is not made"));
        let given = components.registries().get::<JitterRegistry>();
        assert_eq!(given.names().collect::<Vec<_>>(), ["mine"]);
    }
}
"""
# A packet of 1250 bytes takes 1 ms at the rate of the link, and an additional time of 1 ms.
RUN = """
import airpath as ap

link = ap.link.Fixed(rate="10 Mbit/s", jitter={"kind": "constant-jitter", "time": "1 ms"})
flow = ap.traffic.Cbr(rate="20 Mbit/s", packet="1250 B")
hop = ap.Bottleneck(aqm="droptail", link=link)
scenario = ap.Scenario(duration="10 s", bottleneck=hop, flows=[flow])
print(ap.simulate(scenario, reps=1).replications[0]["links"][0]["delivered_packets"])
"""


def plugged_in(tree: Path) -> None:
    """Change the fixed link of the copy so that it uses the components."""
    for name, old, new in TAKER:
        text = (tree / name).read_text("utf-8")
        assert text.count(old) == 1, f"{name}: {old}"
        (tree / name).write_text(text.replace(old, new), "utf-8")


def test_family_is_a_line_in_two_lists_and_its_own_files(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edits = run(sys.executable, "scripts/new-component", *FAMILY, directory=tree).splitlines()[:-1]
    by_hand = changed(tree)
    assert len(edits) <= MOST_EDITS
    assert set(edits) >= LISTS
    assert sorted({edit.partition(": ")[0] for edit in edits}) == by_hand
    own = [edit for edit in edits if not (ROOT / edit.partition(": ")[0]).is_file()]
    plugged_in(tree)
    docs = docs_of(tree)
    made = sorted(set(changed(tree)) - {*by_hand, FIXED, LINKS})
    assert made == [
        "crates/conformance/generated/samples.json",
        "docs/reference/models/fixed.md",
        "docs/reference/models/index.md",
    ]
    listed = json.loads(
        run(sys.executable, "-m", "airpath", "list", "--json", directory=tree, **docs)
    )
    assert listed["jitter"] == {"constant-jitter": "Always the same time"}
    with capsys.disabled():
        taken = len({name for name, _, _ in TAKER})
        print(
            f"\nfamily jitter: {len(edits)} edits in {len(by_hand)} files, {len(own)} of them its"
            f" own; a link that takes it: {len(TAKER)} in {taken}; {len(made)} files made"
        )


@pytest.mark.long
def test_family_builds_and_link_uses_its_components(tree: Path) -> None:
    run(sys.executable, "scripts/new-component", *FAMILY, directory=tree)
    plugged_in(tree)
    docs = docs_of(tree)
    with (tree / "crates/path/src/components.rs").open("a", encoding="utf-8") as components:
        components.write(FROM_OUTSIDE)
    target = ROOT / "target"
    cargo = {"CARGO_TARGET_DIR": str(target), "PYO3_BUILD_EXTENSION_MODULE": "1"}
    for package, name in (("airpath-link", "jitter"), ("airpath-path", "components")):
        test = ("cargo", "test", "--quiet", "--offline", "-p", package, "--lib", name)
        assert "test result: ok. 0 passed" not in run(*test, directory=tree, **cargo)
    module = ("--profile", "quick", "-p", "airpath-py")
    run("cargo", "build", "--quiet", "--offline", *module, directory=tree, **cargo)
    shutil.copy(target / "quick" / "lib_airpath.so", tree / "python/airpath/_airpath.abi3.so")
    assert int(run(sys.executable, "-c", RUN, directory=tree, **docs)) == 4999
    chosen = ("tests/docs/test_parameters.py", "tests/unit/test_scenario_toml.py")
    words = "reference or documented or says"
    run(sys.executable, "-m", "pytest", *QUIET, *chosen, "-k", words, directory=tree, **docs)
    same = ("tests/unit/test_api.py", "tests/docs/test_examples.py", "-k", "same_parts or built_in")
    run(sys.executable, "-m", "pytest", *QUIET, *same, directory=tree, **docs)

"""Link adaptation: the adaptive link and its policies, in scenarios, results and the model."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath import _airpath
from airpath.scenario import shipped_tables

pytestmark = pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
"""Warnings of a model are also in `warnings` of the result."""

MCSS = {
    "slow": (2, 0.5, 60, 6.0e6),
    "mid": (4, 0.5, 60, 12.0e6),
    "mid2": (2, 1.0, 50, 12.0e6),
    "fast": (6, 0.75, 54, 24.0e6),
}
"""Mapping from the name of an MCS to its bits per symbol, code rate, block size (bytes) and rate
c_m (bit/s).
"""

ONSETS_DB = {"slow": 0, "mid": 8, "mid2": 6, "fast": 16}


def table_text() -> str:
    """Return an error-rate table with points from 0 to 40 dB and 10^6 blocks per point.

    Above the onset SNR of an MCS, its error rate falls by a factor of ten per 4 dB.
    """
    curves = [
        {
            "mcs": {
                "name": name,
                "bits_per_symbol": bits,
                "code_rate": rate,
                "block_bytes": block,
                "rate_bps": rate_bps,
            },
            "points": [
                {
                    "snr_db": snr_db,
                    "errors": round(min(1, 10 ** (-(snr_db - ONSETS_DB[name]) / 4)) * 10**6),
                    "blocks": 10**6,
                }
                for snr_db in range(0, 41, 4)
            ],
        }
        for name, (bits, rate, block, rate_bps) in MCSS.items()
    ]
    return json.dumps({"channel": "made up", "curves": curves})


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "four.json"
    path.write_text(table_text())
    return path


def fer(name: str, snr_db: float) -> float:
    """Return the error rate of the MCS `name` in the table at `snr_db`, a point of the table."""
    return round(min(1, 10 ** (-(snr_db - ONSETS_DB[name]) / 4)) * 10**6) / 10**6


def scenario(table: Path, policy: Any, snr_db: float = 20, **link: Any) -> ap.Scenario:
    adaptive = ap.link.Adaptive(
        table=str(table), snr_db=snr_db, policy=policy, delay="2.5 ms", **link
    )
    return with_link(adaptive)


def with_link(link: ap.link.Link) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(4, cc="reno", base_rtt="40 ms", start={"uniform": ["0 s", "1 s"]}),
        bottleneck=ap.Bottleneck(aqm="gred", link=link),
        duration="20 s",
        warmup="2 s",
    )


def by_hand(*names: str, snr_db: float = 20, threshold: int | None = None) -> ap.Scenario:
    """Return the equivalent multi-regime link of these MCSs for packets of 1500 bytes."""
    regimes = []
    for name in names:
        _, _, block, rate_bps = MCSS[name]
        blocks = -(-1500 // block)
        regimes.append(
            {
                "rate": rate_bps * 1500 / (blocks * block),
                "per": 1 - (1 - fer(name, snr_db)) ** blocks,
            }
        )
    thresholds = [] if threshold is None else [threshold]
    return with_link(ap.link.MultiRegime(thresholds=thresholds, regimes=regimes, delay="2.5 ms"))


# --- the scenario ------------------------------------------------------------------------------


def policy_of(scenario: ap.Scenario | Path) -> Any:
    return ap.check(scenario).resolved.link.get("policy")


def test_policies_are_resolved(table: Path) -> None:
    policy = {"kind": "qawla", "th_per": 0.05, "h": 100, "threshold": "20 packets"}
    text, files = scenario(table, policy, snr_bias_db=2, packet="576 B").resolve()
    assert files == {"four.json": table}
    assert json.loads(text)["bottleneck"]["link"] == {
        "kind": "adaptive",
        "table": "four.json",
        "snr": {"kind": "constant", "mean_db": 20.0},
        "policy": {"kind": "qawla", "th_per": 0.05, "h": 100.0, "threshold": 20},
        "snr_bias_db": 2.0,
        "snr_noise_db": 0.0,
        "estimate_interval_ns": 5_000_000,
        "packet_bytes": 576,
        "framing": {"overhead_bytes": 0, "block_bytes": 1, "code_rate": 1.0},
    }


def test_relative_table_starts_from_the_scenarios_directory(table: Path) -> None:
    file = table.with_name("a.toml")
    file.write_text(
        'duration = "1 s"\nflows = [{base_rtt = "40 ms"}]\n'
        '[bottleneck]\naqm = "gred"\n[bottleneck.link]\nkind = "adaptive"\n'
        'table = "four.json"\nsnr_db = 20\npolicy = {kind = "tagla", th_per = 0.01}\n'
    )
    assert ap.load(file).resolve()[1] == {"four.json": table}
    again = ap.load(file).to_toml()
    assert f'table = "{table.as_posix()}"' in again
    assert policy_of(file) == {"kind": "tagla", "th_per": 0.01}


def test_provenance_contains_the_table(table: Path) -> None:
    about = ap.solve(scenario(table, {"kind": "tagla", "th_per": 0.01})).provenance
    assert about["tables"]["four.json"]["file"] == str(table)
    assert len(about["tables"]["four.json"]["sha256"]) == 64
    assert "tables" not in ap.solve(by_hand("slow")).provenance


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "no JSON",
            "table = …: not JSON: ",
        ),
        (
            '{"channel": "x"}',
            "curves = null: not a list with curves in it",
        ),
    ],
)
def test_file_that_is_not_a_table_is_rejected(table: Path, text: str, problem: str) -> None:
    """Regression: the message named the file instead of the key that contains the file name."""
    place = 'bottleneck.link.table = "four.json": '
    table.write_text(text)
    for verb in (ap.check, ap.solve, ap.simulate):
        with pytest.raises(ap.errors.BadValueError) as caught:
            verb(scenario(table, ap.policy.Tagla(th_per=0.01)))  # type: ignore[operator]
        assert str(caught.value).startswith(f"{place}not a table of error rates: {problem}")
    table.write_bytes(b"\xff")
    with pytest.raises(
        ap.errors.BadValueError, match=re.escape(f"{place}not a text in UTF-8 (byte 1).")
    ):
        ap.check(scenario(table, ap.policy.Tagla(th_per=0.01)))


def test_shipped_tables_are_listed() -> None:
    assert shipped_tables() == [
        "airpath:802.16-ctc-awgn",
        "airpath:802.16-ctc-vehicular-a",
    ]
    for name in shipped_tables():
        ap.check(scenario(Path(name), ap.policy.Qawla(th_per=0.05, h=100, threshold=20)))


def test_shipped_table_is_a_name_and_not_a_path(table: Path) -> None:
    with pytest.raises(ap.errors.BadValueError, match="not a table that comes with Airpath"):
        ap.check(scenario(Path("airpath:../tables/802.16-ctc-awgn"), ap.policy.Tagla(th_per=0.01)))


# --- results -----------------------------------------------------------------------------------


def measured(path: ap.Scenario) -> list[dict[str, Any]]:
    """Return the counters for packets of 1500 bytes, without those that only this link has."""
    packets = ap.flows(2, source="poisson", rate="6 Mbit/s", packet="1500 B")
    runs = ap.simulate(path.model_copy(update={"flows": packets}), reps=3, seed=5).replications
    for run in runs:
        for link in run["links"]:
            link.pop("counters", None)
    return runs


@pytest.mark.parametrize(
    ("policy", "names", "threshold"),
    [
        (ap.policy.Fixed(mcs="mid"), ["mid"], None),
        (ap.policy.Fixed(mcs=1), ["mid"], None),
        (
            ap.policy.DualRegime(mcs_below="slow", mcs_above="fast", threshold=3),
            ["slow", "fast"],
            3,
        ),
        # PERs at 20 dB: mid 0.025, mid2 0.0095 (same rate), fast 0.94.
        (ap.policy.Tagla(th_per=0.03), ["mid2"], None),
        (ap.policy.Qawla(th_per=0.95, h=10, threshold=15), ["mid2", "fast"], 15),
        (ap.policy.Tfer(th_fer=0.2), ["fast"], None),
        (ap.policy.MaxPhyThroughput(), ["mid2"], None),
        (ap.policy.MaxPhyThroughput(error_rate="fer"), ["fast"], None),
    ],
)
def test_adaptive_link_equals_the_multi_regime_link(
    table: Path, policy: ap.policy.LinkAdaptation, names: list[str], threshold: int | None
) -> None:
    adaptive, multi_regime = scenario(table, policy), by_hand(*names, threshold=threshold)
    assert measured(adaptive) == measured(multi_regime)
    adaptive_solution, multi_regime_solution = ap.solve(adaptive), ap.solve(multi_regime)
    assert adaptive_solution.domain == multi_regime_solution.domain
    assert adaptive_solution.throughput_bps == pytest.approx(
        multi_regime_solution.throughput_bps, rel=1e-9
    )


def test_counters_show_the_used_mcss(table: Path) -> None:
    policy = ap.policy.DualRegime(mcs_below="slow", mcs_above="mid2", threshold=2)
    link = ap.simulate(scenario(table, policy), reps=1).table("links").iloc[0]
    assert link["slow_packets"] == link["regime_1_packets"] > 0
    assert link["mid2_packets"] == link["regime_2_packets"] > 0
    assert link["mid_packets"] == link["fast_packets"] == link["outside_table_packets"] == 0


def test_warning_reports_snrs_outside_the_table(table: Path) -> None:
    def warnings_of(**link: Any) -> list[str]:
        result = ap.simulate(scenario(table, ap.policy.Fixed(mcs="slow"), **link), reps=2)
        codes = ("outside-table", "unfinished-table")
        return [str(advisory) for advisory in result.advisories if advisory.code in codes]

    assert warnings_of() == []
    beyond = (
        "bottleneck: 100 % of the packets were sent while the SNR or its estimate was outside "
        "the error-rate table four.json, whose nearest value was used."
    )
    assert warnings_of(snr_db=40.5) == [beyond]
    assert warnings_of(snr_db=38, snr_bias_db=4) == [], "the policy ignores the estimate"


def test_unfinished_table_gives_a_warning(table: Path) -> None:
    path = scenario(table, ap.policy.Fixed(mcs="slow"))
    missing = (
        "four.json: points of this error-rate table are missing; its measurement was not finished"
    )
    for complete, expected in ((True, []), (False, [missing])):
        table.write_text(json.dumps(json.loads(table_text()) | {"complete": complete}))
        solved, result = ap.solve(path), ap.simulate(path, reps=2)
        assert [warning for warning in solved.warnings if "table" in warning] == expected
        noted = [str(note) for note in result.advisories if note.code == "unfinished-table"]
        assert noted == [f"{remark}." for remark in expected]


def test_threshold_of_the_policy_is_in_the_figures(table: Path) -> None:
    policy = ap.policy.Qawla(th_per=0.95, h=10, threshold=7)
    path = scenario(table, policy)
    path = path.model_copy(update={"record": ap.Record(series=["queue", "capacity", "regime"])})
    result = ap.simulate(path, reps=1)
    legend = result.plot.pmf().axes[0].get_legend()
    assert legend is not None
    labels = [text.get_text().split(":") for text in legend.texts]
    assert [label[0] for label in labels] == ["regime 1", "regime 2"]
    # The figures show the MCS names of the table, and the boundary of the second regime.
    assert all(label[1].strip() for label in labels)
    assert labels[1][1].endswith(", from 7 packets on")
    assert result.capacity() is None
    result.plot.timeline()


# --- the estimate ------------------------------------------------------------------------------


def test_bias_selects_the_mcs_of_a_higher_snr(table: Path) -> None:
    tagla = ap.policy.Tagla(th_per=0.05)
    biased = ap.simulate(scenario(table, tagla, snr_db=12, snr_bias_db=8), reps=1).table("links")
    assert biased["mid2_packets"].iloc[0] == biased["regime_1_packets"].iloc[0]
    assert measured(scenario(table, tagla, snr_db=12, snr_bias_db=8)) == measured(
        by_hand("mid2", snr_db=12)
    )


def test_noise_has_no_model_unless_the_policy_ignores_the_snr(table: Path) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.solve(scenario(table, ap.policy.Tagla(th_per=0.05), snr_noise_db=2))
    assert str(caught.value) == (
        "scenario: bottleneck.link.snr_noise_db = 2: no analytic model covers it. "
        "Covered: an estimate of the SNR without noise, policies that do not use it"
    )
    blind = ap.policy.Fixed(mcs="mid")
    noisy = ap.solve(scenario(table, blind, snr_noise_db=2)).throughput_bps
    assert noisy == ap.solve(scenario(table, blind)).throughput_bps


def test_model_warns_outside_the_table(table: Path) -> None:
    def warnings_of(**link: Any) -> list[str]:
        solution = ap.solve(scenario(table, ap.policy.Tagla(th_per=0.05), snr_db=39, **link))
        return [warning for warning in solution.warnings if "oscillates" not in warning]

    assert warnings_of() == []
    (warning,) = warnings_of(snr_bias_db=2)
    assert warning == (
        "39 dB or its estimate, 41 dB, is outside the table four.json, which then says what it "
        "has at its end"
    )


# --- choices, and the optimum ------------------------------------------------------------------


def test_policies_choose_the_expected_mcs() -> None:
    def choices(policy: dict[str, Any], snrs_db: list[float], packet: int = 1500) -> Any:
        return _airpath.policy_choices(json.dumps(policy), table_text(), snrs_db, packet)

    qawla = {"kind": "qawla", "th_per": 0.95, "h": 100, "threshold": 20}
    assert choices(qawla, [0, 12, 20, 40]) == [[0, 0], [0, 2], [2, 3], [3, 3]]
    tagla = {"kind": "tagla", "th_per": 0.05}
    assert choices(tagla, [16]) == [[0]]
    assert choices(tagla, [16], 50) == [[2]], "one block"
    with pytest.raises(ValueError, match="snrs_db = NaN: not a finite number of dB"):
        choices(tagla, [float("nan")])
    with pytest.raises(ValueError, match=r"policy\.th_per = 3: above 1"):
        choices({"kind": "tagla", "th_per": 3}, [20])


@pytest.mark.parametrize("snr_db", [12, 20, 28, 36])
def test_optimum_is_the_best_of_all_pairs(table: Path, snr_db: float) -> None:
    policy = policy_of(scenario(table, ap.policy.Optimum(threshold=20), snr_db=snr_db))
    best = ap.solve(scenario(table, ap.policy.Optimum(threshold=20), snr_db=snr_db))
    throughputs = {}
    for below, above in itertools.product(MCSS, MCSS):
        pair = ap.policy.DualRegime(mcs_below=below, mcs_above=above, threshold=20)
        rates = [json.loads(by_hand(n).resolve()[0]) for n in (below, above)]
        slow, fast = (r["bottleneck"]["link"]["regimes"][0]["rate_bps"] for r in rates)
        admissible = below == above or (slow < fast and fer(below, snr_db) <= fer(above, snr_db))
        if admissible:
            solved = ap.solve(scenario(table, pair, snr_db=snr_db))
            throughputs[below, above] = solved.throughput_bps
    assert best.throughput_bps == max(throughputs.values())
    assert policy["kind"] == "dual-regime"
    assert throughputs[policy["mcs_below"], policy["mcs_above"]] == best.throughput_bps


def test_optimum_uses_the_true_snr(table: Path) -> None:
    plain = policy_of(scenario(table, ap.policy.Optimum(threshold=20)))
    wrong = scenario(table, ap.policy.Optimum(threshold=20), snr_bias_db=9, snr_noise_db=5)
    assert policy_of(wrong) == plain
    assert ap.solve(wrong).throughput_bps > 0


def test_optimum_requires_a_model(table: Path) -> None:
    path = scenario(table, ap.policy.Optimum(threshold=20))
    cubic = path.model_copy(update={"flows": ap.flows(2, cc="cubic", base_rtt="40 ms")})
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.check(cubic)
    assert str(caught.value) == (
        'bottleneck.link.policy.kind = "optimum": cannot be found: flows.0.cc = cubic: '
        "no analytic model covers it. Covered: reno."
    )
    back = ap.ack_path.Link(link=path.bottleneck.link)
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.check(path.model_copy(update={"ack_path": back}))
    assert str(caught.value) == (
        'ack_path.link.policy.kind = "optimum": the fixed point that it needs is of the '
        "bottleneck's link alone. Use another policy for this link."
    )

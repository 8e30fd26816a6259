"""HARQ, ARQ and in-order release: resolved forms, and the counters of the link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.scenario import loads

HARQ = {"attempts": 4, "error": 0.2, "round_trip": "8 ms"}
TABLE = {"table": "airpath:802.16-ctc-awgn", "mcs": "mcs0", "snr": "1.8 dB"}


def scenario(**keys: Any) -> ap.Scenario:
    return ap.Scenario(
        flows=[ap.traffic.Cbr(rate="1 Mbit/s", packet="500 B")],
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="10 Mbit/s", **keys)),
        duration="100 s",
    )


def resolved_link(**keys: Any) -> dict[str, Any]:
    resolved, _ = scenario(**keys).resolve()
    link: dict[str, Any] = json.loads(resolved)["bottleneck"]["link"]
    return link


def test_link_without_harq_and_arq_has_none_of_their_keys() -> None:
    assert not {"harq", "arq", "in_order"} & set(resolved_link())


def test_harq_and_arq_are_resolved() -> None:
    link = resolved_link(harq={**HARQ, "processes": 8}, arq={"delay": "100 ms"}, in_order=True)
    assert link["harq"] == {
        "attempts": 4,
        "error": 0.2,
        "round_trip_ns": 8_000_000,
        "processes": 8,
    }
    assert (link["arq"], link["in_order"]) == ({"delay_ns": 100_000_000}, True)
    errors = resolved_link(harq={**HARQ, "error": TABLE})["harq"]["error"]
    assert errors == {
        "table": "802.16-ctc-awgn.json",
        "mcs": "mcs0",
        "snr_db": 1.8,
        "combining": "chase",
        "block_bytes": 1500,
    }


def test_file_gives_the_same_link_and_is_written_unchanged() -> None:
    link = scenario(harq={**HARQ, "error": TABLE}, in_order=False)
    read = loads(link.to_toml())
    assert read.bottleneck == link.bottleneck
    assert read.to_toml() == link.to_toml()
    assert isinstance(read.bottleneck.link, ap.link.Fixed)
    harq = read.bottleneck.link.harq
    assert harq == ap.link.Harq(attempts=4, error=ap.link.AttemptErrors(**TABLE), round_trip="8 ms")


def test_link_counts_retransmissions() -> None:
    """8 (0.2 + 0.04 + 0.008) + 50 · 0.0016 ms, for 25 000 packets each; five standard errors."""
    result = ap.simulate(scenario(harq=HARQ, arq={"delay": "50 ms"}), reps=4, seed=1)
    (link,) = result.intervals("links")
    counters = link["counters"]
    assert link["lost_packets"].mean == 0
    assert counters["recovery_delay_mean_s"].mean == pytest.approx(2.064e-3, rel=0.03)
    assert counters["recovered_packets"].mean == pytest.approx(0.2 * 25_000, rel=0.04)


def test_combining_reduces_retransmissions() -> None:
    def repetitions(combining: str) -> float:
        errors = {**TABLE, "combining": combining}
        harq = {"attempts": 4, "error": errors, "round_trip": "8 ms"}
        (link,) = ap.simulate(scenario(harq=harq), reps=1).intervals("links")
        found: float = link["counters"]["repetitions"].mean
        return found

    assert repetitions("none") > 1.2 * repetitions("chase")
    assert repetitions("chase") == pytest.approx(repetitions("incremental"), rel=0.05)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            {**TABLE, "mcs": "mcs9"},
            'scenario: bottleneck.link.harq.error.mcs = "mcs9": not in the error-rate table. '
            "Accepted: mcs0, mcs1, mcs2, mcs3, mcs4, mcs5, mcs6, mcs7.",
        ),
        (
            {**TABLE, "table": "airpath:none"},
            'bottleneck.link.harq.error.table = "airpath:none": not a table that comes with '
            "Airpath. Expected one of: airpath:802.16-ctc-awgn, airpath:802.16-ctc-vehicular-a.",
        ),
    ],
)
def test_missing_table_and_scheme_are_rejected(error: dict[str, Any], line: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.simulate(scenario(harq={**HARQ, "error": error}), reps=1)
    assert str(caught.value) == line


def test_results_are_saved_and_loaded(tmp_path: Path) -> None:
    result = ap.simulate(scenario(harq={**HARQ, "error": TABLE}, in_order=True), reps=2)
    result.save(tmp_path / "out", figure_formats=None)
    again = ap.load_result(tmp_path / "out")
    assert again.intervals("links") == result.intervals("links")

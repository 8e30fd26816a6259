"""Python functions of the package: results, rejected arguments, reproducibility."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath import _airpath
from airpath.engine.resolved import DERIVED_SERIES
from airpath.scenario import FAMILIES
from airpath.scenario.examples import shipped_examples


def scenario(**changes: Any) -> ap.Scenario:
    keys: dict[str, Any] = {
        "flows": ap.flows(2, cc="newreno", base_rtt="20 ms", start={"uniform": ["0 s", "1 s"]}),
        "bottleneck": ap.Bottleneck(
            aqm=ap.aqm.DropTail(), link=ap.link.Fixed(rate="10 Mbit/s", loss=1e-3)
        ),
        "duration": "10 s",
        "warmup": "2 s",
    }
    return ap.Scenario(**(keys | changes))


def test_goodput_is_between_half_the_link_and_the_link() -> None:
    result = ap.simulate(scenario(), reps=2)
    assert 5e6 < result.intervals("flows")[-1]["goodput_bps"].mean < 10e6


@pytest.mark.parametrize("threads", [2, 3])
def test_number_of_threads_does_not_change_results(threads: int) -> None:
    one, many = (
        ap.simulate(scenario(record={"series": ["cwnd", "drop"]}), reps=4, threads=n)
        for n in (1, threads)
    )
    assert one.to_dict(raw=True)["replications"] == many.to_dict(raw=True)["replications"]
    assert [run["flows"] for run in one.replications] == [run["flows"] for run in many.replications]
    assert one.series("cwnd", 3).equals(many.series("cwnd", 3))


def test_another_seed_gives_other_results() -> None:
    first, second = (ap.simulate(scenario(), reps=1, seed=seed) for seed in (1, 2))
    assert first.replications != second.replications


def test_replications_do_not_depend_on_concurrent_ones() -> None:
    few, more = (ap.simulate(scenario(), reps=reps) for reps in (1, 3))
    assert few.replications[0] == more.replications[0]


def test_progress_ends_with_all_replications_finished() -> None:
    reports: list[tuple[int, int, float]] = []
    ap.simulate(scenario(duration="100 s"), reps=3, progress=lambda *now: reports.append(now))
    assert [fraction for _, _, fraction in reports] == sorted(
        fraction for _, _, fraction in reports
    )
    assert reports[-1] == (3, 3, pytest.approx(1.0))


def test_error_in_the_progress_callback_reaches_the_caller() -> None:
    def fail(*_now: object) -> None:
        raise LookupError("from progress")

    with pytest.raises(LookupError, match="from progress"):
        ap.simulate(scenario(duration="1000 s"), reps=2, progress=fail)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reps": 0}, "reps = 0: below 1. Use an integer from 1 on."),
        ({"seed": -1}, "seed = -1: not accepted. Use an integer from 0 to 2^64 - 1."),
        ({"threads": 0}, "threads = 0: below 1. Use an integer from 1 on."),
        (
            {"confidence": 99},
            "confidence = 99: not between 0 and 1. Use a fraction, for example 0.99.",
        ),
        (
            {"reps": 0, "threads": 0},
            "reps = 0: below 1. Use an integer from 1 on.\n"
            "threads = 0: below 1. Use an integer from 1 on.",
        ),
    ],
)
def test_out_of_range_settings_are_reported_by_name(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.simulate(scenario(), **settings)
    assert str(error.value) == message


def trace_scenario(directory: Path, text: str, kind: str = "trace") -> ap.Scenario:
    file = directory / "some.trace"
    file.write_text(text)
    link = ap.link.Trace(file=str(file)) if kind == "trace" else ap.link.RateTrace(file=str(file))
    return scenario(bottleneck=ap.Bottleneck(aqm=ap.aqm.DropTail(), link=link))


def test_trace_is_read_in_the_format_of_its_link(tmp_path: Path) -> None:
    result = ap.simulate(trace_scenario(tmp_path, "1\n2\n3\n"), reps=1)
    # One opportunity of 1504 bytes per millisecond carries one full-size IP packet.
    assert result.intervals("flows")[-1]["ip_throughput_bps"].mean == pytest.approx(12e6, rel=0.05)
    csv = "time_s,rate_bps\n0,6000000\n1,6000000\n"
    result = ap.simulate(trace_scenario(tmp_path, csv, "rate-trace"), reps=1)
    assert result.intervals("flows")[-1]["ip_throughput_bps"].mean == pytest.approx(6e6, rel=0.05)


def test_broken_trace_is_reported_with_file_and_line(tmp_path: Path) -> None:
    broken = trace_scenario(tmp_path, "5\n9\n7\n")
    for verb in (ap.simulate, ap.check):
        with pytest.raises(ap.errors.BadValueError) as error:
            verb(broken)
        assert str(error.value) == (
            f"{tmp_path}/some.trace:3: 7 is before the previous 9. "
            "Delivery times must not decrease."
        )


def test_trace_of_the_other_format_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ap.errors.BadValueError, match=r"some\.trace:1: .* is not a delivery time"):
        ap.simulate(trace_scenario(tmp_path, "time_s,rate_bps\n0,1\n1,1\n"))


def test_binary_trace_is_rejected(tmp_path: Path) -> None:
    made = trace_scenario(tmp_path, "1\n")
    (tmp_path / "some.trace").write_bytes(b"1\n\xff\n")
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.simulate(made)
    assert str(error.value) == f"{tmp_path}/some.trace: not a text in UTF-8 (byte 3)."


def test_check_returns_the_resolved_scenario() -> None:
    resolved = ap.check(scenario()).resolved
    assert resolved.duration_ns == 10_000_000_000
    assert resolved.flows[0].source.tcp.min_rto_ns == 1_000_000_000


def test_checked_scenario_is_neither_resolved_nor_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "some.trace").write_text("1\n2\n3\n", encoding="utf-8")
    link = ap.link.Trace(file=str(tmp_path / "some.trace"))
    made = scenario(bottleneck=ap.Bottleneck(aqm="droptail", link=link), duration="3 s")
    expected = ap.simulate(made, reps=1).to_dict()
    checked = ap.check(made)
    (tmp_path / "some.trace").unlink()
    monkeypatch.setattr(ap.Scenario, "resolve", None)
    found = ap.simulate(checked, reps=1)
    assert found.to_dict() == expected
    assert [str(each) for each in ap.check(checked).advisories] == []
    with pytest.raises(ap.errors.BadValueError, match=r"link\.kind"):
        ap.solve(checked)


# --- solve -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_solve_finds_the_boundary_of_the_dual_regime_example() -> None:
    solution = ap.solve(ap.load(shipped_examples() / "dual-regime.toml"))
    assert (solution.model, solution.domain) == ("fixed-point", "B")
    assert solution.queue_packets == 20
    assert sum(flow.throughput_bps for flow in solution.flows) == pytest.approx(
        solution.throughput_bps
    )
    document = json.loads(solution.to_json())
    assert next(iter(document)) == "provenance"
    assert document["domain"] == "B"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"flows": ap.flows(source="cbr", rate="1 Mbit/s")},
            'scenario: flows.0.source = "cbr": no analytic model covers it. Covered: tcp',
        ),
        (
            {"flows": ap.flows(base_rtt="20 ms", size="1 MB")},
            'scenario: flows.0.size = "1 MB": no analytic model covers it. '
            "Covered: flows of unlimited data",
        ),
        (
            {"flows": ap.flows(base_rtt="20 ms", tcp={"ecn": "on"})},
            'scenario: flows.0.tcp.ecn = "on": no analytic model covers it. '
            "Covered: flows without ECN",
        ),
        (
            {"flows": ap.flows(base_rtt="20 ms", cc="dctcp")},
            'scenario: flows.0.cc = "dctcp": no analytic model covers it. Covered: reno',
        ),
        (
            {"backhaul": {"rate": "1 Mbit/s"}},
            'scenario: backhaul.rate = "1 Mbit/s": no analytic model covers it. '
            "Covered: a backhaul that is faster than the bottleneck's link",
        ),
        (
            {
                "bottleneck": ap.Bottleneck(
                    aqm="gred",
                    link=ap.link.Fixed(
                        rate="1 Mbit/s", errors=ap.frame_errors.Independent(loss=0.1)
                    ),
                )
            },
            'scenario: bottleneck.link.errors.kind = "independent": no analytic model covers it. '
            "Covered: links without an error process, with loss or per",
        ),
        (
            {
                "ack_path": ap.ack_path.Link(
                    link=ap.link.Fixed(
                        rate="1 Mbit/s",
                        errors=ap.frame_errors.Burst(frame_error_rate=0.1, doppler=0.01),
                    )
                )
            },
            'scenario: ack_path.link.errors.kind = "burst": no analytic model covers it. '
            "Covered: links without an error process, with loss or per",
        ),
    ],
)
def test_solve_rejects_scenarios_without_a_model(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as error:
        ap.solve(scenario(**changes))
    assert str(error.value) == message


@pytest.mark.filterwarnings("ignore::airpath.errors.ModelWarning")
def test_solve_counts_the_backhaul_in_the_round_trip() -> None:
    reno = {"flows": ap.flows(2, cc="reno", base_rtt="120 ms")}
    without = ap.solve(scenario(**reno))
    delayed = ap.solve(scenario(**reno, backhaul={"delay": "20 ms"}))
    assert delayed.throughput_bps == pytest.approx(without.throughput_bps)
    # The transmission of 1540 bytes at 12.32 Mbit/s takes 1 ms.
    slower = ap.solve(scenario(**reno, backhaul={"rate": "12.32 Mbit/s", "delay": "20 ms"}))
    longer = ap.solve(scenario(flows=ap.flows(2, cc="reno", base_rtt="121 ms")))
    assert slower.throughput_bps == pytest.approx(longer.throughput_bps)
    assert slower.throughput_bps < without.throughput_bps


# --- what the package offers -------------------------------------------------------------------


def test_path_of_a_file_is_accepted_as_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(scenario().to_toml())
    expected = ap.simulate(scenario(), reps=1).replications
    assert ap.simulate(file, reps=1).replications == expected
    assert ap.simulate(str(file), reps=1).replications == expected
    assert ap.check(file).resolved.flows.entries == ap.check(scenario()).resolved.flows.entries
    assert ap.solve(file).throughput_bps == ap.solve(scenario()).throughput_bps
    with pytest.raises(ap.errors.ScenarioError, match=r"no\.toml: cannot be read"):
        ap.simulate(tmp_path / "no.toml")
    with pytest.raises(
        ap.errors.BadValueError, match=r"scenario = \{\}: neither a Scenario nor the path"
    ):
        ap.simulate({})  # type: ignore[arg-type]


def test_every_exported_name_exists() -> None:
    assert all(hasattr(ap, name) for name in ap.__all__)
    assert sorted(ap.__all__) == sorted(dir(ap))
    assert {"models", "phy"} <= set(ap.__all__)
    assert ap.__version__ == _airpath.version()
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = ap.Nonsense


def test_engine_and_scenario_have_the_same_components() -> None:
    registry = json.loads(_airpath.registry())
    # `capture` and `model` are not components of a scenario.
    assert registry.keys() == FAMILIES.keys() | {"capture", "model"}
    for family, base in FAMILIES.items():
        engine, scenario = {name for name, _ in registry[family]}, set(base.registry)
        if (
            family == "congestion"
        ):  # NewReno is Reno's congestion control with another loss recovery.
            scenario = {cc().resolved_control(None, ())["kind"] for cc in base.registry.values()}  # type: ignore[attr-defined, arg-type]
        # The optimum is computed first; the engine receives a dual-regime policy.
        assert engine == scenario - {"optimum"}, family


def test_scenario_and_engine_have_the_same_series() -> None:
    from airpath.scenario import SERIES

    result = ap.simulate(scenario(record={"series": list(SERIES)}), reps=1)
    assert all({"time_s", "id", "value"} <= set(result.series(name).columns) for name in SERIES)
    assert set(DERIVED_SERIES) <= set(SERIES)

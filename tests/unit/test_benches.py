"""The benchmarks run. Their speed is not tested."""

import importlib.util
import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
RUN = ROOT / "tests" / "benches" / "run.py"


@pytest.fixture(scope="module")
def benches() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("benches_run", RUN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(RUN.parent)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def against(benches: ModuleType) -> ModuleType:
    return sys.modules["against"]


def test_scenario_is_measured(benches: ModuleType) -> None:
    found = benches.measure("rlc-384")
    assert found["name"] == "rlc-384"
    assert found["events_per_packet"] > 1
    assert found["packets_per_cpu_s"] > 0


def test_memory_of_idle_flows_is_measured(
    benches: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benches, "IDLE_FLOWS", 2000)
    found = benches.measure_idle("idle")
    # Equal flows share one description. A separate description would take more than 1000 bytes per
    # flow.
    assert found["scenario_bytes_per_flow"] < 100
    assert found["peak_rss_bytes"] > 0


@pytest.mark.parametrize(
    ("count", "rank", "coverage"),
    [
        (1, 1, 0),
        (2, 1, 1 / 2),
        (5, 1, 1 - 2 / 32),
        (6, 1, 1 - 2 / 64),
        (8, 1, 1 - 2 / 256),
        (9, 2, 1 - 2 * (1 + 9) / 512),
        (12, 3, 1 - 2 * (1 + 12 + 66) / 4096),
    ],
)
def test_interval_of_a_median_consists_of_order_statistics(
    against: ModuleType, count: int, rank: int, coverage: float
) -> None:
    values = [float((7 * number) % count) for number in range(count)]  # no count is a multiple of 7
    found = against.median_interval(values)
    assert found.median == (count - 1) / 2
    assert (found.low, found.high) == (rank - 1, count - rank)
    assert math.isclose(found.coverage, coverage)


def test_interval_reports_its_coverage(against: ModuleType) -> None:
    ratios = [1.5, 1.25, 1.75, 2.0, 1.0]
    assert str(against.median_interval(ratios)) == "1.500 (1.000 to 2.000, 93 %)"
    with pytest.raises(ValueError, match="no values"):
        against.median_interval([])


def test_each_side_comes_first_in_half_of_the_pairs(
    against: ModuleType,
) -> None:
    order = against.turns(12)
    assert sorted(order) == [False] * 6 + [True] * 6
    assert order == against.turns(12)
    assert any(a == b for a, b in itertools.pairwise(order)), (
        "the order must be random, not alternating"
    )
    assert against.turns(12, seed=2) != order


def test_runs_alternate_and_pairs_keep_their_sides(against: ModuleType) -> None:
    log: list[str] = []

    def run(side: str) -> tuple[str, int]:
        log.append(side)
        return side, len(log)

    pairs = against.run_pairs(lambda: run("this"), lambda: run("other"), 12)
    assert [(this[0], other[0]) for this, other in pairs] == [("this", "other")] * 12
    firsts = [log[2 * number] == "other" for number in range(12)]
    assert firsts == against.turns(12)
    for number, (this, other) in enumerate(pairs):
        assert {this[1], other[1]} == {2 * number + 1, 2 * number + 2}


def test_ratios_are_computed_within_pairs(benches: ModuleType) -> None:
    # The machine slows down: the ratio of the medians is 2.7, which is not the ratio of any pair.
    this_side, other_side = [16.0, 3.0, 2.0], [8.0, 1.1, 1.0]
    runs = [[{"packets_per_cpu_s": speed} for speed in side] for side in (this_side, other_side)]
    found = benches.compared(list(zip(*runs, strict=True)), "0123456789abcdef")
    assert found["against"]["ratios"] == [2.0, 3.0 / 1.1, 2.0]
    assert found["against"]["ratio"]["median"] == 2.0
    assert (found["packets_per_cpu_s"], found["runs"]) == (3.0, 3)
    assert found["against"]["other"]["packets_per_cpu_s"] == 1.1


def test_table_has_both_commits_and_their_ratio(benches: ModuleType) -> None:
    pairs = [
        ({"name": "idle", "bytes_per_flow": this_side, "scenario_bytes_per_flow": 0}, other_side)
        for this_side, other_side in [
            (900.0, {"name": "idle", "bytes_per_flow": 1800.0, "scenario_bytes_per_flow": 1}),
            (1000.0, {"name": "idle", "bytes_per_flow": 1600.0, "scenario_bytes_per_flow": 1}),
        ]
    ]
    this, other, ratio = benches.lines(benches.compared(pairs, "0123456789abcdef"))
    assert " ".join(this.split()) == "idle 900 bytes per flow, and 0 of scenario text"
    assert other.startswith("  0123456789ab ")
    assert other.endswith(" 1,600 bytes per flow, and 1 of scenario text")
    assert ratio == "  ratio of bytes_per_flow, 2 pairs: 0.562 (0.500 to 0.625, 50 %)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--against", "no-such-revision"], "--against no-such-revision: no commit of this"),
        (["--against=--all"], "--against --all: no commit of this repository"),
        (["--repeat", "0"], "argument --repeat: 0: not a count from 1"),
        (["no-such-name"], "unknown: no-such-name. Accepted: dumbbell-16"),
    ],
)
def test_invalid_benchmark_is_one_line_and_status_2(
    benches: ModuleType,
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [str(RUN), *arguments])
    with pytest.raises(SystemExit) as ended:
        benches.main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_unoptimised_module_is_not_compared(
    against: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(against, "OPTIMISED", tmp_path / "stamp")
    with (
        pytest.raises(against.NotBuiltError, match=r"not optimised\. Run make bench AGAINST=HEAD$"),
        against.other_commit("HEAD"),
    ):
        pass


def test_benchmark_missing_in_a_commit_is_reported_in_one_line(benches: ModuleType) -> None:
    failing = [sys.executable, "-c", "raise KeyError('rlc-384')"]
    with pytest.raises(Exception, match=r"^rlc-384: .*: KeyError: 'rlc-384'$"):
        benches.run_once("rlc-384", failing)

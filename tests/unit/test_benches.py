"""The benchmarks run; how fast is no matter of tests."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def benches() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benches_run", ROOT / "benches" / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_scenario_is_measured(benches: ModuleType) -> None:
    found = benches.measure("rlc-384")
    assert found["name"] == "rlc-384"
    assert found["events_per_packet"] > 1
    assert found["packets_per_cpu_s"] > 0


def test_the_memory_of_idle_flows_is_measured(
    benches: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benches, "IDLE_FLOWS", 2000)
    found = benches.measure_idle("idle")
    # Equal flows share their description: less text than a flow's own, which is above 1000 bytes.
    assert found["scenario_bytes_per_flow"] < 100
    assert found["peak_rss_bytes"] > 0

"""Paths of several hops: agreement with the stored numbers of ns-3, and the square-root law.

Method and all results: `docs/explanation/ns-3-hops.md`.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance import Law

HERE = Path(__file__).parent
SQUARE_ROOT = Law(
    area="Queueing theory",
    source="Mathis et al. 1997: rate ∝ 1/(RTT √p), losses of n equal hops add up: the long flow of "
    "a parking lot has the share 1/(1 + √n)",
    allows="5 %",
)
SHARES = Law(
    area="Compared with ns-3",
    source="ns-3, paths of several hops, profile ns3",
    allows="goodputs within 2 % and mean queues within 5 % or 0.5 packets, in 10 of 12 dumbbells",
)
REPS = {"lots": 20, "dumbbells": 60}


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    """Import the scripts of this directory, which is not a package, and remove them afterwards."""
    names = ["hops", "compare_hops"]
    sys.path.insert(0, str(HERE))
    try:
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(HERE))
        for name in names:
            sys.modules.pop(name, None)


def differences(compare_hops: ModuleType, path: Any, reps: int) -> list[Any]:
    airpath = compare_hops.by_name(compare_hops.simulated_runs(path, reps))
    return list(compare_hops.compare(path, airpath))


def test_ns3_has_several_runs_of_each_path(scripts: dict[str, ModuleType]) -> None:
    for path in scripts["hops"].paths():
        least = 4 if path.id.startswith("lot") else 20
        assert len(list(scripts["compare_hops"].stored_runs(path))) >= least, path.id


@pytest.mark.slow
def test_long_flow_with_random_losses_has_the_share_of_the_square_root_law(
    scripts: dict[str, ModuleType],
) -> None:
    """All round-trip times are equal, and no queue ever overflows: all losses are independent."""
    for path in scripts["hops"].parking_lots():
        if path.id.startswith("lot-loss"):
            runs = scripts["compare_hops"].simulated_runs(path, REPS["lots"])
            share = statistics.fmean(run["share"] for run in runs)
            hops = len(path.hops)
            law = 1 / (1 + math.sqrt(hops))
            SQUARE_ROOT.close(f"share, {hops} hops", "", share, law, 0.05 * law)


@pytest.mark.long
def test_shares_of_long_flows_are_within_5_percent_of_ns3(scripts: dict[str, ModuleType]) -> None:
    """Except `lot-droptail-2`, whose losses depend on the order of events at equal times."""
    for path in scripts["hops"].parking_lots():
        if path.id == "lot-droptail-2":
            continue
        (share,) = differences(scripts["compare_hops"], path, REPS["lots"])
        assert share.agrees, (path.id, share)


@pytest.mark.long
def test_goodputs_and_queues_agree_with_ns3_in_10_of_12_dumbbells(
    scripts: dict[str, ModuleType],
) -> None:
    compare_hops = scripts["compare_hops"]
    agreeing = [
        all(one.agrees for one in differences(compare_hops, path, REPS["dumbbells"]))
        for path in scripts["hops"].dumbbells()
    ]
    SHARES.between("dumbbells that agree", "", sum(agreeing), 10, 12)

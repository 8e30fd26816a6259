"""Statements of the abstract, with Airpath's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airpath.reproduction.base import ItemResult, Summary
from airpath_papers.wimax.data import POLICIES
from airpath_papers.wimax.quantities import bound

__all__ = ["summarise"]


def summarise(results: Sequence[ItemResult]) -> list[Summary]:
    """Return the statements of the abstract with Airpath's numbers, as far as simulated."""
    rows = {result.item: result.rows for result in results}
    lines: list[str] = []
    values: dict[str, Any] = {}
    found = [row for row in rows.get("table2", ()) if row.quantity == "goodput_gain"]
    if found:
        computed = {int(row.row["base_rtt_ms"]): row.computed for row in found}
        values["gains"] = {f"{rtt}_ms": gain for rtt, gain in computed.items()}
        shown = ", ".join(f"{gain:.0f} % at {rtt} ms" for rtt, gain in computed.items())
        lines.append(
            f'"Up to about 40 %" (abstract): adapt-BI gains {shown}; as printed it is '
            f"{', '.join(f'{row.published:.0f}' for row in found)} %, and the printed delays "
            f"allow {', '.join(f'{bound(rtt):.0%}' for rtt in computed)}"
        )
    efficiencies = {
        str(row.row["policy"]): row.computed
        for row in rows.get("table1", ())
        if row.quantity == "efficiency" and row.computed
    }
    if len(efficiencies) == len(POLICIES):
        times = efficiencies["adapt-bi"] / efficiencies["blind-bi"]
        values["efficiency_times"] = times
        lines.append(
            f'"About two times" (§6): the efficiency of adapt-BI is {times:.2f} times that of '
            "blind-BI"
        )
    return [Summary("abstract", "What the abstract promises", lines, values)] if lines else []

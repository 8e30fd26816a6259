"""How much the numbers depend on what the paper leaves open: one choice changed at a time."""

from __future__ import annotations

from pathlib import Path

from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.session import Session
from airpath_papers.sbd.data import Aqm, DropTail, Red, Sbd, drop_tail, published_table
from airpath_papers.sbd.scenarios import Case, keys
from airpath_papers.sbd.tables import QUANTITIES

from .variants import VARIANT_RUNS, VARIANTS

__all__ = ["SENSITIVITY_CELLS", "evaluate_sensitivity"]

TITLE = "what the numbers depend on: one choice of the README changed at a time"


def _cases() -> dict[str, list[Case]]:
    """Return the cases of each variant: those that it can concern."""
    bases: list[tuple[int, int, Aqm]] = [(*place, DropTail()) for place in drop_tail()]
    for number in (3, 5):
        bases += [(row.bearer, 1, row.aqm) for row in published_table(number).values()]
    found: dict[str, list[Case]] = {}
    for name, variant in VARIANTS.items():
        kind = Sbd if variant.sbd else Red if variant.red else None
        found[name] = [
            Case(*base, variant=name) for base in bases if kind is None or isinstance(base[2], kind)
        ]
    return found


SENSITIVITY_CELLS: list[Cell] = [
    cell
    for cases in _cases().values()
    for case in cases
    for cell in (case, case._replace(variant=""))
]


def evaluate_sensitivity(session: Session, _out: Path | None) -> ItemResult:
    """Return what each change does to goodput and delay."""
    rows: list[Row] = []
    tables = []
    for name, cases in _cases().items():
        lines = []
        for case in cases:
            line = [str(case.bearer), str(case.flows), str(keys(case)["aqm"])]
            for quantity in QUANTITIES.values():
                changed = session.values(case, quantity.measure)
                # The same runs as those with the change.
                same = session.values(case._replace(variant=""), quantity.measure)
                chosen = same[: len(changed)]
                if not chosen or not changed:
                    line += ["", "", ""]
                    continue
                before, after = session.interval(chosen), session.interval(changed)
                change = 100 * (after.mean / before.mean - 1)
                means = (f"{e.mean:.{quantity.decimals}f}" for e in (before, after))
                line += [*means, f"{change:+.1f}"]
                key = {**keys(case), "variant": name}
                rows.append(
                    Row(
                        key,
                        quantity.name,
                        quantity.unit,
                        None,
                        after.mean,
                        low=after.low,
                        high=after.high,
                        extra={"change_per_cent": change},
                    )
                )
            lines.append(line)
        columns = [("", "bearer"), ("", "flows"), ("", "aqm")]
        columns += [(g, n) for g in QUANTITIES for n in ("as chosen", "changed", "%")]
        notes = [f"The same {VARIANT_RUNS} runs of both."]
        tables.append(Table(f"{name}: {VARIANTS[name].about}", columns, lines, notes))
    complete = session.complete(SENSITIVITY_CELLS)
    return ItemResult("sensitivity", TITLE, rows, tables, complete=complete)

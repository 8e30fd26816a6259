"""The items ``advantage`` and ``sensitivity``: one choice of README.md changed at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airpath.present import style as plotting
from airpath.reproduction.base import Cell, ItemResult, Row, Table
from airpath.reproduction.manifest import Evaluate, titles
from airpath.reproduction.session import Session
from airpath_papers.vcp.common import about
from airpath_papers.vcp.delivered import NAMES
from airpath_papers.vcp.measures import DELIVERED, QUEUE_PACKETS
from airpath_papers.vcp.scenarios import AS_CHOSEN, Case, Variant

from .variants import OF_PROTOCOL, PRIORITY, SENSITIVITY

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["CHANGED", "SETTINGS"]

DIRECTORY: Final = Path(__file__).parent

SETTINGS: Final[Mapping[str, tuple[str, float, float]]] = {
    "r = 0.93, 14 dB": ("2x2", 0.93, 14.0),
    "no FEC, 20 dB": ("2x2", 1.0, 20.0),
}
"""Past the threshold, and where a hundredth of the data is lost: antennas, code rate, SNR_G."""

PROTOCOLS: Final = ("vcp", "tcp-rem")
COLOURS: Final = {"vcp": "blue", "tcp-rem": "orange"}


def _varied(key: str) -> Mapping[str, tuple[Variant, Sequence[str]]]:
    """Return the variants of an item with the transports that they change."""
    both: tuple[Variant, Sequence[str]] = (AS_CHOSEN, PROTOCOLS)
    if key == "advantage":
        return {"": both, **{name: (each, PROTOCOLS) for name, each in PRIORITY.items()}}
    return {"": both, **{name: (each, OF_PROTOCOL[name]) for name, each in SENSITIVITY.items()}}


def _case(setting: str, protocol: str, variant: str) -> Case:
    return Case(protocol, *SETTINGS[setting], variant)


def _cells(key: str) -> list[Cell]:
    return [
        _case(setting, protocol, name)
        for setting in SETTINGS
        for name, (_variant, protocols) in _varied(key).items()
        for protocol in protocols
    ]


def _rows(session: Session, key: str) -> list[Row]:
    rows = []
    for cell in _cells(key):
        case = Case(*cell)
        place: dict[str, int | float | str] = {
            "antennas": case.antennas,
            "code_rate": case.code_rate,
            "protocol": case.protocol,
            "snr_db": case.snr_db,
            "variant": case.variant or "as-chosen",
        }
        rows += [each.row(session, case, place) for each in (DELIVERED, QUEUE_PACKETS)]
    return [row for row in rows if row.ours is not None]


def _against(session: Session, setting: str, name: str, protocols: Sequence[str]) -> str:
    """Return VCP's lead over TCP/REM, the one that is not changed as chosen."""
    found = [
        DELIVERED.estimate(session, _case(setting, each, name if each in protocols else ""))
        for each in PROTOCOLS
    ]
    if found[0] is None or found[1] is None or found[1].mean == 0:
        return ""
    return f"{100 * (found[0].mean / found[1].mean - 1):+.1f}"


def _table(session: Session, key: str, setting: str) -> Table:
    lines = []
    for name, (variant, protocols) in _varied(key).items():
        texts = [
            each.text(session, _case(setting, protocol, name)) if protocol in protocols else ""
            for protocol in PROTOCOLS
            for each in (DELIVERED, QUEUE_PACKETS)
        ]
        lead = _against(session, setting, name, protocols)
        lines.append([variant.about, *texts, lead])
    columns = [("", "changed")]
    columns += [(NAMES[each], name) for each in PROTOCOLS for name in ("delivered", "mean queue")]
    columns.append(("", "lead, %"))
    notes = [
        "Both directions, last 10 s. The lead is VCP's over TCP/REM, each changed if it can be."
    ]
    return Table(setting, columns, lines, notes)


def _evaluate(key: str) -> Evaluate:
    def evaluate(session: Session, out: Path | None) -> ItemResult:
        title, cells = titles(DIRECTORY)[key], _cells(key)
        tables = [_table(session, key, setting) for setting in SETTINGS]
        complete, figures = session.complete(cells), []
        if out is not None and complete:
            figures = session.draw(
                lambda: _draw(session, key, title), out, f"vcp-{key}", title, session.about
            )
        return ItemResult(key, title, _rows(session, key), tables, figures, complete=complete)

    return evaluate


def _draw(session: Session, key: str, title: str) -> Figure:
    from matplotlib.ticker import MultipleLocator

    varied = _varied(key)
    figure = plotting.new_figure(10.4, 2.0 + 0.32 * len(varied))
    panels: Any = figure.subplots(1, len(SETTINGS), sharey=True)
    names = list(varied)
    for axes, setting in zip(panels, SETTINGS, strict=True):
        for protocol in PROTOCOLS:
            here = [n for n in names if protocol in varied[n][1]]
            found = [DELIVERED.estimate(session, _case(setting, protocol, n)) for n in here]
            known = [each for each in found if each is not None]
            look: dict[str, Any] = {
                "color": plotting.COLOURS[COLOURS[protocol]],
                "marker": "o",
                "linestyle": "",
                "label": NAMES[protocol],
                "xerr": [each.error_bar for each in known],
                "capsize": 2,
            }
            axes.errorbar([each.mean for each in known], [names.index(n) for n in here], **look)
        axes.set(title=f"2x2, {setting}", xlabel="delivered packets")
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MultipleLocator(5000))
    panels[0].set_yticks(range(len(names)), [variant.about for variant, _of in varied.values()])
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    plotting.heading(figure, title, about(session, key, _cells(key)))
    return figure


CHANGED: Final[Mapping[str, tuple[Sequence[Cell], Evaluate]]] = {
    key: (_cells(key), _evaluate(key)) for key in ("advantage", "sensitivity")
}
"""Cells and evaluation of each item."""

"""Error-rate tables: reading, writing, and interpolation between points."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from typing_extensions import Unpack

from airpath import _airpath
from airpath.arguments import check_all, error_prefix, fraction, path_like, quantity, whole
from airpath.errors import BadValueError, show
from airpath.files import UnreadableError, read_text, write_file
from airpath.present import html
from airpath.present.drawing import FigureOptions, drawing
from airpath.present.tables import Table
from airpath.scenario.tables import LARGEST, PREFIX, shipped_tables, table_path
from airpath.scenario.units import Size

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "CONFIDENCE",
    "PACKET",
    "IncompleteTableWarning",
    "OutsideTableWarning",
    "PerTable",
    "load",
    "rates",
    "shipped",
]

PACKET = Size(1500)
CONFIDENCE = 0.95


class OutsideTableWarning(UserWarning):
    """Warning about an SNR outside the measured range of a table."""


class IncompleteTableWarning(UserWarning):
    """Warning about a table in which points are still missing."""


class PerTable:
    """Error rates of blocks and packets for each MCS and signal-to-noise ratio.

    `airpath.phy.load` and `airpath.phy.measure` create tables. Between two points, ln FER is
    interpolated linearly in dB. If the last points of a curve have no errors, FER is 0 from the
    first of these points on.

    Parameters
    ----------
    document : mapping
        Content of the table's file.
    name : str
        Name of the table in messages and titles.
    """

    interrupted: bool = False
    """True if Ctrl-C ended the measurement early."""
    kept: int = 0
    """Number of points that were taken from an earlier run."""

    def __init__(self, document: Mapping[str, Any], name: str) -> None:
        self.document = document
        self.name = name

    @property
    def channel(self) -> str:
        """Name of the channel."""
        return str(self.document["channel"])

    @property
    def mcss(self) -> list[str]:
        """Names of the MCSs."""
        return [curve["mcs"]["name"] for curve in self.document["curves"]]

    @property
    def count(self) -> int:
        """Number of points."""
        return sum(len(curve["points"]) for curve in self.document["curves"])

    @property
    def complete(self) -> bool:
        """True if all requested points are measured."""
        return bool(self.document.get("complete", True))

    @property
    def snr_range_db(self) -> tuple[float, float]:
        """Lowest and highest measured SNR, dB."""
        return self._compiled.snr_range_db

    @overload
    def fer(self, mcs: str | int, snr_db: float) -> float: ...
    @overload
    def fer(self, mcs: str | int, snr_db: ArrayLike) -> float | NDArray[np.float64]: ...
    def fer(self, mcs: str | int, snr_db: ArrayLike) -> float | NDArray[np.float64]:
        """Return the frame error rate: the share of blocks in error.

        Parameters
        ----------
        mcs : str or int
            Name of the scheme, its label, or its index in the table, from 0.
        snr_db : float or array_like
            Mean Es/N0, dB. Any finite value; outside the points of the curve, the value of the
            nearest point is returned, with an `OutsideTableWarning`.

        Returns
        -------
        fer : float or ndarray
            Frame error rates, in [0, 1], in the shape of `snr_db`.

        Raises
        ------
        BadValueError
            If the scheme does not exist, or a value is not finite.
        """
        curve, values = self._curve_and_snrs(mcs, snr_db)
        return _shaped(self._compiled.fer(curve, values.ravel().tolist()), values)

    @overload
    def per(self, mcs: str | int, snr_db: float, packet: str | int | Size = PACKET) -> float: ...
    @overload
    def per(
        self, mcs: str | int, snr_db: ArrayLike, packet: str | int | Size = PACKET
    ) -> float | NDArray[np.float64]: ...
    def per(
        self, mcs: str | int, snr_db: ArrayLike, packet: str | int | Size = PACKET
    ) -> float | NDArray[np.float64]:
        """Return the packet error rate 1 − (1 − FER)^n for packets of n blocks.

        Parameters
        ----------
        mcs : str or int
            Name of the scheme, its label, or its index in the table, from 0.
        snr_db : float or array_like
            Mean Es/N0, dB; see `fer`.
        packet : str, int or Size
            Size of the packet, ``"1500 B"``; an int in bytes.

        Returns
        -------
        per : float or ndarray
            Packet error rates, in [0, 1], in the shape of `snr_db`.

        Raises
        ------
        BadValueError
            If the scheme does not exist, or a value is not accepted.
        """
        curve, values = self._curve_and_snrs(mcs, snr_db)
        size = int(quantity("packet", Size, packet))
        return _shaped(self._compiled.per(curve, values.ravel().tolist(), size), values)

    def points(
        self, packet: str | int | Size = PACKET, confidence: float = CONFIDENCE
    ) -> pd.DataFrame:
        """Return the counts and the error rates, with Wilson intervals, of each point.

        Parameters
        ----------
        packet : str, int or Size
            Size of the packet, ``"1500 B"``; an int in bytes.
        confidence : float
            Confidence level of the intervals, in (0, 1). Default 0.95.

        Returns
        -------
        points : DataFrame
            Columns `mcs`, `snr_db`, `errors`, `blocks`, `fer`, `fer_low`, `fer_high`, `per`,
            `per_low`, `per_high`.
        """
        import pandas as pd

        check_all(fraction("confidence", confidence))
        size = quantity("packet", Size, packet)
        rows = []
        for curve in self.document["curves"]:
            for point in curve["points"]:
                row = {"mcs": curve["mcs"]["name"]}
                row |= {key: point[key] for key in ("snr_db", "errors", "blocks")}
                for name, rate in rates(curve["mcs"], point, size, confidence).items():
                    names = (name, f"{name}_low", f"{name}_high")
                    row |= dict(zip(names, rate, strict=True))
                rows.append(row)
        return pd.DataFrame(rows)

    @drawing
    def plot(self, packet: str | int | Size = PACKET, **_options: Unpack[FigureOptions]) -> Figure:
        """Plot the error-rate curves with their confidence intervals.

        The other arguments are documented in `Plot`.
        """
        from airpath.phy.figure import per_figure

        return per_figure(self, quantity("packet", Size, packet))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file."""
        check_all(path_like("path", path))
        write_file(Path(path), as_text(self.document).encode())

    def __getstate__(self) -> dict[str, Any]:
        # The engine's object is not pickled; it is created again from the document.
        return {key: value for key, value in vars(self).items() if key != "_compiled"}

    def _repr_html_(self) -> str:
        points = self.points()
        rows = [
            [
                str(mcs),
                str(len(part)),
                f"{part['snr_db'].min():g} … {part['snr_db'].max():g}",
                str(int(part["blocks"].sum())),
                f"{part['per'].max():.3g} … {part['per'].min():.3g}",
            ]
            for mcs, part in points.groupby("mcs", sort=False)
        ]
        columns = ["scheme", "points", "SNR, dB", "blocks", f"error rate of {PACKET}"]
        return html.heading(f"{self.name}: {self.channel}") + html.table(Table("", columns, rows))

    def __repr__(self) -> str:
        size = f"{len(self.mcss)} schemes, {self.count} points"
        return f"<PerTable {self.name}: {self.channel}, {size}>"

    @cached_property
    def _compiled(self) -> _airpath.PerTable:
        try:
            return _airpath.PerTable.from_json(json.dumps(self.document))
        except ValueError as error:
            raise BadValueError(f"{self.name}: {error}.") from None

    def _curve_and_snrs(self, mcs: str | int, snr_db: ArrayLike) -> tuple[int, NDArray[np.float64]]:
        compiled, curve = self._compiled, self._place(mcs)
        try:
            values = np.asarray(snr_db, dtype=float)
        except (TypeError, ValueError, OverflowError):
            values = np.asarray(np.nan)
        if not np.isfinite(values).all():
            raise BadValueError(f"{error_prefix('snr_db', snr_db)}: not finite. Use numbers of dB.")
        if not compiled.covers(curve, values.ravel().tolist()):
            last = self.document["curves"][curve]["points"][-1]
            low, high = compiled.snr_range_db
            measured = high if last["errors"] == 0 else last["snr_db"]
            first = self.document["curves"][curve]["points"][0]["snr_db"]
            warnings.warn(
                f"{self.name}: {self.mcss[curve]} was measured from {max(low, first):g} to "
                f"{min(high, measured):g} dB; outside, the nearest point counts.",
                OutsideTableWarning,
                stacklevel=3,
            )
        return curve, values

    def _place(self, mcs: str | int) -> int:
        if isinstance(mcs, str):
            # The label of an MCS may be the name of another MCS, so check names first.
            for key in ("name", "label"):
                for place, curve in enumerate(self.document["curves"]):
                    if curve["mcs"].get(key) == mcs:
                        return place
        elif whole("mcs", mcs, 0, len(self.mcss) - 1, "") is None:
            return int(mcs)
        raise BadValueError(
            f"{error_prefix('mcs', mcs)}: not in {self.name}. "
            f"Expected one of: {', '.join(self.mcss)}."
        )


def _shaped(found: Sequence[float], like: NDArray[np.float64]) -> float | NDArray[np.float64]:
    return np.reshape(found, like.shape) if like.shape else float(found[0])


def rates(
    mcs: Mapping[str, Any],
    point: Mapping[str, Any],
    packet: Size,
    confidence: float = CONFIDENCE,
) -> dict[str, tuple[float, float, float]]:
    """Return FER and PER of a point, each with the ends of its Wilson interval."""
    errors, blocks = point["errors"], point["blocks"]
    deviations = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = _airpath.wilson_interval(errors, blocks, deviations)
    fer = (errors / blocks, low, high)
    of_packet = -(-int(packet) // mcs["block_bytes"])
    low, mean, high = (_packet_error_rate(rate, of_packet) for rate in (low, fer[0], high))
    return {"fer": fer, "per": (mean, low, high)}


def _packet_error_rate(fer: float, blocks: int) -> float:
    return float(-np.expm1(blocks * np.log1p(-fer))) if fer < 1 else 1.0


# --- files -------------------------------------------------------------------------------------


def shipped() -> dict[str, str]:
    """Map the name of each table that comes with Airpath to a description."""
    found = {}
    for name in shipped_tables():
        about = json.loads(table_path(name).read_text("utf-8"))
        low, high = about["snr_range_db"]
        found[name.removeprefix(PREFIX)] = (
            f"{about['channel']}: {len(about['curves'])} schemes of IEEE 802.16, "
            f"{low:g} to {high:g} dB"
        )
    return found


def load(table: str | os.PathLike[str]) -> PerTable:
    """Read an error-rate table.

    Parameters
    ----------
    table : str or path
        Name of a shipped table, with or without the prefix ``airpath:``, or path of a file.

    Raises
    ------
    BadValueError
        If the table does not exist or is not valid. The message is one line with the file, the
        field, the value and the problem.
    """
    check_all(path_like("table", table))
    name = os.fspath(table)
    plain = name.removeprefix(PREFIX)
    is_shipped = PREFIX + plain in shipped_tables()
    path = table_path(PREFIX + plain) if is_shipped else Path(name)
    if name.startswith(PREFIX) and not is_shipped:
        raise BadValueError(f"table = {show(name)}: not shipped. Expected one of: {_listed()}.")
    try:
        text = read_text(path, LARGEST)
    except UnreadableError as error:
        raise BadValueError(
            f'table = "{name}": {error.why}. Use the path of a file, or one of {_listed()}.'
        ) from None
    read = parse(text, plain)
    if not read.complete:
        warnings.warn(
            f"{plain}: points are missing; its measurement was not finished.",
            IncompleteTableWarning,
            stacklevel=2,
        )
    return read


def parse(text: str, name: str) -> PerTable:
    """Parse the text of a table's file.

    Raises
    ------
    BadValueError
        If the text is not a valid table.
    """
    try:
        compiled = _airpath.PerTable.from_json(text)
    except ValueError as error:
        raise BadValueError(f"{name}: {error}.") from None
    table = PerTable(json.loads(text), name)
    table.__dict__["_compiled"] = compiled
    return table


def _listed() -> str:
    return ", ".join(shipped_tables())


def as_text(document: Mapping[str, Any]) -> str:
    """Return the text of a table's file, with one point per line."""
    lines = []
    for key, value in document.items():
        if key != "curves":
            lines.append(f"{_json(key)}: {_json(value)}")
    curves = []
    for curve in document["curves"]:
        points = ",\n".join(f"    {_json(point)}" for point in curve["points"])
        curves.append(f'  {{"mcs": {_json(curve["mcs"])}, "points": [\n{points}\n  ]}}')
    inner = ",\n".join(curves)
    lines.append(f'"curves": [\n{inner}\n]' if curves else '"curves": []')
    return "{" + ",\n".join(lines) + "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)

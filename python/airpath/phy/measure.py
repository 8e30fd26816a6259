"""Measurement of error-rate tables. Finished points are stored and not measured again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from airpath import _airpath
from airpath.arguments import check_all, error_prefix, path_like, worker_threads
from airpath.errors import BadValueError, show
from airpath.files import not_left_empty, output_directory, output_file, read_text, write_file
from airpath.phy.settings import MeasurementSettings, components
from airpath.phy.tables import PACKET, PerTable, as_text, parse, rates
from airpath.present.progress import Auto, ProgressCallback, progress_line, reporting_to
from airpath.scenario.tables import LARGEST

__all__ = ["FILE_NAME", "measure", "measure_with", "table_file"]

FILE_NAME = "per.json"
"""Name of the file of a table if the output path is a directory."""


def measure(
    channel: str,
    snr_db: str | float | Sequence[float],
    mcs: str | int | Sequence[str | int] = "all",
    *,
    mapping: str = "random",
    errors: float = 400,
    blocks: float = 10_000_000,
    iterations: int = 10,
    algorithm: str = "max-log",
    demapper: str = "max-log",
    skip_rule: bool = False,
    stop_at_zero_errors: bool = False,
    seed: int = 1,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | Auto | None = "auto",
) -> PerTable:
    """Measure error rates by sending random blocks through encoder, channel and decoder.

    The measured counts depend only on the arguments up to `seed`. They do not depend on the number
    of threads or on interruptions.

    Parameters
    ----------
    channel : str
        ``awgn``, ``vehicular-a``, ...: see ``airpath list fading``.
    snr_db : str, float or sequence of float
        Mean Es/N0, dB: values, or a text like ``"14:40:2"`` or ``"10,12.5"``.
    mcs : str, int or sequence
        Indices, names (``mcs3``) or labels (``qpsk-1/2``) of MCSs. Default: all.
    mapping : str
        Mapping of the symbols of a block to subcarriers. Default ``random``.
    errors, blocks : int
        The measurement of a point ends at this number of errors or of blocks. Defaults 400 and 1e7.
    iterations : int
        Largest number of decoder iterations, from 1. Default 10.
    algorithm : str
        ``max-log`` or ``linear-log``. Default ``max-log``.
    demapper : str
        ``max-log`` or ``linear-log``. Default ``max-log``.
    skip_rule : bool
        True: as an approximation, blocks for which the channel has excess capacity count as correct
        without decoding. Requires ``vehicular-a`` and at least 10 iterations. Default False.
    stop_at_zero_errors : bool
        True: a curve ends with the first point without errors. Default False.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    threads : int, optional
        Number of worker threads, 1 to 10 000. Default: one per core.
    out : path, optional
        Output file if the path ends in ``.json``, else a directory for the file ``per.json``. The
        file is written after every finished point. Points that the file already contains are kept
        and not measured again.
    progress : callable, ``"auto"`` or None
        Function that is called with the finished fraction, in [0, 1], and a text with the current
        estimate. Default ``"auto"``: a progress bar in a notebook and in an interactive
        interpreter.

    Returns
    -------
    table : PerTable
        The measured table. After Ctrl-C, `interrupted` is true, and the table contains only the
        finished points.

    Raises
    ------
    BadValueError
        If a value is not accepted, or `out` contains points measured with other settings.
    """
    given = {key: value for key, value in locals().items() if key not in _NOT_SETTINGS}
    check_all(progress_line(progress))
    settings = MeasurementSettings.checked(given)
    with reporting_to(progress) as notify:
        return measure_with(settings, threads=threads, out=out, progress=notify)


_NOT_SETTINGS = ("threads", "out", "progress")


def measure_with(
    settings: MeasurementSettings,
    *,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | None = None,
    note: Callable[[str], None] = lambda _text: None,
) -> PerTable:
    """Measure error rates with validated settings; see `measure`.

    `note` is called with a text about points that are already stored.
    """
    check_all(worker_threads(threads))
    workers = _cores() if threads is None else threads
    file = None if out is None else table_file(out)
    with not_left_empty(None if file is None else file.parent):
        document = _new(settings)
        kept = 0
        if file is not None:
            output_directory(file.parent, "out")
            output_file(file)
            if file.exists():
                document = _earlier(file, settings)
                kept = sum(len(curve["points"]) for curve in document["curves"])
                rest = "; nothing is left to measure" if document["complete"] else ", and are kept"
                note(f"{file}: {kept} of {settings.count} points were finished before{rest}.")
        return _measured(_Run(settings, document, file), workers, progress, kept)


def table_file(out: str | os.PathLike[str], name: str = FILE_NAME) -> Path:
    """Return the path of the output file: `out` itself, or `name` in the directory `out`."""
    check_all(path_like("out", out))
    if not os.fspath(out):
        raise BadValueError(
            f"{error_prefix('out', out)}: not a file. Use NAME.json, or a directory."
        )
    path = Path(out)
    return path if path.suffix == ".json" else path / name


class _Run:
    """A measurement in progress."""

    def __init__(
        self, settings: MeasurementSettings, document: dict[str, Any], file: Path | None
    ) -> None:
        self.settings = settings
        self.document = document
        self.file = file
        self.points = {
            (curve["mcs"]["name"], point["snr_db"]): point
            for curve in document["curves"]
            for point in curve["points"]
        }

    def missing(self) -> Iterator[tuple[int, str, float]]:
        """Yield the remaining points, each with the number of points before it."""
        for row, mcs in enumerate(self.settings.mcs):
            for column, snr_db in enumerate(self.settings.snr_db):
                point = self.points.get((mcs, snr_db))
                if point is None:
                    yield row * len(self.settings.snr_db) + column, mcs, snr_db
                    point = self.points[mcs, snr_db]
                if self.settings.stop_at_zero_errors and point["errors"] == 0:
                    break

    def add(self, mcs: str, point: dict[str, Any]) -> None:
        self.points[mcs, point["snr_db"]] = point
        self.write()

    def write(self, complete: bool = False) -> None:
        curves = []
        for about in components().mcss:
            keys = [(about["name"], snr_db) for snr_db in self.settings.snr_db]
            points = [self.points[key] for key in keys if key in self.points]
            if points:
                curves.append({"mcs": dict(about), "points": points})
        self.document |= {"complete": complete, "curves": curves}
        if self.file is not None and curves:
            write_file(self.file, as_text(self.document).encode())


def _measured(run: _Run, threads: int, progress: ProgressCallback | None, kept: int) -> PerTable:
    settings = run.settings
    description = settings.description
    interrupted = False
    try:
        for before, mcs, snr_db in run.missing():
            notify = (
                None
                if progress is None
                else _point_progress(progress, settings, before, mcs, snr_db)
            )
            errors, blocks, iterations, skipped = _airpath.phy_measure(
                description, before, threads, notify
            )
            point = {"snr_db": snr_db, "errors": errors, "blocks": blocks, "iterations": iterations}
            run.add(mcs, {**point, "skipped": skipped} if settings.skip_rule else point)
        if not run.document["complete"]:
            run.write(complete=True)
    except KeyboardInterrupt:
        interrupted = True
        # The last finished point may not have been written yet.
        run.write(complete=next(run.missing(), None) is None)
    table = PerTable(run.document, str(run.file or settings.full_channel))
    table.interrupted = interrupted and not table.complete
    table.kept = kept
    return table


def _point_progress(
    progress: ProgressCallback, settings: MeasurementSettings, before: int, mcs: str, snr_db: float
) -> Callable[[int, int], None]:
    about = next(about for about in components().mcss if about["name"] == mcs)

    def notify(errors: int, blocks: int) -> None:
        part = min(1.0, max(errors / settings.errors, blocks / settings.blocks))
        text = f"{mcs}, {snr_db:g} dB"
        if blocks:
            fer, low, high = rates(about, {"errors": errors, "blocks": blocks}, PACKET)["fer"]
            text += f": FER {fer:.1e} ({low:.1e} to {high:.1e}), {errors} errors"
        progress((before + part) / settings.count, text)

    return notify


def _new(settings: MeasurementSettings) -> dict[str, Any]:
    return {
        "provenance": {
            "version": _airpath.version(),
            "commit": _airpath.commit(),
            "command": settings.command(),
            "seed": settings.seed,
        },
        "channel": settings.full_channel,
        "settings": settings.to_dict(),
        "snr_range_db": [settings.snr_db[0], settings.snr_db[-1]],
        "complete": False,
        "curves": [],
    }


def _earlier(file: Path, settings: MeasurementSettings) -> dict[str, Any]:
    """Read the table of an earlier run, and check that it has the same settings."""
    new = _new(settings)
    try:
        found: dict[str, Any] = dict(parse(read_text(file, LARGEST), str(file)).document)
        different = list(_differences(found, new))
        is_ours = different or _is_own_table(found, settings)
    except (BadValueError, KeyError, TypeError, AttributeError):
        is_ours = False
    if not is_ours:
        raise BadValueError(
            f"{file}: exists and is not an error-rate table of this command. Use another file name."
        )
    if different:
        raise BadValueError(
            f"{file}: exists with other settings: {'; '.join(different)}. Use the same ones, "
            "use another name, or remove it."
        )
    return found


def _is_own_table(found: Mapping[str, Any], settings: MeasurementSettings) -> bool:
    """Return whether a table was written by this command, according to its fields."""
    counts = ("iterations", "skipped") if settings.skip_rule else ("iterations",)
    return isinstance(found["complete"], bool) and all(
        curve["mcs"] in components().mcss
        and all(type(point[key]) is int and point[key] >= 0 for key in counts)
        for curve in found["curves"]
        for point in curve["points"]
    )


def _differences(found: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    def flat(document: Mapping[str, Any]) -> dict[str, Any]:
        about = document["provenance"]
        keys = {key: about[key] for key in ("version", "commit", "seed")}
        return {"channel": document["channel"], **document["settings"], **keys}

    there, wanted = flat(found), flat(new)
    for key in dict.fromkeys([*wanted, *there]):
        if there.get(key) != wanted.get(key):
            yield f"{key} {_shown(there.get(key))}, not {_shown(wanted.get(key))}"


def _shown(value: Any) -> str:
    return "not set" if value is None else value if isinstance(value, str) else show(value)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

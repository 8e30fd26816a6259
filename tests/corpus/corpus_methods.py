"""Invalid calls of methods from Python: of results, figures, traces, tables."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpus_case import Call
from corpus_python import NOT_TRIED, OBJECTS, called_with
from corpus_tables import GOOD, toml

import airpath as ap
from airpath.results.plot import Plot
from airpath.scenario import loads
from airpath.sweeps.plot import SweepPlot
from airpath.sweeps.series import write_series
from sweep_ledgers import plan_of, sweep_of


@functools.cache
def scenario() -> ap.Scenario:
    return loads(toml(GOOD))


@functools.cache
def result() -> ap.Result:
    """Return a result with everything that a method may require."""
    recorded = {"series": ["cwnd", "queue", "delivered", "sojourn"], "ss": True}
    recorded |= {"distributions": ["sojourn"], "delay_parts": True}
    flows = [*scenario().flows, *ap.flows(source="voice", base_rtt="40 ms")]
    made = scenario().replace({"record": {**recorded, "flow_monitor": True}, "flows": flows})
    return ap.simulate(made, reps=1)


@functools.cache
def comparison() -> ap.Comparison:
    return ap.compare(scenario(), engines=["simulate", "solve"], reps=1)


@functools.cache
def trace() -> ap.Trace:
    return ap.Trace.parse("1\n2\n3\n")


@functools.cache
def table() -> ap.phy.PerTable:
    return ap.phy.load("802.16-ctc-awgn")


@functools.cache
def chain() -> ap.phy.ErrorChain:
    return ap.phy.ErrorChain(0.1, 0.2, 0.0, 0.5)


@functools.cache
def code() -> ap.phy.ReedSolomon:
    return ap.phy.ReedSolomon(0.9)


@functools.cache
def sweep() -> ap.Sweep:
    """Return a sweep of four points, from a ledger in a separate directory."""
    made = tempfile.TemporaryDirectory()
    plan = plan_of({"cc": ["newreno", "cubic"], "n": [1, 2]}, ["goodput_bps", "mean_delay_s"])
    values = {"goodput_bps": 1e6, "mean_delay_s": 0.1}
    found = sweep_of(Path(made.name), plan, lambda *_: values, owns=made)
    recorded = {"queue": (bytes(8), bytes(4), bytes(4), bytes(8))}
    run = dataclasses.replace(found.replications(0)[0], series=recorded)
    write_series(Path(made.name) / "series", run)
    return found


OWNERS: dict[type, Callable[[], Any]] = {
    ap.Comparison: comparison,
    ap.Result: result,
    Plot: lambda: result().plot,
    ap.Sweep: sweep,
    SweepPlot: lambda: sweep().plot,
    ap.Scenario: scenario,
    ap.Trace: trace,
    ap.phy.ErrorChain: chain,
    ap.phy.PerTable: table,
    ap.phy.ReedSolomon: code,
}
"""Mapping from each class with methods for users to an object of this class."""

METHODS: dict[str, dict[str, Any]] = {
    "Comparison.figure": {},
    "Comparison.to_latex": {},
    "Comparison.save": {"directory": "new"},
    "Comparison.save_figure": {"directory": "new"},
    "ErrorChain.block_failure": {"b": 10, "correctable": 1},
    "ErrorChain.coded_failure": {"packet": 40, "code": code()},
    "ErrorChain.from_doppler": {
        "snr_db": 10, "threshold_db": 0, "doppler_hz": 100, "symbol_rate_hz": 1e6,
    },
    "ErrorChain.packet_failure": {"units": 8},
    "ErrorChain.received": {"t": 8},
    "ErrorChain.received_by_state": {"t": 8},
    "PerTable.fer": {"mcs": 0, "snr_db": 3.0},
    "PerTable.per": {"mcs": 0, "snr_db": 3.0},
    "PerTable.plot": {},
    "PerTable.points": {},
    "PerTable.save": {"path": "new.json"},
    "Plot.applications": {},
    "Plot.cwnd": {},
    "Plot.delay": {},
    "Plot.delay_parts": {},
    "Plot.delivered": {},
    "Plot.mac_delays": {},
    "Plot.distribution": {"quantity": "sojourn"},
    "Plot.mcs": {},
    "Plot.pmf": {},
    "Plot.queue": {},
    "Plot.regimes": {},
    "Plot.defaults": {},
    "Plot.save": {"directory": "new"},
    "Plot.snr": {},
    "Plot.timeline": {},
    "Plot.users": {},
    "ReedSolomon.blocks": {"packet": 40},
    "ReedSolomon.on_air": {"packet": 40},
    "Result.capacity": {},
    "Result.distribution": {"quantity": "sojourn"},
    "Result.flow_monitor_xml": {},
    "Result.intervals": {"name": "queues"},
    "Result.pmf": {},
    "Result.save": {"directory": "new"},
    "Result.series": {"name": "queue"},
    "Result.ss": {},
    "Result.summary": {"name": "queues"},
    "Result.table": {"name": "queues"},
    "Result.to_latex": {},
    "Scenario.model_copy": {},
    "Scenario.replace": {"key": {"duration": "2 s"}},
    "Scenario.to_toml": {},
    "Sweep.differences": {"axis": "cc", "metric": "goodput_bps", "base": "cubic"},
    "Sweep.distribution": {"quantity": "completion_time"},
    "Sweep.quantiles": {"quantity": "completion_time"},
    "Sweep.replications": {"point": 0},
    "Sweep.save": {"directory": "new", "figure_formats": None},
    "Sweep.series": {"point": 0, "name": "queue"},
    "Sweep.to_latex": {},
    "SweepPlot.distribution": {"quantity": "sojourn"},
    "SweepPlot.ecdf": {"metric": "goodput_bps"},
    "SweepPlot.forest": {"metric": "goodput_bps"},
    "SweepPlot.heatmap": {"metric": "goodput_bps"},
    "SweepPlot.lines": {"metric": "goodput_bps"},
    "SweepPlot.pareto": {},
    "SweepPlot.save": {"directory": "new"},
    "Trace.bin_rates": {"bin_ns": 10**6},
    "Trace.generate": {
        "duration": "1 s", "mean_snr": "10 dB", "bandwidth": "5 MHz", "cap": "20 Mbit/s",
        "speed": "1 m/s", "carrier": "2 GHz",
    },
    "Trace.load": {"path": "good.trace"},
    "Trace.parse": {"text": "1\n"},
    "Trace.rates": {},
    "Trace.to_csv": {},
}  # fmt: skip
"""Mapping from each method with arguments to valid values of its arguments."""

OF_NAMES = (
    *("Result.intervals", "Result.series", "Result.summary", "Result.table", "Result.to_latex"),
    *("Sweep.series", "Trace.parse"),
)
"""Methods whose argument `name` selects a table or series, and is not a label."""
OF_MODELS = {*("engine_form", "instead_of", "keys", "model_post_init", "model_rebuild", "resolved")}
"""Internal methods of the classes of a scenario."""

_TEXTS = {"a text", "a lone surrogate", "a text of control characters"}
_NUMBERS = {"an array", "a truth value", "far below its range", "a fraction below 0"}
FITTING: dict[str, set[str]] = {
    "legend": {"a truth value"},
    "Scenario.to_toml(relative_to)": _TEXTS,
    "Comparison.save(directory)": _TEXTS,
    "Comparison.save_figure(directory)": _TEXTS,
    "Trace.parse(name)": _TEXTS,
    "Trace.to_csv(provenance)": _TEXTS,
    "PerTable.save(path)": _TEXTS,
    "Plot.save(directory)": _TEXTS,
    "Result.save(directory)": _TEXTS,
    "Sweep.save(directory)": _TEXTS,
    # The jobs of this sweep are artificial.
    "Sweep.distribution(of)": _TEXTS,
    "Sweep.quantiles(of)": _TEXTS,
    "SweepPlot.distribution(of)": _TEXTS,
    **{
        f"{owner}.to_latex({argument})": _TEXTS
        for owner in ("Comparison", "Result", "Sweep")
        for argument in ("caption", "label")
    },
    "SweepPlot.save(directory)": _TEXTS,
    "PerTable.fer(snr_db)": _NUMBERS,
    "PerTable.per(snr_db)": _NUMBERS,
    **{
        f"{name}(title)": _TEXTS
        for name in METHODS
        if name in ("Comparison.figure", "PerTable.plot")
        or (name.startswith(("Plot.", "SweepPlot.")) and not name.endswith(".save"))
    },
}
"""Mapping from an argument to the kinds of `OBJECTS` that it accepts."""

OUTSIDE: dict[str, tuple[Any, ...]] = {
    "point": (-1, 4, "1", 0.0), "replication": (-1, 1, "1", 0.0), "mcs": (-1, 99, "mcs99", 0.0),
    "queue": ("bottlenck", ""), "bin_ns": (0, -1, 1.5),
    "formats": ("xlsx", "", [], ["csv", 5], 5), "figure_formats": ("gif", "", [], [5], 5),
    "window": ("1s", ("1 s",), ("2 s", "1 s"), ("90 h", "91 h"), ("a", "b"), (None, None)),
    "bin": ("0 s", "5 parsecs", -1), "packet": ("5", "5 parsecs", -1),
    "snr_db": ("house", float("nan"), [[1.0], [2.0, 3.0]]), "format": ("CSV", ""),
    "style": ("colum", {"font.famly": "serif"}, {"font.size": "x"}, ["column", 5]),
    "figsize": ((3.4,), (0.0, 2.0), (math.nan, 1.0), "34"), "ax": ([], [1]),
    "labels": ({"x": 1}, [("a", "b")]), "legend": (None, "no", 2),
    "compare_to": ("vegas", 3),
    "directory": ("", 3, "good.toml"), "update": ({"durations": 1}, {"duration": 3j}),
}  # fmt: skip
"""Mapping from the name of an argument to invalid values close to its accepted values."""


def public_methods() -> Iterator[tuple[str, Callable[..., Any], list[str]]]:
    """Yield every public method of Airpath with arguments: its name and their names."""
    for owner, made in OWNERS.items():
        for name, _ in inspect.getmembers(owner, callable):
            home = next(c for c in owner.__mro__ if name in vars(c))
            if (
                name.startswith("_")
                or name in OF_MODELS
                or not home.__module__.startswith("airpath")
            ):
                continue
            arguments = [
                argument.name
                for argument in inspect.signature(getattr(made(), name)).parameters.values()
                if argument.name not in (*NOT_TRIED, "deep", "raw")
                and argument.kind is not argument.VAR_POSITIONAL
            ]
            # `name` selects an object in queries, and is a label elsewhere.
            if f"{owner.__name__}.{name}" in OF_NAMES:
                arguments.append("name")
            if arguments:
                yield f"{owner.__name__}.{name}", getattr(made(), name), arguments


def methods() -> Iterator[Call]:
    """Yield calls of every method, with one invalid argument in each."""
    for name, method, arguments in public_methods():
        for argument in arguments:
            place = f"{name}({argument})"
            for kind, (value, _) in OBJECTS.items():
                if kind not in FITTING.get(place, FITTING.get(argument, set())):
                    yield Call(kind, place, called_with(method, METHODS[name], argument, value))
            for value in OUTSIDE.get(argument, ()):
                yield Call(
                    f"outside: {value!r}",
                    place,
                    called_with(method, METHODS[name], argument, functools.partial(_same, value)),
                )


def _same(value: Any) -> Any:
    return value


def attributes() -> Iterator[Call]:
    """Yield assignments to attributes of a scenario: all are rejected."""
    for name in ("durationn", "duration", "flow", "title_", "x"):
        yield Call("an assignment", f"Scenario.{name}", functools.partial(_set, name), name)
    yield Call("a deletion", "Scenario.duration", lambda: delattr(scenario(), "duration"))


def _set(name: str) -> None:
    setattr(scenario(), name, 3)

"""Invalid calls from Python: keys of every class, arguments of every function."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from corpus_case import Call
from corpus_faults import takes_of
from corpus_tables import Host

import airpath as ap
import airpath.phy
from airpath import reproduction
from airpath.results import mean_interval


class _Unwilling:
    """A value whose `repr` fails."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


OBJECTS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "an object": (object, set()),
    "an object that cannot be shown": (_Unwilling, set()),
    "a class": (lambda: int, set()),
    "a function": (lambda: len, set()),
    "a complex number": (lambda: 1j, set()),
    "bytes": (lambda: b"40 ms", set()),
    "a set": (lambda: {"house"}, set()),
    "a generator": (lambda: iter(["house"]), set()),
    "a date": (lambda: dt.date(2020, 1, 1), set()),
    "a time span": (lambda: dt.timedelta(seconds=1), set()),
    "an array": (lambda: np.ones(3), set()),
    "an array of texts": (lambda: np.array(["40 ms"]), set()),
    "no number": (lambda: float("nan"), set()),
    "numpy's no number": (lambda: np.float64("nan"), set()),
    "infinity": (lambda: float("inf"), set()),
    "a decimal that is no number": (lambda: decimal.Decimal("nan"), set()),
    "far below its range": (lambda: -(10**30), set()),
    "far above its range": (lambda: 10**400, set()),
    "a fraction below 0": (lambda: fractions.Fraction(-10**15, 3), set()),
    "a lone surrogate": (lambda: "\udcff", set()),
    "a text": (lambda: "house", {"text"}),
    "a text of control characters": (lambda: "\x00\x1b[2J", {"text"}),
    "a truth value": (lambda: True, {"truth"}),
    "a list of objects": (lambda: [object()], set()),
    "a table of objects": (lambda: {"nonsense": object()}, set()),
    "a table without texts as keys": (lambda: {1: 2}, set()),
}  # fmt: skip
"""Values that no key accepts, except those named."""


RANGE_OF_THE_LINK = {
    "link.AttemptErrors(snr=...)": {"far below its range", "a fraction below 0"},
}
"""Numbers that only the engine rejects, when a link has the table: without a link, the table
belongs to no component.
"""
ACCEPTED_WITHOUT_A_PATH = {"Capture(points=...)": {"a generator", "an array of texts"}}
"""Lists of texts that only a scenario rejects, because its path determines the valid texts."""


def constructors(host: Host) -> Iterator[Call]:
    """Yield calls of one class, with one invalid key in each."""
    good = {k: v for k, v in host.table.items() if k != getattr(host.model, "chosen_by", "")}
    names = {info.alias: name for name, info in host.model.model_fields.items() if info.alias}
    good = {names.get(key, key): value for key, value in good.items()}

    def made(**keys: Any) -> Callable[[], Any]:
        return lambda: host.model(**keys)

    for name, info in host.model.model_fields.items():
        if name == getattr(host.model, "chosen_by", None):
            continue
        place = f"{host.name}({name}=...)"
        for kind, (value, good_for) in OBJECTS.items():
            if kind in ACCEPTED_WITHOUT_A_PATH.get(place, ()):
                continue
            fits = takes_of(host, name, info) & good_for
            if not fits and kind not in RANGE_OF_THE_LINK.get(place, ()):
                yield Call(kind, place, made(**{**good, name: value()}), name)
        if info.is_required():
            rest = {key: value for key, value in good.items() if key != name}
            yield Call("a key that is missing", place, made(**rest), name)
            yield Call("None", place, made(**{**good, name: None}), name)
        near = f"{name}s"
        if near not in host.model.model_fields:
            yield Call("a key with a letter too many", place, made(**{**good, near: 1}), near)
    yield Call(
        "a value without its key", host.name, lambda: host.model("house"), host.model.public_name()
    )


# --- functions -----------------------------------------------------------------------------------

FUNCTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "simulate": (ap.simulate, {"scenario": "good.toml", "reps": 1}),
    "solve": (ap.solve, {"scenario": "good.toml"}),
    "compare": (
        ap.compare,
        {"scenario": "good.toml", "engines": "simulate,solve", "reps": 1},
    ),
    "emulate": (ap.emulate, {"scenario": "good.toml"}),
    "emulation.run_command": (ap.emulation.run_command, {"scenario": "good.toml", "argv": ["cat"]}),
    "check": (ap.check, {"scenario": "good.toml"}),
    "load": (ap.load, {"path": "good.toml"}),
    "Trace.load": (ap.Trace.load, {"path": "good.trace"}),
    "phy.load": (ap.phy.load, {"table": "802.16-ctc-awgn"}),
    "phy.measure": (ap.phy.measure, {"channel": "awgn", "snr_db": 2, "mcs": 0, "errors": 1}),
    "phy.cost231_hata_db": (
        ap.phy.cost231_hata_db,
        {
            "frequency_hz": 1.8e9, "distance_m": 1000, "base_height_m": 30, "mobile_height_m": 1.5,
        },
    ),
    "phy.link_budget_snr_db": (
        ap.phy.link_budget_snr_db,
        {
            "transmit_power_dbm": 43, "path_loss_db": 136, "bandwidth_hz": 9.2e6,
            "noise_figure_db": 7,
        },
    ),
    "phy.symbol_error_rate": (ap.phy.symbol_error_rate, {"snr_db": 10.0}),
    "phy.ErrorChain": (
        ap.phy.ErrorChain,
        {"p_good_to_bad": 0.1, "p_bad_to_good": 0.2, "error_good": 0.0, "error_bad": 0.5},
    ),
    "phy.mean_over_shadowing": (
        ap.phy.mean_over_shadowing,
        {"of": ap.phy.symbol_error_rate, "snr_db": 10, "deviation_db": 8},
    ),
    "phy.ReedSolomon": (ap.phy.ReedSolomon, {"code_rate": 0.9}),
    "flows": (ap.flows, {"count": 1}),
    "load_comparison": (ap.load_comparison, {"path": "missing"}),
    "load_result": (ap.load_result, {"directory": "missing"}),
    "load_sweep": (ap.load_sweep, {"path": "missing"}),
    "mean_interval": (mean_interval, {"values": [1.0, 2.0], "confidence": 0.9}),
    "reproduction.reproduce": (reproduction.reproduce, {"paper": "qawla", "items": ["table2"]}),
}  # fmt: skip
"""Mapping from each function for users to valid arguments."""

NOT_TRIED = {
    "accept_version", "bands", "capture_to", "command", "complementary", "effort", "engine",
    "figures", "name",
    "host_network", "keep_privileges", "progress",
    "provenance", "relative", "skip_rule", "stop_at_zero_errors",
}  # fmt: skip
"""Arguments that are called, displayed, or used as a truth value."""

_PATHS = {"a text", "a lone surrogate", "a text of control characters"}
_NUMBERS = (
    "frequency_hz", "distance_m", "base_height_m", "mobile_height_m", "transmit_power_dbm",
    "path_loss_db", "bandwidth_hz", "noise_figure_db", "transmit_gain_db", "receive_gain_db",
    "other_losses_db",
)  # fmt: skip
FITTING: dict[str, set[str]] = {
    "capture_replication": {"far above its range"},  # of a capture that is not made
    **{key: {"an array"} for key in _NUMBERS},
    "metropolitan": {"a truth value"},
    "mcs": {"a table without texts as keys"},
    "of": {"a class"},  # exception of a user function
    "out": _PATHS,
    "values": {"an array", "bytes", "a table without texts as keys"},
    "overrides": {"a set", "a generator"},
    "snr_db": {"an array", "a table without texts as keys"},
    "table": _PATHS,
}
"""Mapping from an argument to the kinds of `OBJECTS` that it accepts."""


def functions() -> Iterator[Call]:
    """Yield calls of every function, with one invalid argument in each."""
    for name, (function, good) in FUNCTIONS.items():
        for argument, about in inspect.signature(function).parameters.items():
            if argument in NOT_TRIED or about.kind is about.VAR_KEYWORD:
                continue
            for kind, (value, _) in OBJECTS.items():
                if kind not in FITTING.get(argument, set()):
                    yield Call(
                        kind,
                        f"{name}({argument}=...)",
                        called_with(function, good, argument, value),
                    )


def called_with(
    function: Callable[..., Any], good: dict[str, Any], argument: str, value: Callable[[], Any]
) -> Callable[[], Any]:
    return lambda: function(**{**good, argument: value()})

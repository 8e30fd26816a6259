"""Congestion controls that numba compiles: results, state, errors, threads, speed."""

from __future__ import annotations

import math
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.parts import Ack, CongestionControl, CongestionSetup, Loss
from airpath.scenario import part_files
from airpath.scenario.cc import Congestion

RENO = Path(__file__).with_name("reno_parts.py")
EXAMPLES = Path(ap.__file__).parent / "examples"


def dumbbell(cc: Any, **changed: Any) -> ap.Scenario:
    """Return a short scenario in which two flows with losses share a link of 10 Mbit/s."""
    bottleneck = ap.Bottleneck(
        aqm=ap.aqm.DropTail(limit="20 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
    )
    flows = ap.flows(2, cc=cc, base_rtt="40 ms", **changed)
    return ap.Scenario(flows=flows, bottleneck=bottleneck, duration="4 s")


def measured(scenario: ap.Scenario, reps: int = 2, threads: int = 1) -> Any:
    return ap.simulate(scenario, reps=reps, threads=threads).replications


# --- the same results as the built-in control -----------------------------------------------------


@pytest.fixture(scope="module")
def compiled_reno() -> dict[str, Any]:
    """Return the components of Reno for both recoveries, compiled once."""
    before = dict(part_files._registered)
    reno = runpy.run_path(str(RENO))["Reno"]
    found = {}
    for recovery in ("reno", "newreno"):
        cls = type("Compiled", (reno,), {"recovery": recovery, "__module__": __name__})
        found[recovery] = ap.congestion_control(f"{recovery}-compiled", compiled=True)(cls)
    part_files._registered.clear()
    part_files._registered.update(before)
    return found


@pytest.fixture
def reno(compiled_reno: dict[str, Any]) -> dict[str, Any]:
    """Register the compiled Reno for a test."""
    for recovery, component in compiled_reno.items():
        part_files._registered["congestion", f"{recovery}-compiled"] = (component, None)
    return compiled_reno


@pytest.mark.parametrize(
    "name",
    [
        "asymmetric-lte",
        "capture",
        "cell-newreno",
        "cross-traffic",
        "dumbbell-16",
        "leo",
        "lte-uplink-grants",
        "parking-lot",
        "synthetic-newreno-gred",
        "wimax-download",
    ],
)
@pytest.mark.parametrize("kind", ["reno", "newreno"])
def test_compiled_reno_equals_the_built_in_reno(reno: dict[str, Any], name: str, kind: str) -> None:
    scenario = ap.load(EXAMPLES / f"{name}.toml")
    is_tcp = [number for number, flow in enumerate(scenario.flows) if hasattr(flow, "cc")]

    def run(control: Any) -> Any:
        controls = {f"flows.{number}.cc": control for number in is_tcp}
        return measured(scenario.replace(controls), reps=1)

    assert run(kind) == run(reno[kind]())


def test_compiled_reno_equals_the_built_in_reno_with_ecn(reno: dict[str, Any]) -> None:
    changed = {"bottleneck.aqm": "red", "flows.0.tcp.ecn": "on", "bottleneck.aqm.ecn": True}
    ecn = dumbbell("reno").replace({**changed, "duration": "20 s"})
    runs = measured(ecn)
    assert runs == measured(ecn.replace("flows.0.cc", reno["reno"]()))
    assert runs[0]["flows"][0]["ecn_reductions"] > 5


def test_number_of_threads_changes_nothing(reno: dict[str, Any]) -> None:
    scenario = dumbbell(reno["reno"]())
    assert measured(scenario, reps=6, threads=3) == measured(scenario, reps=6, threads=1)


# --- state ----------------------------------------------------------------------------------------


def aimd(name: str = "aimd", *, compiled: bool = True, **changed: Any) -> type[Congestion]:
    """Return a control with parameters, state of all types, and default methods."""

    class Aimd(CongestionControl):
        increase: float = 1.0
        least: int = 2
        careful: bool = False
        acks = 0
        share = 0.0
        has_lost = False

        def start(self, setup: CongestionSetup) -> None:
            self.share = 0.5

        def on_ack(self, ack: Ack) -> None:
            if ack.growth is None:
                return
            self.acks += 1
            rtt = 0.0 if ack.rtt is None else ack.rtt
            slow = self.careful and rtt > 0.05
            if self.has_lost and not slow:
                self.cwnd += self.increase * ack.growth * self.mss / self.cwnd
            elif not self.has_lost:
                self.cwnd += ack.growth

        def on_loss(self, loss: Loss) -> None:
            self.has_lost = True
            self.ssthresh = self.cwnd = max(self.share * loss.flight, self.least * self.mss)

    for attribute, value in changed.items():
        setattr(Aimd, attribute, value)
    return ap.congestion_control(name, compiled=compiled)(Aimd)


def test_compiled_class_equals_the_same_class_in_the_interpreter() -> None:
    """Parameters, state of all types, optional fields of events, and the default methods."""
    here, compiled = aimd("here", compiled=False), aimd("compiled")
    for parameters in ({}, {"increase": 3, "least": 4, "careful": True}):
        lossy = dumbbell(here(**parameters)).replace("bottleneck.link.loss", 0.02)
        lossy = lossy.replace("duration", "30 s")
        runs = measured(lossy)
        assert runs == measured(lossy.replace("flows.0.cc", compiled(**parameters)))
        assert runs[0]["flows"][0]["timeouts"] > 0


# --- errors ---------------------------------------------------------------------------------------


def on_ack_that_divides(self: Any, ack: Ack) -> None:
    self.cwnd += ack.acked
    if self.cwnd > 40_000:
        raise LookupError("of the part")


@pytest.mark.parametrize("threads", [1, 2])
def test_exception_ends_the_run_with_its_cause(threads: int) -> None:
    hook = sys.unraisablehook
    part = aimd(on_ack=on_ack_that_divides)
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell(part()), reps=4, threads=threads)
    assert isinstance(caught.value.__cause__, LookupError)
    assert 'part "aimd", flow ' in str(caught.value)
    assert "/congestion: on_ack: LookupError: of the part (at " in str(caught.value)
    assert sys.unraisablehook is hook


def sets(name: str, value: float) -> Callable[[Any, Ack], None]:
    """Return a method that sets an attribute."""
    names: dict[str, Any] = {"value": value}
    exec(f"def on_ack(self, ack):\n    self.{name} = value\n", names)
    return names["on_ack"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("cwnd", math.nan, "cwnd = nan: not a number. Use"),
        ("cwnd", math.inf, "cwnd = inf: too large. Use"),
        ("cwnd", 1459.0, "cwnd = 1459.0: below one segment. Use"),
        ("ssthresh", -5.0, "ssthresh = -5.0: below 0. Use"),
        ("pacing_rate", 0.0, "pacing_rate = 0.0: below 1. Use"),
    ],
)
def test_value_outside_its_range_is_one_line(name: str, value: float, problem: str) -> None:
    part = aimd(on_ack=sets(name, value))
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell(part()), reps=1)
    assert f"/congestion: on_ack: {problem}" in str(caught.value)
    assert "\n" not in str(caught.value)


def start_with_a_fraction(self: Any, setup: CongestionSetup) -> None:
    self.acks = 0.5


def start_with_another_attribute(self: Any, setup: CongestionSetup) -> None:
    self.other = 1


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        (start_with_a_fraction, "TypeError: Aimd.acks = 0.5: not an integer, as in the class."),
        (start_with_another_attribute, "TypeError: Aimd.other: not part of the compiled state. "),
    ],
)
def test_state_has_the_types_of_the_class(start: Any, problem: str) -> None:
    part = aimd(start=start)
    with pytest.raises(ap.errors.RunError) as caught:
        measured(dumbbell(part()), reps=1)
    assert f"/congestion: start: {problem}" in str(caught.value)


def on_ack_with_an_unknown_attribute(self: Any, ack: Ack) -> None:
    self.acs += 1


def on_ack_that_calls_a_method(self: Any, ack: Ack) -> None:
    self.on_loss(ack)


def on_ack_with_an_unknown_field(self: Any, ack: Any) -> None:
    self.cwnd += ack.aked


def on_sent(self: Any, sent: Any) -> None: ...


@pytest.mark.parametrize(
    ("changed", "parts"),
    [
        (
            {"on_ack": on_ack_with_an_unknown_attribute},
            ["Aimd.acs: not part of the compiled state", "test_compiled.py, line "],
        ),
        ({"on_ack": on_ack_that_calls_a_method}, ["Aimd.on_loss: not part", "numba.njit"]),
        (
            {"on_ack": on_ack_with_an_unknown_field},
            ["Aimd.on_ack: cannot be compiled: ", "'aked'", "test_compiled.py", "line "],
        ),
        ({"on_sent": on_sent}, ["Aimd.on_sent: not available with compiled=True."]),
        ({"rate_samples": True}, ["Aimd.rate_samples = True: not available"]),
    ],
    ids=["attribute", "method", "field", "event", "rate samples"],
)
def test_class_that_cannot_be_compiled_is_rejected_when_it_is_defined(
    changed: dict[str, Any], parts: list[str]
) -> None:
    with pytest.raises(TypeError) as caught:
        aimd(**changed)
    for part in parts:
        assert part in str(caught.value)


def test_missing_numba_is_an_error_that_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['numba'] = None; import runpy, airpath as ap\n"
        f"reno = runpy.run_path({str(RENO)!r})['Reno']\n"
        "ap.congestion_control('x', compiled=True)(reno)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: compiled=True: requires numba, which is not installed. "
        'Install it: pip install "airpath[numba]".'
    )


def test_part_that_inherits_the_default_methods_does_not_compile_them() -> None:
    class Least(CongestionControl):
        def on_ack(self, ack: Ack) -> None:
            self.cwnd += ack.acked

        def on_loss(self, loss: Loss) -> None:
            self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)

    part = ap.congestion_control("least", compiled=True)(Least)
    assert measured(dumbbell(part()), reps=1)[0]["packets"] > 1000

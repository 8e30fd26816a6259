"""Congestion controls in Python: results, parameters, files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from part_runs import dumbbell, measured

import airpath as ap
from airpath.parts import Ack, CongestionControl, CongestionSetup, Loss, Sent
from airpath.scenario.cc import Congestion
from airpath.scenario.part_files import load_part_file
from airpath.sweeps.job import job_of, run_job
from airpath.units import Duration

RENO = Path(__file__).with_name("reno_parts.py")
EXAMPLES = Path(ap.__file__).parent / "examples"


# --- the same results as the built-in controls ----------------------------------------------------


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
def test_reno_in_python_equals_the_built_in_reno(name: str, kind: str) -> None:
    """Traces, a cell, both directions, several hops, TDD, SACK, a changing path."""
    load_part_file(RENO)
    scenario = ap.load(EXAMPLES / f"{name}.toml")
    is_tcp = [number for number, flow in enumerate(scenario.flows) if hasattr(flow, "cc")]

    def run(control: str) -> Any:
        controls = {f"flows.{number}.cc": control for number in is_tcp}
        return measured(scenario.replace(controls), reps=1)

    assert run(kind) == run(f"{kind}-in-python")


def test_reno_in_python_equals_the_built_in_reno_with_ecn() -> None:
    load_part_file(RENO)
    changed = {"bottleneck.aqm": "red", "flows.0.tcp.ecn": "on", "bottleneck.aqm.ecn": True}
    ecn = dumbbell("reno").replace({**changed, "duration": "20 s"})
    runs = measured(ecn)
    assert runs == measured(ecn.replace("flows.0.cc", "reno-in-python"))
    assert runs[0]["flows"][0]["ecn_reductions"] > 5


@pytest.mark.parametrize("kind", ["reno", "cubic", "vegas", "westwood", "copa", "bbr", "bbr1"])
def test_part_that_forwards_to_a_built_in_control_changes_nothing(kind: str) -> None:
    inner = getattr(ap.cc, kind.capitalize() if kind != "bbr1" else "Bbr1")()
    description = ap.check(dumbbell(inner)).resolved.document["flows"][0]["source"]["congestion"]
    text = json.dumps(description)
    is_model = kind in ("bbr", "bbr1", "copa")

    class Forwarding(CongestionControl):
        recovery = inner.recovery
        every_ack = True
        rate_samples = is_model
        sets_window_in_recovery = is_model

        def start(self, setup: CongestionSetup) -> None:
            self.inner = setup.make(text)
            self.read()

        def read(self) -> None:
            self.cwnd, self.ssthresh = self.inner.cwnd, self.inner.ssthresh
            self.pacing_rate = self.inner.pacing_rate
            self.limits_itself = self.inner.limits_itself

        def forward(self, method: str, *arguments: Any) -> None:
            getattr(self.inner, method)(*arguments)
            self.read()

        def on_ack(self, ack: Ack) -> None:
            self.forward("on_ack", ack)

        def on_loss(self, loss: Loss) -> None:
            self.forward("on_loss", loss)

        def on_rto(self, loss: Loss) -> None:
            self.forward("on_rto", loss)

        def on_recovered(self, cwnd: int) -> None:
            self.forward("on_recovered", cwnd)

        def on_undo(self, undo: Any) -> None:
            self.forward("on_undo", undo)

        def on_idle(self, idle: Any) -> None:
            self.forward("on_idle", idle)

        def on_open(self, opening: Any) -> None:
            self.forward("on_open", opening)

        def on_segment_lost(self, segment: Any) -> None:
            self.forward("on_segment_lost", segment)

        def on_sent(self, sent: Sent) -> None:
            self.forward("on_sent", sent)

    ap.congestion_control("forwarding")(Forwarding)
    assert measured(dumbbell(inner)) == measured(dumbbell("forwarding"))


# --- theory ---------------------------------------------------------------------------------------


def test_constant_window_below_the_bdp_gives_the_window_per_rtt() -> None:
    @ap.congestion_control("constant")
    class Constant:
        segments: int = 10

        def start(self, setup: CongestionSetup) -> None:
            self.cwnd = self.segments * setup.mss

        def on_ack(self, ack: Ack) -> None: ...
        def on_loss(self, loss: Loss) -> None: ...

    flows = ap.flows(cc=Constant(segments=10), base_rtt="40 ms")
    bottleneck = ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="100 Mbit/s"))
    scenario = ap.Scenario(flows=flows, bottleneck=bottleneck, duration="5 s", warmup="1 s")
    (run,) = ap.simulate(scenario, reps=1).replications
    rtt_s = run["flows"][0]["mean_rtt_s"]
    # The serialization of a window of packets and the delayed ACKs add below 2 ms to 40 ms.
    assert 0.040 <= rtt_s <= 0.042
    assert run["flows"][0]["goodput_bps"] == pytest.approx(10 * 1460 * 8 / rtt_s, rel=0.02)


# --- parameters -----------------------------------------------------------------------------------


def an_aimd(name: str = "aimd") -> type[Congestion]:
    @ap.congestion_control(name)
    class Aimd:
        """Additive increase, multiplicative decrease."""

        increase: float = 1.0
        period: Duration = Duration.parse("10 ms")
        mode: Literal["fast", "slow"] = "fast"
        seen: ClassVar[dict[str, Any]] = {}

        def start(self, setup: CongestionSetup) -> None:
            self.seen.update(increase=self.increase, period=self.period, mode=self.mode)

        def on_ack(self, ack: Ack) -> None:
            self.cwnd += self.increase * ack.growth * self.mss / self.cwnd

        def on_loss(self, loss: Loss) -> None:
            self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)

    return Aimd


def test_parameters_have_the_types_of_the_class() -> None:
    aimd = an_aimd()
    measured(dumbbell(aimd(increase=2, period="3 ms", mode="slow")), reps=1)
    seen = aimd.factory.implementation.seen
    assert seen == {"increase": 2.0, "period": 3_000_000, "mode": "slow"}
    assert [type(value) for value in seen.values()] == [float, Duration, str]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("increase", "x", 'cc.increase = "x": not a number. Use a number, for example 1.'),
        ("period", 0, "cc.period = 0"),
        ("mode", "slo", 'cc.mode = "slo": not one of the accepted words. The nearest is slow'),
        ("increas", 2, "cc.increas = 2: unknown key. The nearest is increase"),
    ],
)
def test_parameters_are_checked(key: str, value: Any, message: str) -> None:
    an_aimd()
    if key == "period":
        value, message = "3 lightyears", 'cc.period = "3 lightyears": '
    with pytest.raises(ap.errors.ScenarioError) as caught:
        dumbbell({"kind": "aimd", key: value})
    assert message in str(caught.value)


def test_dataclass_keeps_its_constructor() -> None:
    @ap.congestion_control("made-once")
    @dataclass
    class MadeOnce:
        factor: float = 0.5
        losses: int = 0

        def __post_init__(self) -> None:
            self.kept = 2 * self.factor

        def on_ack(self, ack: Ack) -> None:
            self.cwnd += self.kept * ack.growth

        def on_loss(self, loss: Loss) -> None:
            self.ssthresh = self.cwnd = max(self.factor * loss.flight, 2 * self.mss)

    assert measured(dumbbell(MadeOnce(factor=0.7)), reps=1)[0]["packets"] > 1000


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda c: setattr(c, "on_los", c.on_loss), "Bad.on_los: not a method of this family"),
        (lambda c: setattr(c, "on_loss", lambda _self: None), "Bad.on_loss: wrong arguments"),
        (lambda c: setattr(c, "on_loss", None), "Bad: no method on_loss"),
        (lambda c: setattr(c, "every_ack", 1), "Bad.every_ack = 1: not a bool"),
        (lambda c: setattr(c, "recovery", "best"), "Bad.recovery = 'best': not accepted"),
        (lambda c: setattr(c, "ecn", True), "Bad.ecn = True: not accepted"),
        (lambda c: c.__annotations__.update(x=list[int]), "Bad.x: type list[int] is not accepted"),
    ],
    ids=["name", "arguments", "missing", "flag", "recovery", "ecn", "type"],
)
def test_wrong_class_is_rejected_when_it_is_defined(
    define: Callable[[Any], None], message: str
) -> None:
    class Bad:
        x: float = 1.0

        def on_ack(self, ack: Ack) -> None: ...
        def on_loss(self, loss: Loss) -> None: ...

    define(Bad)
    with pytest.raises(TypeError) as caught:
        ap.congestion_control("bad")(Bad)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", ["reno", "Upper", "a b", "", "-", 3])
def test_wrong_name_is_rejected(name: Any) -> None:
    with pytest.raises(TypeError, match=r"^name "):
        an_aimd(name)


# --- files ----------------------------------------------------------------------------------------

SOURCE = """
import airpath as ap

@ap.congestion_control("from-file")
class FromFile:
    increase: float = 1.0

    def on_ack(self, ack):
        self.cwnd += self.increase * ack.growth * self.mss / self.cwnd

    def on_loss(self, loss):
        self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)
"""
SCENARIO = """
parts = ["mine.py"]
duration = "2 s"
bottleneck = {aqm = "droptail", link = {kind = "fixed", rate = "5 Mbit/s"}}
flows = [{cc = {kind = "from-file", increase = 2}, base_rtt = "40 ms"}]
"""


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    (tmp_path / "s.toml").write_text(SCENARIO)
    return tmp_path / "s.toml"


def airpath(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "airpath", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def test_scenario_file_names_its_parts(scenario_file: Path) -> None:
    scenario = ap.load(scenario_file)
    result = ap.simulate(scenario, reps=1)
    assert "from-file" in scenario.to_toml()
    (part,) = result.provenance["parts"].values()
    assert part["file"] == str(scenario_file.with_name("mine.py"))
    again = scenario.replace("flows.0.cc.increase", 2)
    assert ap.simulate(again, reps=1).replications == result.replications


def test_edited_file_replaces_its_parts(scenario_file: Path) -> None:
    before = measured(ap.load(scenario_file), reps=1)
    digest = ap.check(ap.load(scenario_file)).inputs.provenance()["parts"]
    scenario_file.with_name("mine.py").write_text(SOURCE.replace("ack.growth", "2 * ack.growth"))
    assert measured(ap.load(scenario_file), reps=1) != before
    assert ap.check(ap.load(scenario_file)).inputs.provenance()["parts"] != digest


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, 'parts.0 = "mine.py": cannot be read'),
        ("x = 1\n", 'parts.0 = "mine.py": contains no part. Decorate a class'),
        ("x = (\n", 'parts.0 = "mine.py": line 1: SyntaxError'),
        ("\nx = 1 / 0\n", 'parts.0 = "mine.py": line 2: ZeroDivisionError: division by zero'),
    ],
)
def test_file_without_parts_is_one_line(
    scenario_file: Path, source: str | None, message: str
) -> None:
    part = scenario_file.with_name("mine.py")
    part.unlink() if source is None else part.write_text(source)
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.load(scenario_file)
    assert message in str(caught.value)


def test_option_names_a_file_with_parts(scenario_file: Path) -> None:
    without = scenario_file.with_name("without.toml")
    without.write_text(SCENARIO.replace('parts = ["mine.py"]', ""))
    assert airpath("check", "without.toml", cwd=without.parent).returncode == 2
    done = airpath("run", "without.toml", "--parts", "mine.py", "--json", cwd=without.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["provenance"]["parts"]
    wrong = airpath("run", "without.toml", "--parts", "none.py", cwd=without.parent)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith('--parts: "none.py": cannot be read: no such file or directory.')


def goodputs(directory: Path) -> list[float]:
    done = airpath("sweep", "sweep.toml", "--out", "out", "--no-plot", "--json", cwd=directory)
    assert done.returncode == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    return [point["simulate"]["goodput_bps"]["mean"] for point in points]


def test_edited_file_makes_the_points_of_a_sweep_run_again(scenario_file: Path) -> None:
    """The digest of a run contains the text of the file."""
    directory = scenario_file.parent
    sweep = 'scenario = "s.toml"\nreps = 1\n[grid]\n"flows.0.cc.increase" = [1, 2]\n'
    (directory / "sweep.toml").write_text(sweep)
    first = goodputs(directory)
    assert goodputs(directory) == first
    (directory / "mine.py").write_text(SOURCE.replace("ack.growth", "2 * ack.growth"))
    changed = goodputs(directory)
    assert changed[0] == first[1]  # An increase of 1, doubled in the file.
    assert changed[1] != first[1]


def test_worker_process_receives_the_text_of_the_file(scenario_file: Path) -> None:
    scenario = ap.load(scenario_file)
    job, contents = job_of(scenario)
    here = measured(scenario, reps=1)[0]["events"]
    scenario_file.with_name("mine.py").unlink()
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        (run,) = pool.submit(run_job, job, contents, 1, 0, 1).result()
    assert run.measured()["events"] == here


def test_random_numbers_depend_on_seed_and_flow_only() -> None:
    seen: list[tuple[str, int, float]] = []

    @ap.congestion_control("random")
    class Drawing(CongestionControl):
        def start(self, setup: CongestionSetup) -> None:
            seen.append((setup.name, setup.replication, setup.rng.random()))

        def on_ack(self, ack: Ack) -> None: ...
        def on_loss(self, loss: Loss) -> None: ...

    measured(dumbbell("random"))
    first = sorted(seen)
    seen.clear()
    measured(dumbbell("random"))
    assert sorted(seen) == first
    assert len({number for _, _, number in first}) == 4

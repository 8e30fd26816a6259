"""Functions to emulate a scenario, to run a command on its path, and to check this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from airpath.arguments import (
    check_all,
    error_prefix,
    fraction,
    master_seed,
    path_like,
    quantity,
    replication_count,
    whole,
)
from airpath.emulation import document, process, reports
from airpath.emulation.kernel import Kernel, for_commands, for_flows
from airpath.emulation.running import run_once
from airpath.engine.estimate import refuse_too_much
from airpath.engine.prepared import PreparedScenario, Runnable, prepared
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import BadValueError, Interrupted, RunError
from airpath.execution import Stopwatch
from airpath.files import NewFile, output_directory
from airpath.present.progress import Auto, ProgressCallback, progress_line, reporting_to
from airpath.results.provenance import as_comment, provenance
from airpath.results.quantities import FLOW_QUANTITIES
from airpath.results.remarks import remarks
from airpath.results.result import Result
from airpath.results.stored import SIDES
from airpath.scenario.units import Duration

__all__ = ["REAL_TIME", "Listener", "check", "emulate", "emulate_with", "run_command"]

Listener = Callable[[int, Mapping[str, Any]], None]
"""Callback. Receives the index of a replication and an event of the emulation program."""

REAL_TIME = "emulating in real time"
"""Prefix of the progress text."""

_SHORTEST_S = 1e-9
_LONGEST_NS = 100 * 86_400 * 10**9
"""Largest time of the engine's clock: 100 days, ns."""


def emulate(
    scenario: Runnable,
    *,
    seed: int = 1,
    reps: int = 1,
    confidence: float = 0.99,
    capture_to: str | os.PathLike[str] | None = None,
    progress: ProgressCallback | Auto | None = "auto",
    command: str | None = None,
) -> Result:
    """Emulate a scenario: kernel TCP flows use the modelled path in real time.

    The emulation takes as long as the scenario's duration, and requires Linux. `emulation.check`
    lists the other requirements. The random numbers of the models depend only on the seed, but the
    kernel's timing differs between runs.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        The scenario to emulate, or the path of a scenario file.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    reps : int
        Number of independent replications, 1 to 1 000 000. They run one after the other.
        Confidence intervals need at least 2 replications. Default 1.
    confidence : float
        Confidence level of the intervals, above 0 and below 1. Default 0.99.
    capture_to : path, optional
        Directory for ``server.pcapng`` and ``client.pcapng``: packets captured at both ends of the
        path in the first replication. The directory is created if missing. Default: no capture.
    progress : callable, ``"auto"`` or None
        Called about five times per second with the finished fraction of all replications, in
        [0, 1], and a line of text. Default ``"auto"``: a progress bar in a notebook and in an
        interactive interpreter.
    command : str, optional
        Command line to store in the provenance. Default: this call.

    Returns
    -------
    result : Result
        A result as from `simulate`; also has `validity_reports` and `kernel`. If `valid` is False,
        do not use the values of the result; `invalid` has the reasons.

    Raises
    ------
    BadValueError
        If a value is not accepted, or the scenario cannot be emulated.
    RunError
        If ``airpath-emu`` is not installed, or the run failed.
    Interrupted
        After Ctrl-C. `Interrupted` is a subclass of `KeyboardInterrupt`; its attribute `result`
        has the finished replications.
    """
    check_all(*_problems(seed, reps, confidence, capture_to), progress_line(progress))
    with reporting_to(progress) as notify:
        return emulate_with(
            scenario,
            seed=seed,
            reps=reps,
            confidence=confidence,
            capture_to=capture_to,
            listener=None if notify is None else _progress_of(notify, reps),
            command=command,
        )


def emulate_with(
    scenario: Runnable,
    *,
    seed: int,
    reps: int,
    confidence: float,
    capture_to: str | os.PathLike[str] | None = None,
    listener: Listener | None = None,
    command: str | None = None,
) -> Result:
    """Emulate a scenario as in `emulate`, and pass all events of ``airpath-emu`` to `listener`."""
    check_all(*_problems(seed, reps, confidence, capture_to))
    made = prepared(scenario)
    kernel = for_flows(made.scenario, made.resolved)
    refuse_too_much(made.place, made.resolved, reps)
    call = f"airpath.emulate(seed={seed}, reps={reps}, confidence={confidence})"
    about = _about(made, seed, reps, confidence, command or call)
    run = _Run(made, kernel, about)
    run.check()
    recorded = reports.Recorded()
    captures: dict[str, Path] = {}
    interrupted = False
    for number in range(reps):
        settings = document.EmulationSettings(
            seed,
            replication=number,
            comment=as_comment(about),
        )
        sides = SIDES if capture_to is not None and number == 0 else ()
        with run.once(settings, None, sides, _numbered(listener, number)) as (ended, report, files):
            if report.replication["measured_s"] >= _SHORTEST_S:
                recorded.reports.append(report)
                captures |= _kept(files, capture_to)
            interrupted = ended.interrupted
        if interrupted:
            break
    result = run.result(recorded, captures, reps, confidence, interrupted)
    if interrupted:
        raise Interrupted(result)
    return result


def run_command(
    scenario: Runnable,
    argv: Sequence[str],
    server: Sequence[str] | None = None,
    *,
    seed: int = 1,
    like: int = 0,
    duration: str | float | Duration | None = None,
    host_network: bool = False,
    keep_privileges: bool = False,
    capture_to: str | os.PathLike[str] | None = None,
    command: str | None = None,
) -> Result:
    """Run a command at the client's end of a scenario's path.

    The command controls the terminal. Its environment variables ``AIRPATH_SERVER`` and
    ``AIRPATH_CLIENT`` contain the IP addresses of the two ends. Its connections use the path of one
    of the scenario's flows.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        The scenario that defines the path; its flows do not run.
    argv : sequence of str
        Executable of the command, and its arguments.
    server : sequence of str, optional
        Executable at the server's end, and its arguments. Default: no server command.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    like : int
        Index of a flow, from 0. The command's packets use this flow's user, hops and wired
        delays. Default 0.
    duration : str, float or Duration, optional
        Time after the start at which the emulation and both commands end, above 0; a float is in
        seconds. Default: the emulation ends when `argv` ends.
    host_network : bool
        True to connect the server's end of the path to the host's network. Default False.
    keep_privileges : bool
        True if the commands keep the privileges of the caller. Default False.
    capture_to, command
        As in `emulate`.

    Returns
    -------
    result : Result
        Statistics of queues, links and connections. Also has `validity_reports`, `kernel` and
        `ended`; `ended` contains the command's exit `status`.

    Raises
    ------
    BadValueError, RunError
        As in `emulate`. `RunError` also if the command cannot be started.
    """
    made = prepared(scenario)
    last = len(made.resolved.flows) - 1
    check_all(
        _words("argv", argv),
        None if server is None else _words("server", server),
        master_seed(seed),
        whole("like", like, 0, last, f"Use the number of a flow, from 0 to {last}"),
        None if capture_to is None else path_like("capture_to", capture_to),
    )
    # The scenario's duration applies only to its flows, not to commands.
    until = _LONGEST_NS if duration is None else _duration_ns(duration)
    kernel = for_commands(made.scenario, made.resolved, like)
    made = replace(made, resolved=made.resolved.recorded(series=[], ss=False))
    call = f"airpath.emulation.run_command(seed={seed})"
    about = _about(made, seed, 1, 0.99, command or call)
    run = _Run(made, kernel, about)
    run.check()
    traffic = document.Commands(argv, server, like, until)
    settings = document.EmulationSettings(
        seed,
        comment=as_comment(about),
        host_network=host_network,
        keep_privileges=keep_privileges,
    )
    recorded = reports.Recorded()
    sides = () if capture_to is None else SIDES
    with run.once(settings, traffic, sides, _numbered(None, 0)) as (ended, report, files):
        captures = _kept(files, capture_to)
        recorded.reports.append(report)
    run.made = replace(made, resolved=_as_it_was(made.resolved, like, report))
    result = run.result(recorded, captures, 1, 0.99, False)
    result.ended = {
        "reason": ended.reason,
        "status": ended.status,
        "signal": ended.signal,
        "connections": report.connections,
        **(report.command or {}),
    }
    return result


def check() -> dict[str, Any]:
    """Return the capabilities of this machine, as ``airpath emulate --check`` prints them.

    Returns
    -------
    found : dict
        Findings of ``airpath-emu``. `ok` is True if emulation is possible.

    Raises
    ------
    RunError
        If ``airpath-emu`` is not installed, or the operating system is not Linux.
    """
    return process.check()


# --- one run ------------------------------------------------------------------------------------


class _Run:
    """State shared by all replications of a scenario."""

    def __init__(self, made: PreparedScenario, kernel: Kernel, about: dict[str, Any]) -> None:
        self.made = made
        self.kernel = kernel
        self.about = about
        self.watch = Stopwatch()

    def check(self) -> None:
        """Check that ``airpath-emu`` is installed, and that the models accept the scenario."""
        process.program()
        self.made.check()

    @contextmanager
    def once(
        self,
        settings: document.EmulationSettings,
        traffic: document.Commands | None,
        sides: Sequence[str],
        listener: process.Listener,
    ) -> Iterator[tuple[process.EmulationOutcome, reports.Report, Mapping[str, IO[bytes]]]]:
        """Run one replication; yield the outcome, the report, and a capture file per side."""
        inputs = self.made.inputs
        files = {
            key: {"role": inputs.roles[key], "text": text} for key, text in inputs.texts.items()
        }
        text = document.document_of(self.made.resolved, files, self.kernel, traffic, settings)
        series = [] if traffic else self.made.resolved.recording.series
        with run_once(text, listener, series=series, captures=sides) as found:
            yield found

    def result(
        self,
        recorded: reports.Recorded,
        captures: Mapping[str, Path],
        requested: int,
        confidence: float,
        interrupted: bool,
    ) -> Result:
        """Return the result of all runs."""
        runs = [report.replication for report in recorded.reports]
        noted = self.made.advisories
        if not any(report.command for report in recorded.reports):
            noted += remarks(self.made.resolved, runs, self.about.get("tables"))
        kernels = [report.kernel for report in recorded.reports]
        return Result(
            provenance=self.about,
            replications=runs,
            resolved=self.made.resolved,
            confidence=confidence,
            requested=requested,
            interrupted=interrupted,
            recorded=recorded.series,
            ss=recorded.ss,
            flow_monitor=recorded.flow_monitor,
            traces=self.made.inputs.traces,
            captures=captures,
            advisories=noted,
            validity_reports=[report.validity for report in recorded.reports],
            kernel={
                **reports.kernel_of(kernels),
                "settings": self.kernel.settings(),
                "not_applied": list(self.kernel.not_applied),
                "problems": reports.problems_of(recorded.reports),
            },
            execution=self.watch.execution(),
        )


def _as_it_was(resolved: ResolvedScenario, like: int, report: reports.Report) -> ResolvedScenario:
    """Return the scenario with the actual duration and one flow per connection of the commands."""
    rows = report.replication["flows"] = report.replication["flows"] or [dict(_NO_CONNECTION)]
    ran_ns = round(1e9 * report.replication["simulated_s"])
    measured_ns = round(1e9 * report.replication["measured_s"])
    ran = resolved.replace(duration_ns=ran_ns, warmup_ns=max(0, ran_ns - measured_ns))
    return ran.with_flows_like(like, len(rows)).recorded(series=[])


_NO_CONNECTION: Mapping[str, Any] = {
    "id": 0,
    "kind": "tcp",
    "start_s": None,
    **{name: None if name.endswith(("_s", "_share")) else 0 for name in FLOW_QUANTITIES},
    "lost_datagrams": None,
    "loss_ratio": None,
}
"""Placeholder row of statistics if the command opened no connection."""


def _numbered(listener: Listener | None, number: int) -> process.Listener:
    def listen(event: Mapping[str, Any]) -> None:
        if listener is not None:
            listener(number, event)

    return listen


def _progress_of(notify: ProgressCallback, reps: int) -> Listener:
    def listen(number: int, event: Mapping[str, Any]) -> None:
        at_s, until_s = event.get("at_s"), event.get("until_s")
        if at_s is not None and until_s:
            fraction = (number + min(at_s / until_s, 1.0)) / reps
            notify(fraction, f"{REAL_TIME}, replication {number + 1} of {reps}")

    return listen


def _kept(
    captures: Mapping[str, IO[bytes]], directory: str | os.PathLike[str] | None
) -> dict[str, Path]:
    """Copy captures to the output directory; return a mapping from each side to its file."""
    if directory is None:
        return {}
    place = output_directory(directory, "capture_to")
    kept = {}
    for side, capture in captures.items():
        file = NewFile(place / f"{side}.pcapng")
        capture.seek(0)
        try:
            with file.partial.open("wb") as copy:
                shutil.copyfileobj(capture, copy)
            file.keep()
        except OSError as error:
            raise RunError(f"{file.path}: cannot be written: {error}") from None
        finally:
            file.drop()
        kept[side] = file.path
    return kept


def _about(
    made: PreparedScenario, seed: int, reps: int, confidence: float, command: str
) -> dict[str, Any]:
    return provenance(
        made,
        engine="emulate",
        seed=seed,
        replications=reps,
        confidence=confidence,
        command=command,
    )


# --- arguments ----------------------------------------------------------------------------------


def _problems(seed: Any, reps: Any, confidence: Any, capture_to: Any) -> Iterator[str | None]:
    yield master_seed(seed)
    yield replication_count(reps)
    yield fraction("confidence", confidence)
    yield None if capture_to is None else path_like("capture_to", capture_to)


def _words(name: str, value: Any) -> str | None:
    fits = not isinstance(value, (str, bytes)) and isinstance(value, Sequence)
    texts = fits and all(isinstance(word, str) and "\0" not in word for word in value)
    if texts and value and value[0]:
        return None
    return f'{error_prefix(name, value)}: not a command. Use a list of words, for example ["ping"].'


def _duration_ns(duration: str | float | Duration) -> int:
    found = quantity("duration", Duration, duration)
    if found <= 0:
        raise BadValueError(f"{error_prefix('duration', duration)}: not above 0. Use one above 0.")
    if found > _LONGEST_NS:
        raise BadValueError(
            f"{error_prefix('duration', duration)}: more than 100 days. Use at most that."
        )
    return int(found)

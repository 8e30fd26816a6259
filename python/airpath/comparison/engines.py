"""Runs several engines on one scenario; an engine that fails does not stop the others."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import airpath
from airpath import api
from airpath.arguments import (
    check_all,
    error_prefix,
    fraction,
    master_seed,
    replication_count,
    worker_threads,
)
from airpath.comparison.answers import Answer
from airpath.comparison.facts import Fact
from airpath.comparison.kernel_settings import fact_of
from airpath.comparison.quantities import (
    ComparedQuantity,
    quantities,
    result_values,
    solution_values,
)
from airpath.comparison.result import Comparison
from airpath.engine.prepared import PreparedScenario, Runnable, prepared
from airpath.engine.resolved import ResolvedScenario
from airpath.errors import (
    AirpathError,
    BadValueError,
    ComparisonInterrupted,
    Interrupted,
    ModelWarning,
    RunError,
    one_line,
)
from airpath.present.progress import (
    Auto,
    ProgressCallback,
    progress_line,
    replication_progress,
    reporting_to,
)
from airpath.results.provenance import provenance
from airpath.scenario.base import nearest
from airpath.solutions import Solution

if TYPE_CHECKING:
    from airpath.results.result import Result

__all__ = ["ENGINES", "checked_engines", "compare"]

ENGINES = ("simulate", "emulate", "solve")
"""The engines, in their default order."""

_IN_TURN = ("solve", "simulate", "emulate")
"""Order of execution: fast engines first, so that an interruption loses little."""


def compare(
    scenario: Runnable,
    *,
    engines: str | Sequence[str] | None = None,
    reps: int = 5,
    seed: int = 1,
    threads: int | None = None,
    confidence: float = 0.99,
    progress: ProgressCallback | Auto | None = "auto",
    command: str | None = None,
) -> Comparison:
    """Compare the answers of several engines to the same scenario.

    If an engine does not cover the scenario, `refused` contains the reason, and the other engines
    continue.

    Parameters
    ----------
    scenario : Scenario, PreparedScenario or path
        The scenario, or the path of a scenario file.
    engines : str or sequence of str, optional
        At least two of ``simulate`` (packet by packet), ``emulate`` (the kernel's TCP in real time;
        each replication takes as long as the scenario's duration) and ``solve`` (the analytic
        model). A string with commas is also accepted. Differences are relative to the first engine
        that answers. Default: all engines that cover the scenario.
    reps : int
        Number of replications of the simulation and of the emulation, 1 to 1 000 000. Confidence
        intervals need at least 2 replications. Default 5.
    seed : int
        Master seed, 0 to 2^64 - 1. Default 1.
    threads : int, optional
        Number of worker threads of the simulation. Default: one for each core.
    confidence : float
        Confidence level of the intervals, above 0 and below 1. Default 0.99.
    progress : callable, ``"auto"`` or None
        Called repeatedly with the finished fraction of an engine's task, in [0, 1], and the name of
        the task. Default ``"auto"``: a bar in a notebook and in an interactive interpreter.
    command : str, optional
        Command line to store in the provenance. Default: this call.

    Returns
    -------
    comparison : Comparison
        The answers, their differences, and the facts that explain the differences.

    Raises
    ------
    BadValueError
        If a value or the scenario is not accepted, or if fewer than two engines cover the scenario.
        The message then has one line for each engine that does not cover it.
    RunError
        If runs failed and fewer than two engines have an answer.
    ComparisonInterrupted
        After Ctrl-C. It is a subclass of `KeyboardInterrupt`; its attribute `comparison` has the
        finished answers.
    """
    chosen = checked_engines(engines)
    check_all(
        replication_count(reps),
        master_seed(seed),
        worker_threads(threads),
        fraction("confidence", confidence),
        progress_line(progress),
    )
    made = prepared(scenario)
    resolved = made.resolved
    with reporting_to(progress) as notify:
        runner = _EngineRunner(made, reps, seed, threads, confidence, notify)
        for engine in _IN_TURN:
            if engine in chosen and not runner.interrupted:
                runner.run(engine)
    comparison = None
    answers = runner.answers(chosen, resolved)
    if len(answers) > 1:
        call = f"engines={chosen}, reps={reps}, seed={seed}, confidence={confidence}"
        about = provenance(
            made,
            engines=chosen,
            seed=seed,
            reps=reps,
            confidence=confidence,
            command=command or f"airpath.compare({call})",
        )
        tried = runner.tried(answers, resolved)
        comparison = Comparison(
            provenance=about,
            resolved=resolved,
            confidence=confidence,
            answers=answers,
            refused=runner.reasons(chosen),
            wanted=runner.wanted(resolved),
            interrupted=runner.interrupted,
            tried=tried,
        )
    if runner.interrupted:
        raise ComparisonInterrupted(comparison)
    if comparison is None:
        runner.refuse(chosen)
    return comparison


def checked_engines(engines: object) -> list[str]:
    """Return the distinct requested engines, in the given order.

    Parameters
    ----------
    engines : str, sequence of str or None
        Names of engines; a string contains names separated by commas. None: all engines.

    Raises
    ------
    BadValueError
        If an engine is unknown, or there are fewer than two.
    """
    if engines is None:
        return list(ENGINES)
    names: list[Any] = [engines]
    if isinstance(engines, str):
        names = engines.split(",")
    elif isinstance(engines, Iterable):
        names = list(engines)
    bad = [name for name in names if not isinstance(name, str) or name not in ENGINES]
    check_all(
        *(
            f"{error_prefix('engines', name)}: not an engine. "
            f"{nearest(name if isinstance(name, str) else '', ENGINES)}."
            for name in bad
        )
    )
    chosen = list(dict.fromkeys(names))
    if len(chosen) < 2:
        raise BadValueError(
            f"{error_prefix('engines', engines)}: nothing to compare. Use two or three of "
            f"{', '.join(ENGINES)}."
        )
    return chosen


class _EngineRunner:
    """Runs the engines one after the other, and stores their answers."""

    def __init__(
        self,
        made: PreparedScenario,
        reps: int,
        seed: int,
        threads: int | None,
        confidence: float,
        progress: ProgressCallback | None,
    ) -> None:
        self._made = made
        self._reps, self._seed, self._confidence = reps, seed, confidence
        self._threads, self._progress = threads, progress
        self.found: dict[str, Result | Solution] = {}
        self.refused: dict[str, Exception] = {}
        self.interrupted = False

    def run(self, engine: str) -> None:
        """Run an engine; store its answer, or the reason for its failure."""
        try:
            self.found[engine] = getattr(self, f"_{engine}")()
        except AirpathError as error:
            self.refused[engine] = error
        except Interrupted as stopped:
            self.interrupted = True
            if stopped.result.replications:
                self.found[engine] = stopped.result
        except KeyboardInterrupt:
            self.interrupted = True

    def _solve(self) -> Solution:
        with warnings.catch_warnings():
            # The warnings are reported as facts.
            warnings.simplefilter("ignore", ModelWarning)
            return api.solve(self._made)

    def _simulate(self) -> Result:
        return self._simulated(self._made)

    def _simulated(self, scenario: Runnable) -> Result:
        notify = self._progress
        return api.simulate(
            scenario,
            reps=self._reps,
            seed=self._seed,
            threads=self._threads,
            confidence=self._confidence,
            progress=None if notify is None else replication_progress(notify),
        )

    def _emulate(self) -> Result:
        emulate = getattr(airpath, "emulate", None)
        if emulate is None:
            raise BadValueError("this version of Airpath has no emulation.")
        found: Result = emulate(
            self._made,
            seed=self._seed,
            reps=self._reps,
            confidence=self._confidence,
            progress=self._progress,
        )
        return found

    def tried(self, answers: Mapping[str, Answer], resolved: ResolvedScenario) -> list[Fact]:
        """If the emulation differs, simulate with the kernel's settings; return the found facts."""
        simulated, emulated = answers.get("simulate"), answers.get("emulate")
        if self.interrupted or simulated is None or emulated is None or emulated.result is None:
            return []
        wanted = self.wanted(resolved)
        try:
            found = fact_of(
                self._made.scenario, emulated.result, simulated, wanted, self._simulated
            )
        except KeyboardInterrupt:
            self.interrupted = True
            return []
        return [] if found is None else [found]

    def wanted(self, resolved: ResolvedScenario) -> list[ComparedQuantity]:
        """Return the compared quantities."""
        results = [each for each in self.found.values() if not isinstance(each, Solution)]
        return quantities(resolved, results[0].replications if results else ())

    def answers(self, chosen: Sequence[str], resolved: ResolvedScenario) -> dict[str, Answer]:
        """Return the answers in the order in which the engines were named.

        A model that shares no quantity with another engine is rejected.
        """
        wanted, made = self.wanted(resolved), {}
        for name in chosen:
            found = self.found.get(name)
            if isinstance(found, Solution):
                values = solution_values(found, resolved, wanted)
                made[name] = Answer(name, None, found, values)
            elif found is not None:
                run_values = result_values(found, wanted)
                if run_values:
                    made[name] = Answer(
                        name, found, None, run_values, found.advisories, found.execution
                    )
        model = next((each for each in made.values() if each.solution is not None), None)
        if model is not None and len(made) > 1 and not _shares(model.engine, made):
            self.refused[model.engine] = BadValueError(_no_result_reason(model))
            del made[model.engine]
        return made

    def reasons(self, chosen: Sequence[str]) -> dict[str, str]:
        """Return a mapping from each engine without an answer to the reason, in one line."""
        refused = {name: self.refused[name] for name in chosen if name in self.refused}
        return {name: one_line(_first_reason(error)) for name, error in refused.items()}

    def refuse(self, chosen: Sequence[str]) -> NoReturn:
        """Raise the error that fewer than two engines have an answer."""
        lines = [f"{name}: {reason}" for name, reason in self.reasons(chosen).items()]
        left = [name for name in self.found if name not in self.refused]
        remaining = f"only {left[0]} is left" if left else "no engine is left"
        failed = any(isinstance(error, RunError) for error in self.refused.values())
        text = "\n".join([*lines, f"Nothing to compare: {remaining}."])
        raise (RunError if failed else BadValueError)(text)


def _shares(name: str, answers: Mapping[str, Answer]) -> bool:
    """Return whether an engine reports a quantity that another engine reports, too."""
    others = [answer.quantities.keys() for other, answer in answers.items() if other != name]
    return any(answers[name].quantities.keys() & values for values in others)


def _no_result_reason(answer: Answer) -> str:
    """Return the reason why a model's answer cannot be compared, including the model's reasons."""
    model = getattr(answer.solution, "model", "")
    reasons = getattr(answer.solution, "no_throughput", ())
    head = f"model {model} shares no quantity with another engine"
    return "\n".join([f"{head}: {reasons[0]}", *reasons[1:]] if reasons else [f"{head}."])


def _first_reason(error: Exception) -> str:
    """Return one line: the first reason in an error, and the number of other reasons."""
    first, *others = str(error).split("\n")
    if others:
        first += f" (and {len(others)} more)"
    return first

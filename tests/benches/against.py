"""Comparison of two commits on a noisy machine.

The load of a machine changes from minute to minute by more than most changes to the code, and slows
both commits. Therefore runs are paired: one of each commit, in random order. The ratio within each
pair is compared; the report has the median of the ratios with an interval from order statistics,
which assumes nothing about the distribution of the noise.
"""

from __future__ import annotations

import io
import math
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Run = TypeVar("Run")

ROOT = Path(__file__).parents[2]

#: Exists if the installed module of this tree has the profile `release`; the Makefile maintains it.
OPTIMISED = ROOT / ".venv" / ".stamp-module-release"

#: Seed of the order within pairs.
SEED = 1

#: Minimum coverage of an interval, if there are enough pairs (6 or more).
LEVEL = 0.95


class NotBuiltError(Exception):
    """The other commit does not exist or cannot be built; the message is one line with the
    reason.
    """


@dataclass(frozen=True)
class Interval:
    """The median of some values and a confidence interval for the median of their distribution.

    Parameters
    ----------
    median, low, high : float
        In the unit of the values; `low` and `high` are two of them.
    coverage : float
        The probability that such an interval contains the true median, in [0, 1).
    """

    median: float
    low: float
    high: float
    coverage: float

    def __str__(self) -> str:
        covers = f"{math.floor(100 * self.coverage)} %"
        return f"{self.median:.3f} ({self.low:.3f} to {self.high:.3f}, {covers})"


def median_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return the median of `values` with a confidence interval whose ends are two of them.

    The k-th smallest and the k-th largest of n values contain the median unless fewer than k values
    lie on one side of it, which has a binomial probability with p = 1/2 (Conover, Practical
    Nonparametric Statistics, section 3.2). k is the largest number that covers `level`; with fewer
    than 6 values it is 1, and the coverage is below 95 %.

    Parameters
    ----------
    values : sequence of float
        At least one.
    level : float
        In (0, 1).

    Raises
    ------
    ValueError
        If there are no values.
    """
    if not values:
        raise ValueError("no values")
    ordered, count = sorted(values), len(values)
    rank, outside, coverage = 0, 0.0, 0.0
    while True:
        outside += 2 * math.comb(count, rank) / 2**count
        if rank > 0 and 1 - outside < level:
            break
        rank, coverage = rank + 1, max(1 - outside, 0.0)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return Interval(middle, ordered[rank - 1], ordered[count - rank], coverage)


def turns(pairs: int, seed: int = SEED) -> list[bool]:
    """Return, for each pair, True if the other commit runs first: half of the pairs, at random."""
    order = [number % 2 == 1 for number in range(pairs)]
    random.Random(seed).shuffle(order)
    return order


def run_pairs(
    this: Callable[[], Run], other: Callable[[], Run], pairs: int
) -> list[tuple[Run, Run]]:
    """Run both commits alternately. Each returned pair has the result of `this` first, regardless
    of the order of the runs.
    """
    found = []
    for other_is_first in turns(pairs):
        if other_is_first:
            second = other()
            found.append((this(), second))
        else:
            found.append((this(), other()))
    return found


def commit_of(revision: str) -> str:
    """Return the commit that `revision` names; raise `NotBuiltError` if there is none."""
    # A revision must not be read as an option.
    command = [
        "git",
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        revision + "^{commit}",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise NotBuiltError(f"--against {revision}: no commit of this repository")
    return done.stdout.strip()


def has_changes() -> bool:
    """Return True if files differ from the checked-out commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=no"]
    return bool(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)


@dataclass(frozen=True)
class OtherCommit:
    """The other commit, built: its own benchmarks with its own module.

    Parameters
    ----------
    commit : str
        Its full hash.
    sources, modules, target : Path
        Directories of its sources, its package, and the output of cargo.
    """

    commit: str
    sources: Path
    modules: Path
    target: Path

    @property
    def command(self) -> list[str]:
        """Return the command that runs one of its benchmarks."""
        [run] = [*self.sources.glob("benches/run.py"), *self.sources.glob("tests/benches/run.py")]
        return [sys.executable, str(run)]

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment variables of that command."""
        directories = {"PYTHONPATH": str(self.modules), "CARGO_TARGET_DIR": str(self.target)}
        return {**os.environ, **directories}


@contextmanager
def other_commit(revision: str) -> Iterator[OtherCommit]:
    """Build the commit `revision` in a temporary directory, which is removed at the end.

    It has separate sources, target directory and module, built with the profile `release`; required
    packages are those of this environment.
    """
    commit = commit_of(revision)
    if not OPTIMISED.exists():
        raise NotBuiltError(
            f"this tree's module is not optimised. Run make bench AGAINST={revision}"
        )
    with tempfile.TemporaryDirectory(prefix="airpath-against-") as directory:
        other = OtherCommit(
            commit, *(Path(directory, part) for part in ("src", "modules", "target"))
        )
        archive = subprocess.run(
            ["git", "archive", "--format=tar", commit], cwd=ROOT, check=True, capture_output=True
        )
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as sources:
            sources.extractall(other.sources, filter="data")
        build(other, Path(directory, "wheels"))
        yield other


def build(other: OtherCommit, wheels: Path) -> None:
    """Build the module of `other` according to its own build description."""
    command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet"]
    done = subprocess.run(
        [*command, "--compatibility", "linux", "--out", str(wheels)],
        cwd=other.sources,
        env={**other.environment, "PYO3_PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise NotBuiltError(f"{other.commit[:12]} cannot be built: {last_line(done.stderr)}")
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(other.modules)


def last_line(text: str) -> str:
    """Return the last non-blank line of `text`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it does not say why"

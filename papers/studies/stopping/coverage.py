"""Coverage of a sweep's confidence intervals for a known mean, with and without early stopping.

``python -m studies.stopping.coverage`` runs 1000 sweeps of one point, an M/D/1 queue. Each sweep
has a different seed. The study calls the functions that a sweep calls: `job_of`, `run_job`,
`counted`, `mean_interval`. It writes ``coverage.csv``: for each rule and confidence, the share of
intervals that contain the mean sojourn time in the queue by Pollaczek and Khinchine,
ρ D / (2 (1 − ρ)) = 0.6 ms with D = 1.2 ms and ρ = 0.5.

These criteria were committed before the first result:

* Control. With a fixed number of replications (4, 8, 16, 32, 64), the coverage must agree with the
  stated confidence: the count of intervals that contain the mean must be within the two-sided 99 %
  range of a binomial count. The column ``holds`` has the outcome. Rows that fail are kept.
* Sequential stopping has no criterion: its coverage is reported with the range. The coverage is
  expected to be below the stated confidence, and lower for a smaller minimum number of
  replications: a sample whose variance is too small by chance stops first.
* Bias. The first 1 s is excluded; the correlation time of the queue is about 10 ms. The mean of all
  replications may deviate from the known mean by at most a tenth of the median half width. This
  applies to the median half width of every rule.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import airpath as ap
from airpath.files import write_file
from airpath.results import Interval, mean_interval
from airpath.sweeps.job import job_of, run_job
from airpath.sweeps.plan import Rule
from airpath.sweeps.stopping import counted

__all__ = [
    "KNOWN_S",
    "MOST",
    "RULES",
    "Row",
    "bias",
    "binomial_range",
    "coverage",
    "interval",
    "main",
    "scenario",
    "waits",
]

RHO: Final = 0.5
SERVICE_S: Final = 1.2e-3
"""D: 1500 bytes at 10 Mbit/s."""
KNOWN_S: Final = RHO * SERVICE_S / (2 * (1 - RHO))
"""Mean sojourn time in the queue of M/D/1, without service."""
SWEEPS: Final = 1000
MOST: Final = 64
CONFIDENCES: Final = (0.95, 0.99)
METRIC: Final = "mean_sojourn_s"
TABLE: Final = Path(__file__).with_name("coverage.csv")

RULES: Final = (
    *(Rule(number, number) for number in (4, 8, 16, 32, MOST)),
    *(
        Rule(least, MOST, METRIC, relative=relative)
        for relative in (0.1, 0.05, 0.02)
        for least in (2, 4, 8, 16)
    ),
)
"""First the control, with fixed numbers; then rules that stop at a small enough half width."""


@dataclass(frozen=True)
class Row:
    """One rule at one confidence.

    Parameters
    ----------
    rule : Rule
        The stopping rule of the sweep.
    confidence : float
        Stated confidence of its interval.
    contained : int
        Sweeps whose interval contains the known mean.
    low, high : int
        99 % range of `contained`, if the coverage equals `confidence`.
    mean_reps : float
        Mean number of replications of a sweep.
    at_most : int
        Sweeps that stopped at the largest number; their interval may be too wide.
    half_width : float
        Median of the intervals' half widths, relative to the known mean.
    """

    rule: Rule
    confidence: float
    contained: int
    low: int
    high: int
    mean_reps: float
    at_most: int
    half_width: float


def scenario() -> ap.Scenario:
    """Return the one point of the sweeps."""
    return ap.Scenario(
        name="M/D/1 queue at 50 % load",
        flows=ap.flows(1, source="poisson", rate="5 Mbit/s", packet="1500 B"),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.DropTail(limit="1000 packets"), link=ap.link.Fixed(rate="10 Mbit/s")
        ),
        duration="11 s",
        warmup="1 s",
    )


def waits(seed: int, count: int = MOST) -> list[float]:
    """Return the mean sojourn time in the queue in each replication of a sweep, s."""
    job, contents = job_of(scenario())
    return [
        next(
            float(queue[METRIC])
            for queue in run.measured()["queues"]
            if queue["name"] == "bottleneck"
        )
        for run in run_job(job, contents, seed, 0, count)
    ]


def coverage(
    sweeps: Sequence[Sequence[float]],
    rules: Sequence[Rule] = RULES,
    confidences: Sequence[float] = CONFIDENCES,
) -> Iterator[Row]:
    """Yield the coverage of each rule at each confidence.

    Parameters
    ----------
    sweeps : sequence of sequence of float
        Mean sojourn times of each sweep, as many as the largest number of any rule.
    rules, confidences
        The rules and confidences to evaluate.
    """
    for confidence in confidences:
        low, high = binomial_range(len(sweeps), confidence)
        for rule in rules:
            found = [interval(rule, values, confidence) for values in sweeps]
            yield Row(
                rule,
                confidence,
                sum(each.low <= KNOWN_S <= each.high for each in found),
                low,
                high,
                statistics.fmean(each.reps for each in found),
                sum(each.reps == rule.most for each in found),
                statistics.median(each.high - each.low for each in found) / 2 / KNOWN_S,
            )


def interval(rule: Rule, values: Sequence[float], confidence: float) -> Interval:
    """Return the confidence interval that a sweep reports for a point with these values.

    Raises
    ------
    ValueError
        If the rule requires more values.
    """
    number = counted(rule, values, confidence)
    if number is None:
        raise ValueError(f"{len(values)} replications: fewer than the rule requires")
    return mean_interval(values[:number], confidence)


def binomial_range(n: int, p: float, outside: float = 0.01) -> tuple[int, int]:
    """Return a range of a binomial count, with at most `outside` / 2 probability on either side."""
    logs = [
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(p)
        + (n - k) * math.log1p(-p)
        for k in range(n + 1)
    ]
    below, low = 0.0, 0
    while below + math.exp(logs[low]) <= outside / 2:
        below += math.exp(logs[low])
        low += 1
    above, high = 0.0, n
    while above + math.exp(logs[high]) <= outside / 2:
        above += math.exp(logs[high])
        high -= 1
    return low, high


def bias(sweeps: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the deviation of the mean of all replications from the known mean, and its error.

    Both are relative to the known mean. The error is the standard error.
    """
    every = [value / KNOWN_S for values in sweeps for value in values]
    return statistics.fmean(every) - 1, statistics.stdev(every) / math.sqrt(len(every))


def _columns(row: Row, sweeps: int, is_fixed: bool) -> Mapping[str, object]:
    return {
        "confidence": row.confidence,
        "rule": "fixed" if is_fixed else "sequential",
        "min": row.rule.least,
        "max": row.rule.most,
        "relative": "" if is_fixed else row.rule.relative,
        "sweeps": sweeps,
        "contained": row.contained,
        "range_low": row.low,
        "range_high": row.high,
        "holds": ("yes" if row.low <= row.contained <= row.high else "no") if is_fixed else "",
        "mean_reps": f"{row.mean_reps:.2f}",
        "at_max": "" if is_fixed else row.at_most,
        "median_half_width": f"{row.half_width:.4f}",
    }


def main(
    count: int = SWEEPS,
    path: Path = TABLE,
    say: Callable[[str], object] = print,
) -> None:
    """Run the sweeps, then print and write the table."""
    sweeps = []
    for seed in range(count):
        sweeps.append(waits(seed))
        if sys.stderr.isatty():
            print(f"\r{seed + 1} of {count}", end="", file=sys.stderr)
    rows = list(coverage(sweeps))
    text = io.StringIO()
    table = [_columns(row, count, row.rule.metric is None) for row in rows]
    writer = csv.DictWriter(text, list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    write_file(path, text.getvalue().encode())
    say(text.getvalue().rstrip())
    off, error = bias(sweeps)
    narrow = min(row.half_width for row in rows)
    is_small = "yes" if abs(off) <= narrow / 10 else "no"
    say(f"bias {off:+.5f} ± {error:.5f} of the known mean; narrowest half width {narrow:.5f}")
    say(f"bias is at most a tenth of the narrowest half width: {is_small}")


if __name__ == "__main__":
    main()

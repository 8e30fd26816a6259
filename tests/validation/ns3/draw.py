"""Generate the random dumbbells of the comparison with ns-3, into `dumbbells.csv`.

    python draw.py

The seeds are fixed; no dumbbell is selected or excluded manually. The first set was used to find
the deviations of ns-3. The second set was generated afterwards, as a check.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from pathlib import Path

SETS = {1: (20150348, 60), 101: (20261121, 40)}
"""Seed and number of dumbbells of each set, by first id."""

FIELDS = [
    "id", "flows", "cc", "recovery", "delayed_ack", "rate_bps", "base_rtt_ms", "delay_ms",
    "access_ms", "queue", "limit", "min_th", "max_th", "max_p", "weight", "wait", "loss",
    "threshold", "rate2_bps", "per1", "per2", "duration_s", "warmup_s",
]  # fmt: skip


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def rounded(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")


def dumbbell(rng: random.Random, number: int) -> dict[str, object]:
    """Return one configuration. Every value is sampled, even if unused, so that rows are
    independent."""
    flows = rng.choice([1, 2, 3, 4, 6, 8, 12, 16])
    rate = rounded(log_uniform(rng, 2e6, 20e6))
    base_rtt = rounded(log_uniform(rng, 10, 200))
    delay = rounded(base_rtt / 4, 6)
    access = [rounded(base_rtt / 2 * rng.uniform(0.9, 1.1) - delay, 5) for _ in range(flows)]
    queue = rng.choices(["droptail", "red-instant", "red"], [2, 1, 1])[0]
    limit = round(log_uniform(rng, 8, 120))
    min_th = round(log_uniform(rng, 3, 20))
    max_p = rounded(log_uniform(rng, 0.02, 0.2))
    wait = rng.random() < 0.5
    loss = rounded(log_uniform(rng, 0.001, 0.1)) if rng.random() < 0.5 else 0.0
    is_multi_regime = rng.random() < 0.2
    threshold = rng.randint(3, 25)
    rate2 = rounded(rate * rng.uniform(1.1, 1.6))
    per1 = rounded(log_uniform(rng, 0.0005, 0.01))
    per2 = rounded(per1 * rng.uniform(3, 20))
    is_red = queue != "droptail"
    return {
        "id": number,
        "flows": flows,
        "cc": rng.choice(["TcpNewReno", "TcpLinuxReno", "TcpCubic"]),
        "recovery": rng.choice(["TcpPrrRecovery", "TcpClassicRecovery"]),
        "delayed_ack": rng.choice([1, 2]),
        "rate_bps": rate,
        "base_rtt_ms": base_rtt,
        "delay_ms": delay,
        "access_ms": " ".join(f"{max(value, 0.01):g}" for value in access),
        "queue": "red" if is_red else "droptail",
        "limit": 200 if is_red else limit,
        "min_th": min_th if is_red else "",
        "max_th": 3 * min_th if is_red else "",
        "max_p": max_p if is_red else "",
        "weight": {"red-instant": 1.0, "red": 0.002}.get(queue, ""),
        "wait": int(wait) if is_red else "",
        "loss": 0.0 if is_multi_regime else loss,
        "threshold": threshold if is_multi_regime else "",
        "rate2_bps": rate2 if is_multi_regime else "",
        "per1": per1 if is_multi_regime else "",
        "per2": min(per2, 0.1) if is_multi_regime else "",
        "duration_s": 100,
        "warmup_s": 10,
    }


def dumbbells() -> Iterator[dict[str, object]]:
    """Yield the dumbbells of both sets."""
    for first, (seed, count) in SETS.items():
        rng = random.Random(seed)
        yield from (dumbbell(rng, first + i) for i in range(count))


def main() -> None:
    path = Path(__file__).parent / "dumbbells.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(dumbbells())


if __name__ == "__main__":
    main()

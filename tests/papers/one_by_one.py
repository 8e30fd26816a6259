"""Stand-ins for the engine that make the replications of one scenario after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from airpath.reproduction.engine import Simulated, Wanted


class OneByOne:
    """An engine with `simulate_one`, which makes the replications of a scenario."""

    simulate_one: Callable[..., Simulated]

    def simulate(
        self, wanted: Sequence[Wanted], *, progress: Any, **more: Any
    ) -> Iterator[Simulated]:
        for number, (scenario, replications) in enumerate(wanted):
            if progress is not None:
                progress(number / len(wanted), "simulating")
            found = self.simulate_one(scenario, replications=replications, **more)
            yield found
            if found.interrupted:
                return

"""Classes of a scenario are built on first use, possibly in several threads."""

from __future__ import annotations

import subprocess
import sys

THREADS = """
import sys
import threading
import airpath as ap

sys.setswitchinterval(1e-6)
barrier = threading.Barrier(8)
made = []

def make():
    barrier.wait()
    made.append(
        ap.Scenario(
            duration="2 s",
            flows=ap.flows(2, base_rtt="20 ms", tcp={"mss": "1 kB"}),
            bottleneck=ap.Bottleneck(aqm="codel", link=ap.link.Fixed(rate="1 Mbit/s")),
        )
    )

ap.Scenario
threads = [threading.Thread(target=make) for _ in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
assert len(made) == 8 and all(each == made[0] for each in made), made
"""


def test_threads_may_create_the_first_scenarios_in_parallel() -> None:
    """Regression: with pydantic before 2.12.5 some threads got an incomplete class."""
    done = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

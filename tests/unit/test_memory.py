"""A run that exceeds the memory is rejected with an estimate, or ends with a message of one
line.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import airpath as ap
from airpath.engine import memory


def scenario(**record: object) -> ap.Scenario:
    return ap.Scenario(
        flows=ap.flows(4, cc="reno", base_rtt="20 ms"),
        bottleneck=ap.Bottleneck(aqm="droptail", link=ap.link.Fixed(rate="10 Mbit/s")),
        duration="20 s",
        record=record,
    )


def test_available_memory_is_positive() -> None:
    found = memory.available_bytes()
    assert found is None or found > 1_000_000


def test_limit_of_the_process_counts_as_available_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the machine's memory was used, despite limits by ``ulimit -v`` or a control
    group.
    """
    monkeypatch.setattr(memory, "available_bytes", lambda: 20_000_000)
    with pytest.raises(ap.errors.BadValueError) as caught:
        ap.simulate(scenario(), reps=10_000)
    assert str(caught.value).startswith("scenario: reps = 10000: about ")
    assert "MB of memory, where there are 20 MB." in str(caught.value)
    with pytest.raises(
        ap.errors.BadValueError, match=r"record\.ss_interval = .* there are 20 MB\."
    ):
        ap.simulate(scenario(ss=True, ss_interval="1 ms"), reps=2)


@pytest.mark.parametrize("record", [{"series": ["cwnd", "queue"]}, {"ss": True}])
def test_recordings_that_exceed_the_memory_end_the_run(
    record: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "for_recordings", lambda: 200_000)
    ended = (
        r"^scenario: replication \d: recorded series exceed the memory limit at t = [\d.]+ s\. "
        r"Record fewer series, set a longer record\.interval, or lower --reps\.$"
    )
    full = {"interval": "0 s", "ss_interval": "10 ms", **record}
    with pytest.raises(ap.errors.RunError, match=ended):
        ap.simulate(scenario(**full), reps=2)
    monkeypatch.setattr(memory, "for_recordings", lambda: 100_000_000)
    assert len(ap.simulate(scenario(**full), reps=2).replications) == 2


LIMITED = """
import os, resource, sys
import pandas
from airpath.cli import commands, main
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * os.sysconf("SC_PAGE_SIZE") + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not report it")
def test_process_limit_is_reported_in_one_line(tmp_path: Path) -> None:
    """Regression: with ``ulimit -v`` the engine aborted."""
    file = tmp_path / "small.toml"
    text = scenario(series=["cwnd", "queue", "seq_sent"], interval="0 s").to_toml()
    file.write_text(text)
    done = subprocess.run(
        [
            *(sys.executable, "-c", LIMITED, str(200 << 20), "run", str(file), "--threads", "2"),
            *("--reps", "3", "--set", "duration=200 s", "--set", "bottleneck.link.rate=200 Mbit/s"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "memory" in line

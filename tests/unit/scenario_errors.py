"""Common helpers for tests of scenario error messages."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.scenario import FAMILIES, loads

GOOD = """\
duration = "300 s"
warmup = "30 s"
[bottleneck]
aqm = "gred"
link = {kind = "fixed", rate = "5 Mbit/s", delay = "2.5 ms"}
[[flows]]
count = 4
cc = "reno"
base_rtt = "40 ms"
"""
DURATION = 'Use a number with ns, us, ms, s, min or h, for example "40 ms".'
RATE = 'Use a number with bit/s, kbit/s, Mbit/s or Gbit/s, for example "5 Mbit/s".'
SIZE = 'Use a number with B, kB, MB, GB, KiB, MiB or GiB, for example "1500 B".'
QUEUES, LINKS, CCS = (", ".join(FAMILIES[name].registry) for name in ("aqm", "link", "congestion"))
REGIMES = '[{rate = "1 Mbit/s"}, {rate = "2 Mbit/s"}]'
FLOW_KEYS = (
    "source, name, count, access, egress, ack_access, return, base_rtt, start, stop, arrivals, "
    "direction, from, to, user, cc, profile, tcp, window, size, on_off, "
    "video, requests"
)


def lines(text: str, overrides: list[tuple[str, str]] | None = None) -> list[str]:
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(text, place="wimax.toml", overrides=overrides or [])
    return str(caught.value).splitlines()


def problem_after_setting(key: str, value: str) -> str:
    """Return the only problem after setting `key` of the valid file to the TOML text `value`."""
    (line,) = lines(GOOD, [(key, value)])
    return line

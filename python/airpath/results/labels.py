"""Readable names of quantities: ``p95_sojourn_s`` → "95th percentile of sojourn times"."""

from __future__ import annotations

import re

from airpath.results.transfers import SizeClass
from airpath.scenario.labels import words_of

__all__ = ["effort_text", "label_of_quantity", "short_label"]

_LABELS = {
    "completed_at_s": "completion time",
    "cwnd_limited_share": "share of time limited by the congestion window",
    "drop_share": "share of packets dropped",
    "jain": "Jain's index",
    "late_ratio": "share of packets too late for playout",
    "jain_of_users": "Jain's index of the users",
    "loss_ratio": "loss ratio of datagrams",
    "lost_share": "share of packets lost",
    "mark_share": "share of packets marked",
    "mos": "mean opinion score",
    "mouth_to_ear_s": "mouth-to-ear delay",
    "rating": "rating R",
    "rwnd_limited_share": "share of time limited by the receive window",
    "slot_share": "share of slots",
    "stall_ratio": "share of time in stalls",
    "startup_s": "start-up time",
}
"""Readable names that cannot be derived from the name of the quantity."""

_DISTRIBUTIONS = {
    "ack_delay_s": ("one-way delay of ACKs", "one-way delays of ACKs"),
    "bytes": ("backlog", "backlogs"),
    "delay_s": ("one-way delay", "one-way delays"),
    "mac_delay_s": ("MAC delay", "MAC delays"),
    "packets": ("queue length", "queue lengths"),
    "rate_bps": ("link rate", "link rates"),
    "object_s": ("object load time", "object load times"),
    "page_s": ("page load time", "page load times"),
    "rtt_s": ("RTT", "RTTs"),
    "s": ("completion time", "completion times"),
    "snr_db": ("SNR", "SNRs"),
    "slowdown": ("slowdown", "slowdowns"),
    "sojourn_s": ("sojourn time", "sojourn times"),
}
"""Maps quantities with means and quantiles to their readable names, singular and plural."""

_LEVEL = re.compile(
    r"(?:(?P<of>\w+)_)?(?P<level>mean|median|max|p(?P<percent>\d\d))_(?P<what>\w+)", re.ASCII
)
_REGIME = re.compile(r"regime_(\d+)_share", re.ASCII)
_UNITS = ("bps", "bytes", "db", "s")
_OF = {
    "groups": "group",
    "flows": "flow",
    "links": "link",
    "phases": "phase",
    "queues": "queue",
    "requests": "group",
    "stations": "station",
    "transfers": "group",
    "users": "user",
    "video": "group",
    "voice": "group",
}
"""Maps the first part of a metric's name to the readable type of the measured object."""


def effort_text(
    runs: int, duration_s: float, warmup_s: float = 0.0, confidence: float | None = None
) -> str:
    """Describe the runs of a figure or table: "5 runs of 60 s, first 10 s not counted".

    Parameters
    ----------
    runs : int
        Number of replications.
    duration_s, warmup_s : float
        Duration of each replication and its part that is not counted, s.
    confidence : float, optional
        Confidence of the intervals, in (0, 1). Default: there are no intervals.
    """
    text = f"{runs} {'run' if runs == 1 else 'runs'} of {duration_s:g} s"
    if warmup_s:
        text += f", first {warmup_s:g} s not counted"
    return text if confidence is None else f"{text} · {100 * confidence:g} % intervals"


def label_of_quantity(name: str) -> str:
    """Return the readable name of a metric, without its unit.

    Parameters
    ----------
    name : str
        Name as in tables: ``goodput_bps``, ``queues.bottleneck.p95_sojourn_s``.
    """
    scope, _, rest = name.partition(".")
    of, _, quantity = rest.rpartition(".")
    if scope == "jain_of_users":
        return f"{_LABELS[scope]} of {rest}"
    if scope not in _OF or not of:
        return _quantity(name)
    if of == "bottleneck":
        return _quantity(quantity)
    owner = _group_of_transfers(of) if scope == "transfers" else of.rpartition(".")[2]
    return f"{_quantity(quantity)} of {_OF[scope]} {owner}"


def _group_of_transfers(of: str) -> str:
    """Return a readable name of a group and its size class, if any: ``web, 10 kB to 100 kB``."""
    group, _, last = of.rpartition(".")
    which = SizeClass.named(last)
    return f"{group}, {which.title}" if group and which else of.replace(".", ", ")


def short_label(label: str) -> str:
    """Shorten a readable name for the header of a table: "p95 of sojourn times"."""
    return re.sub(r"\b(\d\d)th percentile\b", r"p\1", label)


def _quantity(name: str) -> str:
    if name in _LABELS:
        return _LABELS[name]
    found = _LEVEL.fullmatch(name)
    what = "_".join(filter(None, (found["of"], found["what"]))) if found else ""
    if found and what in _DISTRIBUTIONS:
        one, several = _DISTRIBUTIONS[what]
        if found["percent"] == "50" or found["level"] == "median":
            return f"median {one}"
        if found["percent"]:
            return f"{found['percent']}th percentile of {several}"
        return f"{'largest' if found['level'] == 'max' else 'mean'} {one}"
    if regime := _REGIME.fullmatch(name):
        return f"share of packets in regime {regime[1]}"
    stem, _, unit = name.rpartition("_")
    return words_of(stem if stem and unit in _UNITS else name)

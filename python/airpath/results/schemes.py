"""What the regimes of a bottleneck's link are called: rates, or modulation and coding schemes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airpath import _airpath
from airpath.files import LARGEST, UnreadableError, read_bytes
from airpath.scenario.units import Rate

if TYPE_CHECKING:
    from airpath.results.result import Result

__all__ = ["regime_names", "scheme_names", "scheme_shares", "thresholds"]

_COUNTED = "_packets"


def thresholds(link: Mapping[str, Any]) -> list[int]:
    """Return the packets waiting from which the next regime of a link holds."""
    policy = link.get("policy", {})
    return [policy["threshold"]] if "threshold" in policy else list(link.get("thresholds", []))


def regime_names(result: Result) -> list[str]:
    """Return what each regime of the bottleneck's link is, from the emptiest queue on.

    An adaptive link whose estimate does not vary has one MCS in each, named as in its table; with
    an estimate that varies, or without the table's file, a regime is a number only.
    """
    link = result.resolved["bottleneck"]["link"]
    if "regimes" in link:
        rates = [str(Rate(regime["rate_bps"])) for regime in link["regimes"]]
        return [f"regime {j}: {rate}" for j, rate in enumerate(rates, start=1)]
    count = len(thresholds(link)) + 1
    names = _schemes(result, link) if link["kind"] == "adaptive" else []
    if len(names) != count:
        return [f"regime {j}" for j in range(1, count + 1)]
    return [f"regime {j}: {name}" for j, name in enumerate(names, start=1)]


def scheme_shares(result: Result, replication: int) -> str:
    """Return the shares of the packets that an adaptive link sent with each MCS, as text."""
    counts = _counts(result, replication)
    total = sum(counts.values())
    shares = {name: 100 * count / total for name, count in counts.items() if count}
    return ", ".join(f"{name} {share:.3g} %" for name, share in shares.items())


def scheme_names(result: Result, replication: int) -> list[str]:
    """Return the names of an adaptive link's MCSs in the order of its table; else none."""
    return list(_counts(result, replication))


def _counts(result: Result, replication: int) -> dict[str, float]:
    """Return the packets that an adaptive link sent with each MCS, in the order of its table."""
    if result.resolved["bottleneck"]["link"]["kind"] != "adaptive":
        return {}
    links = result.replications[replication]["links"]
    counters = next(link["counters"] for link in links if link["name"] == "bottleneck")
    return {
        name.removesuffix(_COUNTED): count
        for name, count in counters.items()
        if name.endswith(_COUNTED) and name != "outside_table_packets"
    }


def _schemes(result: Result, link: Mapping[str, Any]) -> list[str]:
    """Return the MCS of each regime; empty where they change or cannot be read."""
    about = result.provenance.get("tables", {}).get(link["table"])
    if link["snr_noise_db"] or link["snr"]["kind"] != "constant" or about is None:
        return []
    try:
        data = read_bytes(about["file"], LARGEST)
    except UnreadableError:
        return []
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        return []  # It is another table by now.
    text = data.decode("utf-8")
    estimate_db = link["snr"]["mean_db"] + link["snr_bias_db"]
    policy = json.dumps(link["policy"])
    [chosen] = _airpath.policy_choices(policy, text, [estimate_db], link["packet_bytes"])
    curves = json.loads(text)["curves"]
    names = [curves[number]["mcs"] for number in chosen]
    return [f"{mcs['name']} {mcs.get('label', '')}".strip() for mcs in names]

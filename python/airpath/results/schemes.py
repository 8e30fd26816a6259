"""Names of the regimes of the bottleneck link, and of modulation and coding schemes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from airpath.files import LARGEST, UnreadableError, read_bytes

if TYPE_CHECKING:
    from airpath.results.result import Result

__all__ = ["regime_names", "scheme_names", "scheme_shares"]

_COUNTED = "_packets"


def regime_names(result: Result) -> list[str]:
    """Return the names of the regimes of the bottleneck link, in ascending queue length.

    If the regimes have no names, or the table cannot be read, the names are their indices.
    """
    link = result.resolved.link
    count = len(link.regime_boundaries) + 1
    names = link.regime_labels(lambda: _table_text(result, link.table))
    if len(names) != count:
        return [f"regime {j}" for j in range(1, count + 1)]
    return [f"regime {j}: {name}" for j, name in enumerate(names, start=1)]


def scheme_shares(result: Result, replication: int) -> str:
    """Return a text with the share of packets that an adaptive link sent with each MCS."""
    counts = _counts(result, replication)
    total = sum(counts.values())
    shares = {name: 100 * count / total for name, count in counts.items() if count}
    return ", ".join(f"{name} {share:.3g} %" for name, share in shares.items())


def scheme_names(result: Result, replication: int) -> list[str]:
    """Return the names of an adaptive link's MCSs in table order; empty for other links."""
    return list(_counts(result, replication))


def _counts(result: Result, replication: int) -> dict[str, float]:
    """Return the number of packets that an adaptive link sent with each MCS, in table order."""
    if not result.resolved.link.has_schemes:
        return {}
    name = result.resolved.bottleneck.name
    links = result.replications[replication]["links"]
    counters = next(link["counters"] for link in links if link["name"] == name)
    return {
        name.removesuffix(_COUNTED): count
        for name, count in counters.items()
        if name.endswith(_COUNTED) and name != "outside_table_packets"
    }


def _table_text(result: Result, table: str | None) -> str | None:
    """Return the text of an error-rate table; None if the file has changed or is missing."""
    about = result.provenance.get("tables", {}).get(table)
    if about is None:
        return None
    try:
        data = read_bytes(about["file"], LARGEST)
    except UnreadableError:
        return None
    if hashlib.sha256(data).hexdigest() != about["sha256"]:
        return None
    return data.decode("utf-8")

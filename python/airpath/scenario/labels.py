"""Labels of scenario keys in figures and tables: ``bottleneck.aqm`` → "queue discipline".

A class declares labels in `key_labels`. The label of any other key consists of the words of the key
and the name of its component.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from airpath.scenario.key_tree import KeyNode, nodes_at

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["document_of", "labels_of_keys", "words_of"]

_WORDS = {
    **{word: word.upper() for word in ("ack", "aqm", "arq", "ecn", "fec", "fer", "harq", "ip")},
    **{word: word.upper() for word in ("mac", "mcs", "mss", "mtu", "pdu", "per", "rlc", "rto")},
    **{word: word.upper() for word in ("rtt", "sack", "snr", "tcp", "tti")},
    "acks": "ACKs",
    "max": "maximum",
    "min": "minimum",
    "rwnd": "receive-window",
    "th": "threshold",
}
"""Maps words in keys to their spelling in labels."""

_UNITS = {
    "db": "dB",
    "dbi": "dBi",
    "dbm": "dBm",
    "deg": "degrees",
    "percent": "%",
}
"""Maps the last part of a key to the unit of its values, for values without unit."""


def words_of(name: str) -> str:
    """Convert a name with underscores to readable words: ``min_rto`` → "minimum RTO"."""
    return " ".join(_WORDS.get(word, word) for word in name.split("_"))


def labels_of_keys(keys: Sequence[str], base: str) -> dict[str, str]:
    """Return a unique label for each dotted key.

    Parameters
    ----------
    keys : sequence of str
        Names of sweep axes. A name that is not a scenario key, such as a parameter of a function,
        is used unchanged.
    base : str
        The scenario to which the keys are applied, as TOML; empty if unknown.
    """
    document = document_of(base)
    labels = {key: _label(key, document) for key in keys}
    counts = Counter(labels.values())
    return {
        key: label if counts[label] == 1 else f"{label} ({key})" for key, label in labels.items()
    }


@lru_cache(maxsize=4)
def document_of(base: str) -> Mapping[str, Any]:
    """Parse the TOML text of a scenario; return an empty document if it is not valid TOML."""
    try:
        return tomllib.loads(base)
    except ValueError:
        return {}


def _label(key: str, document: Mapping[str, Any]) -> str:
    steps = key.split(".")
    # One axis may change the kind of a component, and another axis a key of the new kind.
    found = _path_labels(steps, document) or _path_labels(steps, {})
    if not found:
        return key
    *owners, declared = found
    *rest, unit = steps[-1].split("_")
    unit = _UNITS.get(unit, "") if rest else ""
    name = declared or words_of("_".join(rest) if unit else steps[-1])
    # A declared label already identifies the component of the key.
    inner = [owner for owner in owners[1:] if owner and not declared]
    names = [name, *inner[-1:], *filter(None, owners[:1])]
    label = " of the ".join(names) + _of_group(steps, document)
    return f"{label}, {unit}" if unit else label


def _path_labels(steps: Sequence[str], document: Mapping[str, Any]) -> list[str]:
    """Return the declared label of each step (or an empty string); an empty list if unknown."""
    from airpath.scenario import Scenario

    found: list[str] = []
    for place, step in enumerate(steps):
        nodes = nodes_at(Scenario, document, steps[:place])
        is_number = any(node.is_list for node in nodes)
        if not is_number and not any(True for node in nodes for _ in node.fields(step)):
            return []
        found.append("" if is_number else _declared(nodes, step))
    return found


def _declared(nodes: Sequence[KeyNode], key: str) -> str:
    """Return the label that a class declares for a key; empty if no class declares a label."""
    for node in nodes:
        for model in node.choices():
            for each in model.__mro__:
                if key in getattr(each, "key_labels", {}):
                    return str(each.key_labels[key])
    return ""


def _of_group(steps: Sequence[str], document: Mapping[str, Any]) -> str:
    """Return the label suffix that names the group of flows, if there are several groups."""
    if len(steps) < 2 or steps[0] != "flows":
        return ""
    groups = document.get("flows", ())
    if len(groups) < 2 and steps[1] == "0":
        return ""
    if not steps[1].isdecimal():
        return f" of {steps[1]}"
    number = int(steps[1])
    name = groups[number].get("name") if 0 <= number < len(groups) else None
    return f" of {name or f'group {steps[1]}'}"

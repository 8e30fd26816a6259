"""Statistics of each flow and direction, with the names of ns-3's FlowMonitor."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from airpath.engine.vocabulary import DROP_REASONS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["flow_monitor_rows", "flow_monitor_xml", "stats_of_rows"]

_SORTED = sorted(DROP_REASONS)

_NAMES = {
    "flow": "flow",
    "direction": "direction",
    "source_address": "sourceAddress",
    "destination_address": "destinationAddress",
    "protocol": "protocol",
    "source_port": "sourcePort",
    "destination_port": "destinationPort",
    "time_first_tx_ns": "timeFirstTxPacket",
    "time_first_rx_ns": "timeFirstRxPacket",
    "time_last_tx_ns": "timeLastTxPacket",
    "time_last_rx_ns": "timeLastRxPacket",
    "delay_sum_ns": "delaySum",
    "jitter_sum_ns": "jitterSum",
    "last_delay_ns": "lastDelay",
    "max_delay_ns": "maxDelay",
    "min_delay_ns": "minDelay",
    "tx_bytes": "txBytes",
    "rx_bytes": "rxBytes",
    "tx_packets": "txPackets",
    "rx_packets": "rxPackets",
    "lost_packets": "lostPackets",
    "times_forwarded": "timesForwarded",
}
"""Maps names of the engine to names of ns-3, in the order of the table columns."""

_CLASSIFIER = tuple(_NAMES)[2:7]
_STATISTICS = tuple(_NAMES)[7:]
_DROP_QUEUE_DISC = 4
"""ns-3's reason code for drops of a queue discipline (``Ipv4FlowProbe::DropReason``)."""

Stats = Sequence[Mapping[str, Any]]


def flow_monitor_rows(runs: Iterable[tuple[int, Stats]]) -> list[dict[str, Any]]:
    """Return one row per replication, flow and direction, with times in seconds.

    Parameters
    ----------
    runs : iterable of (int, list of dict)
        Index of each replication, and its counters from the engine.
    """
    found = [(number, list(enumerate(stats, start=1))) for number, stats in runs]
    occurred = [
        reason
        for reason in (found[0][1][0][1]["packets_dropped"] if found else ())
        if any(entry["packets_dropped"][reason] for _, run in found for _, entry in run)
    ]
    return [
        {"replication": number, "flowId": flow_id}
        | {name: _in_seconds(key, entry[key]) for key, name in _NAMES.items()}
        | {f"packetsDropped_{reason}": entry["packets_dropped"][reason] for reason in occurred}
        | {f"bytesDropped_{reason}": entry["bytes_dropped"][reason] for reason in occurred}
        for number, run in found
        for flow_id, entry in run
    ]


def _in_seconds(key: str, value: Any) -> Any:
    if key.endswith("_ns"):
        return None if value is None else value / 1e9
    return value


def stats_of_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert the rows of one replication back to the engine's counters.

    Parameters
    ----------
    rows : DataFrame
        Rows in the format of `flow_monitor_rows`.
    """
    return [
        {key: _as_counted(key, row[name]) for key, name in _NAMES.items()}
        | {
            f"{kind}_dropped": {
                reason: int(row.get(f"{kind}Dropped_{reason}", 0)) for reason in _SORTED
            }
            for kind in ("packets", "bytes")
        }
        for row in rows.to_dict("records")
    ]


def _as_counted(key: str, value: Any) -> Any:
    if key.endswith("_ns"):
        return None if math.isnan(value) else round(value * 1e9)
    return value


def flow_monitor_xml(stats: Stats, about: Mapping[str, Any]) -> bytes:
    """Return the statistics of one replication in the XML format of ns-3's FlowMonitor.

    Parameters
    ----------
    stats : list of dict
        Counters of the engine.
    about : mapping
        Provenance of the run, which is written as an XML processing instruction.
    """
    root = ET.Element("FlowMonitor")
    flows = ET.SubElement(root, "FlowStats")
    classifier = ET.SubElement(root, "Ipv4FlowClassifier")
    for flow_id, entry in enumerate(stats, start=1):
        number = {"flowId": str(flow_id)}
        values = {_NAMES[key]: _as_ns3(key, entry[key]) for key in _STATISTICS}
        flow = ET.SubElement(flows, "Flow", number | values)
        for kind, unit in (("packets", "number"), ("bytes", "bytes")):
            dropped = entry[f"{kind}_dropped"]
            count = dropped["overflow"] + dropped["early"]
            if count:
                code = {"reasonCode": str(_DROP_QUEUE_DISC), unit: str(count)}
                ET.SubElement(flow, f"{kind}Dropped", code)
        ends = {_NAMES[key]: str(entry[key]) for key in _CLASSIFIER}
        ET.SubElement(classifier, "Flow", number | ends)
    ET.SubElement(root, "Ipv6FlowClassifier")
    ET.SubElement(root, "FlowProbes")
    ET.indent(root)
    note = json.dumps(about).replace("?>", "?\\u003e")
    head = f'<?xml version="1.0" ?>\n<?airpath {note}?>\n'.encode()
    return head + ET.tostring(root) + b"\n"


def _as_ns3(key: str, value: Any) -> str:
    """Return times as ``+1500000000.0ns``; unknown times are 0, as in ns-3 without packets."""
    return f"+{float(value or 0):.1f}ns" if key.endswith("_ns") else str(value)

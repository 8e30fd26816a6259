"""The typed view of a resolved scenario."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from airpath.engine.flows import Flows, Start, Wire
from airpath.engine.link import ResolvedLink
from airpath.engine.resolved import Change, ResolvedScenario
from airpath.scenario.link.base import Link

ROOT = Path(__file__).parents[2]
FLOWS: list[dict[str, Any]] = [
    {"group": group, "count": count, "name": name}
    for group, count, name in ((0, 2, "a"), (1, 1, "b"), (1, 3, "c"))
]


# --- flows --------------------------------------------------------------------------------------


def names_of(flows: Flows) -> list[str]:
    return [flow.description["name"] for flow in flows]


def test_every_flow_number_finds_its_entry() -> None:
    flows = Flows(FLOWS)
    names = names_of(flows)
    assert "".join(names) == "aabccc"
    assert [flows[number].description["name"] for number in range(len(flows))] == names
    assert [flow.description["name"] for flow in flows[1:4]] == names[1:4]
    assert flows[-1].description["name"] == "c"
    with pytest.raises(IndexError):
        flows[6]


def test_empty_list_has_no_flows() -> None:
    assert len(Flows([])) == 0


def test_groups_have_the_numbers_of_all_their_entries() -> None:
    flows = Flows(FLOWS)
    assert flows.groups == {0: [0, 1], 1: [2, 3, 4, 5]}
    assert [(g, flow.description["name"]) for g, flow in flows.first_of_groups.items()] == [
        (0, "a"),
        (1, "b"),
    ]


def test_starts_have_a_range() -> None:
    assert Start.of({"kind": "at", "time_ns": 7}) == Start(7, 7)
    assert Start.of({"kind": "uniform", "low_ns": 1, "high_ns": 9}) == Start(1, 9)
    poisson = {"kind": "poisson", "from_ns": 3, "gap_ns": 50, "until_ns": 90}
    assert Start.of(poisson) == Start(3, 3, 50, 90)


def test_missing_wire_adds_nothing() -> None:
    assert Wire.of(None) == Wire(None, 0, False)
    assert Wire.of({"rate_bps": 5, "delay_ns": 2, "limit": {"bytes": 1}}) == Wire(5, 2, True)


# --- other parts --------------------------------------------------------------------------------


def resolved() -> ResolvedScenario:
    from airpath.scenario import loads

    text = loads(
        """
        duration = "5 s"
        warmup = "2 s"
        flows = [{count = 2, cc = "bbr1", base_rtt = "40 ms"}, {source = "cbr", rate = "1 Mbit/s"}]
        control = [{at = "4 s", rate = "1 Mbit/s"}, {at = "3 s", rate = "2 Mbit/s"}]
        record = {series = ["queue", "capacity"]}
        bottleneck.aqm = {kind = "droptail", limit = "20 packets"}
        bottleneck.link = {kind = "fixed", rate = "4 Mbit/s"}
        """
    ).resolve()[0]
    return ResolvedScenario.from_json(text)


def test_values_have_their_units() -> None:
    found = resolved()
    assert (found.duration_s, found.warmup_s, found.measured_ns) == (5.0, 2.0, 3_000_000_000)
    assert found.queue.limit_packets == 20
    assert found.queue.limit_bytes is None
    assert found.link.known_rates_bps == [4e6]
    tcp, cbr = found.flows[0].source, found.flows[2].source
    assert (tcp.packet_bytes, tcp.payload_bytes, tcp.ack_bytes) == (1500, 1460, 40)
    assert (cbr.packet_bytes, cbr.payload_bytes, cbr.ack_bytes) == (1500, 1472, 0)


def test_changes_are_sorted_by_time() -> None:
    assert resolved().changes == [
        Change(3.0, 2_000_000, None, (), None),
        Change(4.0, 1_000_000, None, (), None),
    ]


def test_replacement_leaves_the_original_unchanged() -> None:
    found = resolved()
    before = found.to_json()
    other = found.recorded(series=["cwnd"]).replace(duration_ns=1).with_flows_like(2, 4)
    assert (other.recording.series, other.duration_ns, len(other.flows)) == (("cwnd",), 1, 4)
    assert found.to_json() == before


def test_engine_receives_no_derived_series() -> None:
    found = resolved().for_engine()
    assert found.recording.series == ("queue",)
    assert [flow.source.get("congestion", {}).get("kind") for flow in found.flows] == [
        *("bbr1", "bbr1"),
        None,
    ]
    assert json.loads(found.to_json()) == found.document


# --- use of keys --------------------------------------------------------------------------------


def subscripts_of_resolved(source: str) -> list[int]:
    """Return the lines that read a key of a resolved scenario or of a part of one."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Subscript) and is_resolved(node.value))
        or (isinstance(node, ast.Attribute) and node.attr == "get" and is_resolved(node.value))
    ]


def is_resolved(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr in ("document", "description"):
        return node.attr == "description" or is_resolved(node.value)
    return getattr(node, "attr", getattr(node, "id", None)) == "resolved"


def test_only_the_engine_package_reads_keys_of_a_resolved_scenario() -> None:
    """Type checking covers the other cases: elsewhere a resolved scenario is no dictionary."""
    package = ROOT / "python" / "airpath"
    found = {
        f"{file.relative_to(package)}:{line}"
        for file in package.rglob("*.py")
        if file.relative_to(package).parts[0] not in ("engine", "scenario")
        for line in subscripts_of_resolved(file.read_text("utf-8"))
    }
    assert found == set()


def test_subscript_of_a_resolved_scenario_is_found() -> None:
    keyed = ("resolved['a']", "job.resolved['a']", "resolved.document['a']")
    other = ("x.description.get('a')", "y['a']", "table.document['a']")
    assert subscripts_of_resolved("\n".join(keyed + other)) == [1, 2, 3, 4]


def switches_on_links(source: str) -> list[int]:
    """Return the lines that compare a kind with that of a link, or test the class of a link."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if is_switch_on_links(node)]


def is_switch_on_links(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
        names = {getattr(each, "attr", None) for each in ast.walk(node)}
        return bool(words & Link.registry.keys()) and bool({"kind"} & (words | names))
    if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "isinstance":
        names = {getattr(each, "attr", getattr(each, "id", None)) for each in ast.walk(node)}
        return bool(names & {each.__name__ for each in Link.registry.values()})
    return False


def test_properties_of_a_kind_of_link_are_in_its_class() -> None:
    package = ROOT / "python" / "airpath"
    found = {
        f"{file.relative_to(package)}:{line}"
        for file in package.rglob("*.py")
        if file.relative_to(package).parts[0] != "scenario"
        for line in switches_on_links(file.read_text("utf-8"))
    }
    assert found == set()


def test_switch_on_links_is_found() -> None:
    switches = (
        "link.kind == 'cell'",
        "link['kind'] in ('adaptive', 'mimo')",
        "link.get('kind') != 'trace'",
        "isinstance(link, link.Mimo)",
    )
    other = ("source.window == 'fixed'", "isinstance(link, Link)", "link.kind == 'other'")
    assert switches_on_links("\n".join(switches + other)) == [1, 2, 3, 4]


def test_each_link_has_its_properties() -> None:
    """A kind of link without own properties has those of the base: no series, no trace."""
    found = {kind: ResolvedLink({"kind": kind}) for kind in Link.registry}
    assert {kind: sorted(link.series) for kind, link in found.items() if link.series} == {
        "multi-regime": ["regime"],
        "adaptive": ["mcs", "regime"],
        "cell": ["snr"],
    }
    assert {kind: link.trace_format for kind, link in found.items() if link.trace_format} == {
        "trace": "mahimahi",
        "rate-trace": "csv",
    }
    assert Link.all_series() == {"regime", "mcs", "snr"}


def test_links_report_their_rates_regimes_and_slots() -> None:
    regimes = [{"rate_bps": 3, "per": 0.0}, {"rate_bps": 9, "per": 0.1}]
    multi = ResolvedLink({"kind": "multi-regime", "thresholds": [20], "regimes": regimes})
    assert (multi.known_rates_bps, multi.largest_rate_bps) == ([3.0, 9.0], 9.0)
    assert multi.regime_boundaries == [20]
    assert multi.regime_labels(lambda: None) == ["3 bit/s", "9 bit/s"]
    cell = ResolvedLink({"kind": "cell", "slot_ns": 1000, "rate": {"cap_bps": 7}})
    assert (cell.known_rates_bps, cell.largest_rate_bps, cell.slots(5000)) == ([], 7.0, 5.0)
    trace = ResolvedLink({"kind": "trace", "trace": "a"})
    assert (trace.known_rates_bps, trace.largest_rate_bps, trace.slots(5000)) == ([], 0.0, 0.0)

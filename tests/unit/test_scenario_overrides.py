"""Replaced values: the overrides of `load`, and `Scenario.replace`."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.errors import OverrideWarning
from airpath.scenario import loads

LTE = """
name = "lte"
duration = "140 s"
warmup = "10 s"
[bottleneck.aqm]
kind = "droptail"
limit = "500 packets"
[bottleneck.link]
kind = "fixed"
rate = "5 Mbit/s"
delay = "20 ms"
[[flows]]
count = 2
cc = "newreno"
base_rtt = "60 ms"
tcp = {receive_window = "500 kB", min_rto = "200 ms"}
[[flows]]
base_rtt = "60 ms"
size = {exponential = "100 kB"}
"""
Given = dict[str, Any] | list[tuple[str, Any]]


def changed(given: Given, lost: str | None = None) -> ap.Scenario:
    """Return the scenario with overrides, after a check of the warning: the overrides drop `lost`;
    no warning if None.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = loads(LTE, place="lte.toml", overrides=given)
    messages = [str(warning.message) for warning in caught]
    assert messages == ([] if lost is None else [f"overrides: {lost}."])
    assert all(warning.category is OverrideWarning for warning in caught)
    return found


# --- kept values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"bottleneck.aqm": "droptail"},
        {"bottleneck.aqm": '{kind = "droptail"}'},
        {"bottleneck.aqm.kind": "droptail"},
        {"bottleneck": {"aqm": "droptail"}},
        [("bottleneck.aqm", "codel"), ("bottleneck.aqm", "droptail")],
    ],
)
def test_component_given_by_name_keeps_the_buffer(given: Given) -> None:
    # Regression: it became the default of 100 packets, so AQMs with different buffers were
    # compared.
    assert changed(given).bottleneck.aqm == ap.aqm.DropTail(limit=ap.units.Packets(500))


@pytest.mark.parametrize("kind", ["codel", "pie", "fq-codel", "red", "ared", "sbd", "rlc-red"])
def test_replaced_component_keeps_common_keys(kind: str) -> None:
    assert changed({"bottleneck.aqm": kind}).bottleneck.aqm.limit == 500  # type: ignore[attr-defined]


def test_keys_missing_in_the_new_component_are_reported() -> None:
    lost = 'bottleneck.aqm = "gred": drops bottleneck.aqm.limit = "500 packets"'
    assert changed({"bottleneck.aqm": "gred"}, lost).bottleneck.aqm == ap.aqm.Gred()
    lost = 'flows.0.source = "cbr": drops flows.0.cc = "newreno", flows.0.tcp = '
    lost += '{receive_window = "500 kB", min_rto = "200 ms"}'
    group = changed([("flows.0.source", "cbr"), ("flows.0.rate", "1 Mbit/s")], lost).flows[0]
    assert (group.count, group.base_rtt) == (2, 60_000_000)


def test_values_rejected_by_the_new_component_are_reported() -> None:
    limit = ("bottleneck.aqm.limit", "150 kB")
    lost = 'bottleneck.aqm = "codel": drops bottleneck.aqm.limit = "150 kB"'
    assert changed([limit, ("bottleneck.aqm", "codel")], lost).bottleneck.aqm == ap.aqm.CoDel()
    link = '{kind = "rlc-am", tti = "40 ms", delay = "50 ms"}'
    assert changed({"bottleneck.link": link}).bottleneck.link.rate == 5_000_000  # type: ignore[attr-defined]
    link = '{kind = "rlc-am", tti = "40 ms"}'
    with pytest.raises(ap.errors.ScenarioError, match="shorter than a TTI"):
        changed({"bottleneck.link": link, "bottleneck.link.delay": "25 ms"})


@pytest.mark.parametrize(
    ("first", "then", "key"),
    [
        ("{kind = 'ared', interval = '1 s'}", "codel", "interval"),
        ("{kind = 'codel', interval = '1 s'}", "ared", "interval"),
        ("{kind = 'sbd', alpha = 3}", "pie", "alpha"),
    ],
)
def test_key_with_another_meaning_is_not_kept(first: str, then: str, key: str) -> None:
    with pytest.warns(OverrideWarning, match=rf"drops bottleneck\.aqm\.{key} = "):
        found = loads(LTE, overrides=[("bottleneck.aqm", first), ("bottleneck.aqm", then)])
    assert key not in found.bottleneck.aqm.given()


def test_table_changes_only_the_keys_that_it_names() -> None:
    # Regression: `tcp={...}` removed the receive window without a warning.
    options = changed({"flows.0.tcp": '{recovery = "sack"}'}).flows[0].tcp  # type: ignore[attr-defined]
    assert (options.recovery, options.receive_window) == ("sack", 500_000)
    nested = changed({"flows": {"0": {"tcp": {"min_rto": "1 s"}}, "1": {"count": 3}}})
    assert nested.flows[0].tcp.min_rto == 10**9  # type: ignore[attr-defined]
    assert [group.count for group in nested.flows] == [2, 3]


def test_short_form_is_extended() -> None:
    # Regression: `aqm = "droptail"` was "not a table and has no limit".
    text = LTE.replace('[bottleneck.aqm]\nkind = "droptail"\nlimit = "500 packets"\n', "")
    text = text.replace("[bottleneck.link]", '[bottleneck]\naqm = "droptail"\n[bottleneck.link]')
    found = loads(
        text, overrides={"bottleneck.aqm.limit": "7 packets", "flows.0.cc.hystart": "off"}
    )
    assert found.bottleneck.aqm == ap.aqm.DropTail(limit=ap.units.Packets(7))
    assert found.flows[0].cc == ap.cc.NewReno(hystart="off")  # type: ignore[attr-defined]


def test_default_component_is_extended() -> None:
    found = changed({"ack_path": "reverse", "ack_path.aqm.limit": "5 packets"})
    assert found.ack_path == ap.ack_path.Reverse(aqm=ap.aqm.DropTail(limit=ap.units.Packets(5)))


def test_one_of_several_alternative_keys_replaces_the_others() -> None:
    lost = 'flows.1.size = {pareto = {shape = 1.2, smallest = "1 kB"}}: drops flows.1.size.'
    size = '{pareto = {shape = 1.2, smallest = "1 kB"}}'
    found = changed({"flows.1.size": size}, f'{lost}exponential = "100 kB"')
    assert found.flows[1].size == ap.traffic.RandomSize(pareto={"shape": 1.2, "smallest": "1 kB"})  # type: ignore[attr-defined]
    lost = 'flows.1.on_off = {burst = "1 kB", off = "1 s"}: drops flows.1.size = '
    found = changed(
        {"flows.1.on_off": {"burst": "1 kB", "off": "1 s"}}, f'{lost}{{exponential = "100 kB"}}'
    )
    assert found.flows[1].size is None  # type: ignore[attr-defined]


def test_component_object_replaces_the_whole_component() -> None:
    lost = 'bottleneck.aqm = {kind = "codel"}: drops bottleneck.aqm.limit = "500 packets"'
    assert changed({"bottleneck.aqm": ap.aqm.CoDel()}, lost).bottleneck.aqm == ap.aqm.CoDel()


@pytest.mark.parametrize(
    "given", [5, "duration", [("duration",)], [("a", "b", "c")], {5: "1 s"}, None]
)
def test_invalid_overrides_are_rejected(given: Any) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        loads(LTE, overrides=given)
    assert "not keys with their values. Use a mapping of dotted keys" in str(caught.value)
    with pytest.raises(ap.errors.BadValueError, match="replace"):
        loads(LTE).replace(given)


# --- messages ----------------------------------------------------------------------------------


def test_overrides_are_in_title_and_provenance(tmp_path: Path) -> None:
    found = changed({"bottleneck.aqm": "codel", "bottleneck.link.rate": "4 Mbit/s"})
    assert found.name == "lte"
    assert found.title == "lte (bottleneck.aqm = codel, bottleneck.link.rate = 4 Mbit/s)"
    result = ap.simulate(found.replace({"duration": "1 s", "warmup": "0 s"}), reps=1)
    # Regression: the title ended after 60 letters with *and 2 more*.
    everything = (
        "lte (bottleneck.aqm = codel, bottleneck.link.rate = 4 Mbit/s, "
        "duration = 1 s, warmup = 0 s)"
    )
    assert result.title == everything
    assert result.provenance["overrides"] == [
        "bottleneck.aqm = codel",
        "bottleneck.link.rate = 4 Mbit/s",
        "duration = 1 s",
        "warmup = 0 s",
    ]
    heading = " ".join(result.plot.pmf().get_suptitle().split())
    assert heading == f"{everything}: queue length at the bottleneck"
    long = changed({"name": "x" * 1000})
    assert long.title == f"{'x' * 1000} (name = {'x' * 193}…)"
    plain = ap.simulate(loads(LTE).model_copy(update={"duration": "11 s"}), reps=1)
    assert plain.title == "lte"
    assert "overrides" not in plain.provenance


# --- replace -----------------------------------------------------------------------------------


def test_replace_returns_a_new_checked_scenario() -> None:
    # Regression: `model_copy` accepted any text, and the engine received it.
    first = loads(LTE, place="lte.toml", directory=Path("somewhere"))
    second = first.replace("flows.0.cc", "cubic")
    assert first.flows[0].cc == ap.cc.NewReno()  # type: ignore[attr-defined]
    assert second.flows[0].cc == ap.cc.Cubic()  # type: ignore[attr-defined]
    assert (second.file, second.directory) == ("lte.toml", Path("somewhere"))
    assert second.title == "lte (flows.0.cc = cubic)"
    assert first.replace("duration", 20).duration == 20 * 10**9, (
        "a number from Python is in SI units"
    )
    assert first.replace("backhaul.delay", "5 ms").backhaul == ap.Wire(delay="5 ms")
    assert first.replace({"flows": {"0": {"cc": None}}}).flows[0].cc is None  # type: ignore[attr-defined]
    assert first.replace("flows", ap.flows(3, base_rtt="60 ms")).flows[0].count == 3
    assert second.replace("flows.0.cc", "reno").title == "lte (flows.0.cc = reno)"
    # Recording changes nothing on the path.
    assert second.replace("record.series", ["queue"]).title == "lte (flows.0.cc = cubic)"
    assert pickle.loads(pickle.dumps(second)).title == second.title


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("flows.0.c", "x"), 'replace: flows.0.c = "x": unknown key. The nearest is cc; '),
        (("flows.0.cc", "cubi"), 'replace: flows.0.cc = "cubi": not a congestion control. '),
        (("flows.2.cc", "reno"), "replace flows.2.cc=reno: flows has no entry 2. "),
        (("duration", "5 s"), 'lte.toml: warmup = "10 s": not below duration. '),
        (("duration",), 'replace: "duration": not a key with one value. '),
        (({"duration": 5}, 6), "replace: {duration = 5}: not a key with one value. "),
    ],
)
def test_replace_rejects_invalid_values(given: tuple[Any, ...], line: str) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        loads(LTE, place="lte.toml").replace(*given)
    assert str(caught.value).startswith(line)


def test_copy_is_checked() -> None:
    # Regression: a misspelt key was kept, and a wrong value was not checked.
    scenario = loads(LTE, place="lte.toml")
    for update in ({"durtion": "5 s"}, {"duration": "5 parsec"}, {"warmup": "200 s"}):
        with pytest.raises(ap.errors.ScenarioError, match=r"durtion|duration|warmup"):
            scenario.model_copy(update=update)
    copied = scenario.model_copy(update={"duration": "50 s"})
    assert (copied.duration, copied.file) == (50 * 10**9, "lte.toml")
    group = scenario.flows[0].model_copy(update={"return": {"rate": "1 Mbit/s"}})
    assert group.return_wire == ap.Wire(rate="1 Mbit/s")
    with pytest.raises(ap.errors.ScenarioError, match="recovery"):
        scenario.flows[0].model_copy(update={"tcp": ap.TcpConfig(recovery="reno")})
    assert scenario.model_copy() == scenario


def test_changed_default_limit_is_reported() -> None:
    """Regression: a drop-tail queue of 100 packets became one of 1000 without a warning."""
    text = LTE.replace('limit = "500 packets"\n', "")
    with pytest.warns(OverrideWarning) as caught:
        loads(text, place="lte.toml", overrides={"bottleneck.aqm": "codel"})
    expected = "overrides: bottleneck.aqm.limit is 1000 by default; it was 100 packets."
    assert [str(warning.message) for warning in caught] == [expected]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = {"bottleneck.aqm": "codel", "bottleneck.aqm.limit": 100}
        loads(text, place="lte.toml", overrides=given)

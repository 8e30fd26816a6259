"""Flows one by one from a resolved scenario that describes groups of them."""

from typing import Any

import pytest

from airpath.engine.flow_descriptions import FlowDescriptions, grouped

A, B, C = ({"group": group, "name": name} for group, name in ((0, "a"), (1, "b"), (1, "c")))
FLOWS: dict[str, Any] = {"flows": [A | {"count": 2}, B, C | {"count": 3}]}


def test_every_number_finds_its_entry() -> None:
    flows = FlowDescriptions(FLOWS)
    names = [flow["name"] for flow in flows]
    assert "".join(names) == "aabccc"
    assert [flows[number]["name"] for number in range(len(flows))] == names
    assert [flow["name"] for flow in flows[1:4]] == names[1:4]
    assert flows[-1]["name"] == "c"
    with pytest.raises(IndexError):
        flows[6]


def test_an_older_document_has_an_entry_for_each_flow() -> None:
    flows = FlowDescriptions({"flows": [A, A, B]})
    assert [flow["name"] for flow in flows] == ["a", "a", "b"]
    assert len(FlowDescriptions({"flows": []})) == 0


def test_groups_have_the_numbers_of_all_their_entries() -> None:
    assert grouped(FLOWS) == {0: [0, 1], 1: [2, 3, 4, 5]}

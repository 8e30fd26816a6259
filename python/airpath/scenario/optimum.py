"""Computes the MCS pair of the link-adaptation policy ``optimum`` when a scenario is resolved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airpath.errors import Problem, ScenarioError
from airpath.scenario.path import hops_of, links_of, main_hop
from airpath.scenario.policy import Optimum
from airpath.scenario.tables import read_table

if TYPE_CHECKING:
    from airpath.scenario.base import Path as KeyPath
    from airpath.scenario.link.base import Link
    from airpath.scenario.path import PathHop
    from airpath.scenario.scenario import Scenario

__all__ = ["has_optimum", "settle_optimum"]


def settle_optimum(resolved: dict[str, Any], files: Mapping[str, Path], scenario: Scenario) -> None:
    """Replace the policy ``optimum`` by the best MCS pair according to the fixed-point model.

    Parameters
    ----------
    resolved : dict
        The resolved scenario; modified if the link of its only hop has the policy.
    files : mapping of str to pathlib.Path
        Maps the engine's names of traces and tables to files.
    scenario : Scenario
        The scenario, for messages.

    Raises
    ------
    ScenarioError
        If no analytic model covers the scenario, or a link other than the bottleneck has the
        policy.
    """
    hops = hops_of(scenario)
    bottleneck = main_hop(hops)
    for hop in hops:
        for side in {side.link_at: side for side in reversed(hop.sides)}.values():
            if not _is_optimum(side.link):
                continue
            field = (*side.link_at, "policy", "kind")
            if hop is not bottleneck or side is not hop.down:
                what = "the fixed point that it needs is of the bottleneck's link alone"
                accepted = "Use another policy for this link"
                raise ScenarioError([Problem(scenario.file, field, "optimum", what, accepted)])
            _settle(_downlink(resolved, hop), resolved, files, (scenario.file, field))


def _downlink(resolved: Mapping[str, Any], hop: PathHop) -> dict[str, Any]:
    """Return the resolved form of the link of a hop in forward direction."""
    listed = {each["name"]: each["down"] for each in resolved.get("hops", ()) if "down" in each}
    down = listed[hop.name] if listed else resolved["bottleneck"]
    found: dict[str, Any] = down["link"]
    return found


def _settle(
    link: dict[str, Any],
    resolved: Mapping[str, Any],
    files: Mapping[str, Path],
    place: tuple[str | None, KeyPath],
) -> None:
    # The import is delayed because scenarios can be read without the engine.
    from airpath import _airpath

    try:
        texts = {link["table"]: read_table(link["table"], files[link["table"]])}
        # The result does not depend on recorded series, and the engine does not know all series.
        text = json.dumps({**resolved, "record": {**resolved["record"], "series": []}})
        below, above, _throughput_bps = _airpath.optimum_pair(text, texts)
    except ValueError as error:
        what = f"cannot be found: {'; '.join(str(error).splitlines())}"
        raise ScenarioError([Problem(place[0], place[1], "optimum", what)]) from None
    link["policy"] = {
        "kind": "dual-regime",
        "mcs_below": below,
        "mcs_above": above,
        "threshold": link["policy"]["threshold"],
    }


def has_optimum(scenario: Scenario) -> bool:
    """Return whether a scenario has a policy that `settle_optimum` replaces or rejects."""
    return any(_is_optimum(link) for _, link in links_of(scenario))


def _is_optimum(link: Link) -> bool:
    return isinstance(getattr(link, "policy", None), Optimum)

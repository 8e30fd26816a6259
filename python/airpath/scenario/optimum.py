"""Computes the MCS pair of the link-adaptation policy ``optimum`` when a scenario is resolved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airpath.errors import Problem, ScenarioError
from airpath.scenario.tables import read_table

__all__ = ["has_optimum", "settle_optimum"]

_POLICY = ("link", "policy")


def settle_optimum(resolved: dict[str, Any], files: Mapping[str, Path], place: str | None) -> None:
    """Replace the policy ``optimum`` by the best MCS pair according to the fixed-point model.

    Parameters
    ----------
    resolved : dict
        The resolved scenario; modified if its bottleneck has the policy.
    files : mapping of str to pathlib.Path
        Maps the engine's names of traces and tables to files.
    place : str or None
        The scenario's file, for messages.

    Raises
    ------
    ScenarioError
        If no analytic model covers the scenario, or a link other than the bottleneck has the
        policy.
    """
    if _is_optimum(resolved["ack_path"].get("link")):
        raise ScenarioError(
            [
                Problem(
                    place,
                    ("ack_path", *_POLICY, "kind"),
                    "optimum",
                    "the fixed point that it needs is of the bottleneck's link alone",
                    "Use another policy for this link",
                )
            ]
        )
    link = resolved["bottleneck"]["link"]
    if not _is_optimum(link):
        return
    # The import is delayed because scenarios can be read without the engine.
    from airpath import _airpath

    field = ("bottleneck", *_POLICY, "kind")
    try:
        texts = {link["table"]: read_table(link["table"], files[link["table"]])}
        # The result does not depend on recorded series, and the engine does not know all series.
        text = json.dumps({**resolved, "record": {**resolved["record"], "series": []}})
        below, above, _throughput_bps = _airpath.optimum_pair(text, texts)
    except ValueError as error:
        what = f"cannot be found: {'; '.join(str(error).splitlines())}"
        raise ScenarioError([Problem(place, field, "optimum", what)]) from None
    link["policy"] = {
        "kind": "dual-regime",
        "mcs_below": below,
        "mcs_above": above,
        "threshold": link["policy"]["threshold"],
    }


def has_optimum(resolved: Mapping[str, Any]) -> bool:
    """Return whether a resolved scenario has a policy that `settle_optimum` replaces or rejects."""
    return _is_optimum(resolved["bottleneck"]["link"]) or _is_optimum(
        resolved["ack_path"].get("link")
    )


def _is_optimum(link: Mapping[str, Any] | None) -> bool:
    return link is not None and link.get("policy", {}).get("kind") == "optimum"

"""TCP profiles: named sets of values for all TCP parameters.

A profile has, for each parameter, a value in the notation of a scenario file and the source of this
value. ``rfc`` follows the standards. ``ns3-2014`` is the classic Reno of ns-3.21, the release of
September 2014, with which the tables of qawla-2015 were produced. ``ns3`` follows ns-3.44 to
ns-3.48 with SACK. ``linux`` follows a Linux kernel, as far as the parameters allow. ``ns2`` is the
one-way Reno of ns-2 of 2006, with its defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, cast

from airpath.scenario.tcp.config import TcpConfig
from airpath.scenario.tcp.table import Needs, Option, holds, parameters, table
from airpath.scenario.tcp.values import SELECTIVE
from airpath.scenario.units import Segments, Size

__all__ = ["profile_config", "profiles", "unmet_needs"]


@cache
def profiles() -> Mapping[str, Mapping[str, Option]]:
    """Map the name of each profile to the value and the source of each parameter."""
    rows = parameters()
    return {
        profile: {name: row.profiles[profile] for name, row in rows.items()}
        for profile in table()["profiles"]
    }


def profile_config(
    profile: str, cc: str | None, recovery: str | None, overrides: TcpConfig
) -> TcpConfig:
    """Return all parameters: values of the profile, replaced by those of `cc` and `overrides`.

    The recovery of the profile is kept if it works with every congestion control. An override also
    replaces values of the profile that conflict with it.

    Parameters
    ----------
    profile : str
        A key of `profiles`.
    cc : str or None
        Congestion control that the user named, if any.
    recovery : str or None
        Recovery that the congestion control requires; None keeps the recovery of the profile.
    overrides : TcpConfig
        Values that the user set.
    """
    return _profile_config(profile, cc, recovery, tuple(overrides.document().items()))


@lru_cache(maxsize=1000)
def _profile_config(
    profile: str, cc: str | None, recovery: str | None, overrides: tuple[tuple[str, Any], ...]
) -> TcpConfig:
    """Return the result of `profile_config`. The result is cached: each flow and check needs it."""
    values = {name: option.value for name, option in profiles()[profile].items()}
    values |= table()["cc"].get(profile, {}).get(cc or "", {})
    if recovery is not None and values["recovery"] not in SELECTIVE:
        values["recovery"] = recovery
    given = dict(overrides)
    whole = values | given
    # A replacement can violate the requirements of another value, so repeat until none is unmet.
    while implied := {
        name: needs.otherwise for name, needs in unmet_needs(whole) if name not in given
    }:
        whole |= implied
    config = TcpConfig(**whole)
    if isinstance(config.initial_window, Segments):
        in_bytes = Size(min(Size.largest, config.initial_window * cast(Size, config.mss)))
        return TcpConfig(**(whole | {"initial_window": in_bytes}))
    return config


def unmet_needs(values: Mapping[str, Any]) -> Iterator[tuple[str, Needs]]:
    """Yield each parameter whose value has unmet requirements, with these requirements.

    Parameters
    ----------
    values : mapping of str to value
        Values of all parameters in the notation of a scenario file.
    """
    for name, row in parameters().items():
        needs = row.needs
        if needs is None or values[name] != needs.value:
            continue
        if not any(holds(condition, values) for condition in needs.any_of):
            yield name, needs

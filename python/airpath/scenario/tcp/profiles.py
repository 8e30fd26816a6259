"""TCP profiles: named columns of the table of TCP parameters.

A profile is data: the value of each parameter as a user would write it, and its source.
``rfc`` follows the standards. ``ns3-2014`` is the classic Reno of the ns-3 release current
in September 2014 (3.21), which the tables of qawla-2015 were made with. ``ns3`` is what the
releases 3.44 to 3.48 do with SACK. ``linux`` follows a Linux kernel, as far as the parameters go.
``ns2`` is the one-way Reno of ns-2 of 2006, with its defaults.
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
    """Return the profiles by name: the value and the source of each parameter."""
    rows = parameters()
    return {
        profile: {name: row.profiles[profile] for name, row in rows.items()}
        for profile in table()["profiles"]
    }


def profile_config(
    profile: str, cc: str | None, recovery: str | None, overrides: TcpConfig
) -> TcpConfig:
    """Return every parameter: the profile's, then those that `cc` brings, then the overrides.

    A profile whose recovery works with every congestion control keeps it. A value of the profile
    gives way to an override that excludes it.

    Parameters
    ----------
    profile : str
        A key of `profiles`.
    cc : str or None
        The congestion control, when the user named one.
    recovery : str or None
        The recovery that it requires; None leaves it to the profile.
    overrides : TcpConfig
        What the user set.
    """
    return _profile_config(profile, cc, recovery, tuple(overrides.document().items()))


@lru_cache(maxsize=1000)
def _profile_config(
    profile: str, cc: str | None, recovery: str | None, overrides: tuple[tuple[str, Any], ...]
) -> TcpConfig:
    """Return the same; kept, because every flow and every check of it requires one."""
    values = {name: option.value for name, option in profiles()[profile].items()}
    values |= table()["cc"].get(profile, {}).get(cc or "", {})
    if recovery is not None and values["recovery"] not in SELECTIVE:
        values["recovery"] = recovery
    given = dict(overrides)
    whole = values | given
    # A value that gives way may be what another one needs.
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
    """Yield each parameter whose value requires others that are not met.

    Parameters
    ----------
    values : mapping of str to value
        All parameters as a scenario file has them.
    """
    for name, row in parameters().items():
        needs = row.needs
        if needs is None or values[name] != needs.value:
            continue
        if not any(holds(condition, values) for condition in needs.any_of):
            yield name, needs

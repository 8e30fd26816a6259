"""Lists the TCP parameters that a kernel applies differently from the scenario."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from airpath.emulation.refusals import KERNEL
from airpath.engine.component import Component
from airpath.engine.flows import TcpParameters
from airpath.scenario.base import Context
from airpath.scenario.tcp.config import TcpConfig
from airpath.scenario.tcp.table import holds, parameters
from airpath.scenario.units import Duration, Size

__all__ = ["UnappliedParameter", "option_text", "unapplied_control_keys", "unapplied_options"]


class UnappliedParameter(NamedTuple):
    """A TCP parameter that a kernel applies differently from the scenario.

    Parameters
    ----------
    option : str
        Key in the group of flows of the scenario, for example ``tcp.min_rto``.
    asked : str
        Value in the scenario.
    kernel : str
        Behavior of the kernel.
    """

    option: str
    asked: str
    kernel: str


def unapplied_options(options: TcpParameters, control: str) -> Iterator[UnappliedParameter]:
    """Yield the parameters that have no kernel setting and differ from the kernel's behavior.

    Parameters
    ----------
    options : TcpParameters
        The TCP parameters of a flow.
    control : str
        Kernel name of the congestion control.
    """
    values = {**options.values, "cc": control}
    for name, row in parameters().items():
        kernel, value = row.kernel, options.get(row.resolved)
        is_same = value in _same(name) or (
            kernel.same_from is not None and value is not None and value >= kernel.same_from
        )
        applies = holds(kernel.when, values)
        applies = applies and not (kernel.unless and holds(kernel.unless, values))
        if kernel.does and applies and not is_same:
            yield UnappliedParameter(f"tcp.{name}", option_text(name, value), kernel.does)


@cache
def _same(name: str) -> Sequence[Any]:
    """Return the values, in resolved form, that match the kernel's behavior."""
    row = parameters()[name]
    context = cast(Context, None)  # No parameter names a file.
    return [
        TcpConfig(**{name: value}).resolved(context, ()).get(row.resolved)
        for value in row.kernel.same
    ]


def unapplied_control_keys(control: Component, name: str) -> Iterator[UnappliedParameter]:
    """Yield the parameters of the congestion control whose value differs from the kernel's.

    Parameters
    ----------
    control : Component
        The congestion control algorithm of a flow.
    name : str
        Kernel name of the congestion control algorithm.
    """
    if control.kind == "cubic-ns3":
        yield UnappliedParameter("cc", "cubic, as ns-3 counts", "cubic, as the kernel counts")
    for key, default in KERNEL[name].items():
        asked = control.get(key, default)
        if asked is not None and asked != default:
            field, given = key.removesuffix("_ns"), type(default)(asked)
            yield UnappliedParameter(f"cc.{field}", str(given), str(default))


def option_text(name: str, value: Any) -> str:
    """Format the value of a TCP parameter as in a scenario file, without quotes.

    Parameters
    ----------
    name : str
        Key of the parameter in a scenario.
    value : object
        Value of the parameter in a resolved scenario.
    """
    kind = parameters()[name].type
    if isinstance(value, bool):
        return str(value).lower()
    if kind.startswith("time"):
        return str(Duration(value))
    if kind.startswith("size"):
        return str(Size(value))
    return str(value)

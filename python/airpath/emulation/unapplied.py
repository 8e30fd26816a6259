"""TCP parameters that a kernel does not apply as the scenario has them; results list them."""

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
    """A TCP parameter that a kernel does not apply as the scenario has it.

    Parameters
    ----------
    option : str
        Its key in the scenario, below the group of flows: ``tcp.min_rto``.
    asked : str
        What the scenario says.
    kernel : str
        What the kernel does.
    """

    option: str
    asked: str
    kernel: str


def unapplied_options(options: TcpParameters, control: str) -> Iterator[UnappliedParameter]:
    """Yield the parameters that a kernel has no setting for, where it does not do as asked.

    Parameters
    ----------
    options : TcpParameters
        The TCP parameters of a flow.
    control : str
        The kernel's congestion control.
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
    """Return the values for which a kernel does as asked, as a resolved scenario has them."""
    row = parameters()[name]
    context = cast(Context, None)  # No parameter names a file.
    return [
        TcpConfig(**{name: value}).resolved(context, ()).get(row.resolved)
        for value in row.kernel.same
    ]


def unapplied_control_keys(control: Component, name: str) -> Iterator[UnappliedParameter]:
    """Yield the defaults that differ between the kernel's and Airpath's congestion control.

    Parameters
    ----------
    control : Component
        The congestion control algorithm of a flow.
    name : str
        The kernel's.
    """
    if control.kind == "cubic-ns3":
        yield UnappliedParameter("cc", "cubic, as ns-3 counts", "cubic, as the kernel counts")
    for key, theirs in KERNEL[name].items():
        asked = control.get(key, theirs)
        if asked is not None and asked != theirs:
            yield UnappliedParameter(f"cc.{key}", str(asked), str(theirs))


def option_text(name: str, value: Any) -> str:
    """Return the value of a TCP parameter as a scenario would have it, without quotes.

    Parameters
    ----------
    name : str
        Its key in a scenario.
    value : object
        Its value in a resolved scenario.
    """
    kind = parameters()[name].type
    if isinstance(value, bool):
        return str(value).lower()
    if kind.startswith("time"):
        return str(Duration(value))
    if kind.startswith("size"):
        return str(Size(value))
    return str(value)

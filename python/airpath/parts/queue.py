"""Queue disciplines in Python: the default methods, and the decorator."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from airpath import _airpath
from airpath.parts.factory import make_component
from airpath.scenario.aqm.queues import DropTail, QueueDisc
from airpath.scenario.base import Context, Path, usual
from airpath.scenario.engine_problems import EngineProblem
from airpath.scenario.units import Packets
from airpath.scenario.values import QueueLimit

if TYPE_CHECKING:
    from airpath.parts.events import Arrival, Departure, LinkRate, QueueObservation, QueueSetup

__all__ = ["QueueDiscipline", "queue_discipline"]

_SIGNATURES = {
    "start": ("setup",),
    "on_arrival": ("arrival",),
    "on_overflow": ("arrival",),
    "on_departure": ("departure",),
    "on_timer": ("observation",),
    "on_rate": ("rate",),
    "probability": ("observation",),
}
"""Maps each method that the engine calls to the names of its arguments."""


class QueueDiscipline:
    """Default methods of a queue discipline in Python: a queue with a limit.

    A decorated class inherits these methods; the engine calls only those that the class defines.
    The engine stores the packets, first in, first out. An arrival that would exceed the key
    `limit` is dropped without a call of `on_arrival`. The methods decide about the other arrivals,
    and about the packets at the head.

    A marked packet that is not ECN-capable is dropped instead. A class defines at most one of
    `on_arrival` and `probability`.
    """

    always_marks: ClassVar[bool] = False
    """True if the discipline marks packets although it has no key `ecn`."""

    interval_ns: int = 15_000_000
    """Time between two calls of `probability`, ns; read after `start`."""
    next_wakeup_ns: int | None = None
    """Time of the next call of `on_timer`, ns; None for no call. Read after each method.

    The engine sets it to None before it calls `on_timer`.
    """

    def _begin(self, setup: QueueSetup) -> None:
        self.start(setup)

    def start(self, setup: QueueSetup) -> None:
        """Prepare for a queue."""

    def on_arrival(self, arrival: Arrival) -> str | None:
        """Decide about a packet that the limit admits.

        Returns
        -------
        decision : str or None
            None or ``"enqueue"``, ``"mark"``, ``"drop"`` (an early drop), ``"overflow"`` (a drop
            because the queue is full).
        """
        return None

    def on_overflow(self, arrival: Arrival) -> None:
        """Handle an arrival that the limit has dropped."""

    def on_departure(self, departure: Departure) -> str | None:
        """Decide about the packet at the head, which the link can send.

        Returns
        -------
        decision : str or None
            None or ``"send"``, ``"mark"``, ``"drop"``. After a drop, the method is called for the
            next packet.
        """
        return None

    def on_timer(self, observation: QueueObservation) -> None:
        """Handle the expiry of the timer at `next_wakeup_ns`."""

    def on_rate(self, rate: LinkRate) -> None:
        """Handle the rate of the link, at the start and after each change."""

    def probability(self, observation: QueueObservation) -> float:
        """Return the drop probability of arrivals, from 0 to 1, for the next interval.

        The method is called every `interval_ns`. If the object has an attribute `ecn` that is True,
        packets are marked instead of dropped.
        """
        return 0.0


class _Limited(QueueDisc):
    """Common keys of the queue disciplines in Python."""

    limit: QueueLimit = usual(Packets(100))

    @classmethod
    def adopted(cls, key: str, value: Any) -> Any:
        """Convert a limit of another discipline as drop-tail does."""
        return DropTail.adopted(key, value)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the limit is a table with its unit as the key."""
        entries = super().resolved(context, path)
        del entries["limit" + self.limit.key_suffix]
        return {**entries, "limit": self._resolved_limit()}

    def _resolved_limit(self) -> dict[str, int]:
        unit = "packets" if isinstance(self.limit, Packets) else "bytes"
        return {unit: int(self.limit)}

    def _engine_problems(self) -> list[EngineProblem]:
        """Return the problems of the limit, as for drop-tail."""
        queue = {"kind": "droptail", "limit": self._resolved_limit()}
        return _airpath.component_problems("aqm", json.dumps(queue))


def queue_discipline(name: str) -> Callable[[type], type[QueueDisc]]:
    """Return a decorator that makes a class a queue discipline.

    Parameters
    ----------
    name : str
        Value of the key `aqm` in scenarios: lower-case letters, digits and hyphens.

    Returns
    -------
    decorator : callable
        Returns the class of the scenario: ``Step(threshold=0.005)`` is a value of `aqm`. The
        annotated attributes of the decorated class are its keys; the values are checked. Each
        discipline also has the key `limit`, in packets or bytes. Default 100 packets.

    Raises
    ------
    TypeError
        By the decorator, if the name, a method or the type of a parameter is not accepted.

    Examples
    --------
    >>> import airpath as ap
    >>> @ap.queue_discipline("step")
    ... class Step:
    ...     threshold: float = 0.005
    ...     always_marks = True
    ...     def on_departure(self, departure):
    ...         if departure.sojourn > self.threshold:
    ...             return "mark"
    >>> Step(limit="200 packets").limit == ap.units.Packets(200)
    True
    """

    def decorate(cls: type) -> type[QueueDisc]:
        for key in ("limit", "limit_bytes"):
            if hasattr(cls, key) or key in getattr(cls, "__annotations__", {}):
                advice = "Each discipline has the key limit; use another name"
                raise TypeError(f"{cls.__name__}.{key}: not accepted. {advice}.")
        marks = getattr(cls, "always_marks", False)
        if not isinstance(marks, bool):
            advice = "Use True or False"
            raise TypeError(f"{cls.__name__}.always_marks = {marks!r}: not a bool. {advice}.")
        if _defines(cls, "on_arrival") and _defines(cls, "probability"):
            advice = "Define only one of on_arrival and probability"
            raise TypeError(f"{cls.__name__}: two methods decide about arrivals. {advice}.")
        options = {"always_marks": marks}
        return make_component(_Limited, QueueDiscipline, _SIGNATURES, name, cls, (), options)

    return decorate


def _defines(cls: type, method: str) -> bool:
    """Return whether a class defines a method, not only inherits the default."""
    own = getattr(cls, method, None)
    return own is not None and own is not getattr(QueueDiscipline, method)

"""What links share: their family, framing, retransmission, and facts that others ask about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from airpath.scenario.base import ABSENT, Component, Context, Maybe, Model, Path, fault, faults_at
from airpath.scenario.frame_errors import ErrorProcess
from airpath.scenario.link.retransmission import Arq, Harq
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Real, Truth

__all__ = ["Framing", "Link"]


class Framing(Model):
    """Bytes of a packet on the air; queue disciplines receive them with the link's nominal rate.

    A packet of L bytes takes ⌈⌈(L + `overhead`) / `block`⌉ · `block` / `code_rate`⌉ bytes.

    Parameters
    ----------
    overhead : Size
        Overhead of each IP packet, 0 to 65535 B. Default 0 B.
    block : Size
        Frames are filled up to whole blocks of this size, 1 to 65535 B. Default 1 B.
    code_rate : float
        Share of data in the transmitted bytes; the rest is parity. 0.001 to 1. Default 1.
    """

    overhead: Size = Size(0)
    block: Size = Size(1)
    code_rate: Real = 1.0


class Link(Component):
    """A link; `kind` says which. Its delay is one-way propagation, without transmission."""

    family = "a link"
    engine_family = "link"
    is_duplex: ClassVar[bool] = False
    """Whether it serves the reverse direction too, where ACKs take that."""
    has_stations: ClassVar[bool] = False
    """Whether the receivers are its stations, which request their uplink: ACKs must take its
    reverse direction, and all wires of a flow are between it and the sender."""

    series: ClassVar[frozenset[str]] = frozenset()
    """Recorded series that only some links write, and this one does."""
    trace_format: ClassVar[Literal["mahimahi", "csv"] | None] = None
    """Format of its trace; None for links without one."""
    key_labels = {
        "arq": "ARQ",
        "delay": "propagation delay",
        "errors": "error process",
        "file": "trace",
        "harq": "HARQ",
        "loss": "loss probability",
        "offset": "offset in the trace",
        "policy": "link adaptation",
        "rate": "link rate",
        "reverse_rate": "reverse link rate",
        "scheduler": "scheduler",
        "snr": "SNR process",
        "users": "users",
    }

    delay: Duration = Duration(0)
    errors: Maybe[ErrorProcess] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; without an error process, there is no such key.

        The propagation delay is not in it: it belongs to the hop.
        """
        entries = super().resolved(context, path)
        if self.errors is None:
            del entries["errors"]
        entries.pop("delay_ns", None)
        return entries

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the keys of a field of the engine; `frame_overhead` is an overhead alone."""
        if engine_path == "framing.overhead_bytes" and getattr(self, "framing", None) is None:
            return ["frame_overhead"]
        return super()._user_path(engine_path)

    @property
    def propagation(self) -> Duration:
        """The part of `delay` that is the hop's: all of it, unless the link applies it itself."""
        return self.delay

    @property
    def delay_back(self) -> Duration:
        """The delay of the reverse direction, for a link like this or for this one's own."""
        return self.delay

    @classmethod
    def all_series(cls) -> frozenset[str]:
        """Return the recorded series that only some links write."""
        classes = (each for each in cls.registry.values() if issubclass(each, Link))
        return frozenset().union(*(each.series for each in classes))

    # --- facts about the resolved form ---------------------------------------------------------

    @classmethod
    def known_rates_bps(cls, resolved: Mapping[str, Any]) -> list[float]:
        """Return the bit rate of each regime; one for a constant rate, none if it is not known."""
        return [float(resolved["rate_bps"])] if "rate_bps" in resolved else []

    @classmethod
    def latencies_ns(cls, resolved: Mapping[str, Any]) -> tuple[int, int]:  # noqa: ARG003
        """Return delays of its two directions that are not the delay of the hop, ns."""
        return 0, 0

    @classmethod
    def largest_rate_bps(cls, resolved: Mapping[str, Any]) -> float:
        """Return an upper bound of the bit rate, for estimates; 0 if there is none."""
        return max(cls.known_rates_bps(resolved), default=0.0)

    @classmethod
    def regime_boundaries(cls, resolved: Mapping[str, Any]) -> list[int]:  # noqa: ARG003
        """Return the packets waiting from which each further regime holds."""
        return []

    @classmethod
    def regime_labels(
        cls,
        resolved: Mapping[str, Any],  # noqa: ARG003
        table: Callable[[], str | None],  # noqa: ARG003
    ) -> list[str]:
        """Return a label of each regime; none if regimes differ in nothing that has a name.

        Parameters
        ----------
        resolved : mapping
            The resolved form.
        table : callable
            Returns the text of its error-rate table; None if that cannot be read.
        """
        return []

    @classmethod
    def slots(cls, resolved: Mapping[str, Any], duration_ns: int) -> float:  # noqa: ARG003
        """Return the slots of a run, each of which takes processor time; 0 without slots."""
        return 0.0

    @property
    def has_parity(self) -> bool:
        """Whether packets carry parity that a code of the link adds."""
        return False

    def uncorrected_code_rate(self, size: int) -> float | None:
        """Return the code rate of packets of a size, bytes, if their parity corrects nothing."""
        return None


class _FramedLink(Link):
    """A link that sends each packet in a separate frame; a base class."""

    frame_overhead: Size = Size(0)
    framing: Maybe[Framing] = ABSENT

    alternatives = (("frame_overhead", "framing"),)

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if self.framing is not None and "frame_overhead" in self.model_fields_set:
            wrong = fault("framing is given too", "Set the overhead only there")
            raise faults_at((("frame_overhead",), str(self.frame_overhead), wrong))

    def document(self) -> dict[str, Any]:
        """Return the table as plain values, quantities as text: what a TOML file would say."""
        entries = super().document()
        if self.framing is not None:
            del entries["frame_overhead"]
        return entries

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `frame_overhead` is written as framing."""
        framing = self.framing or Framing(overhead=self.frame_overhead)
        return with_framing(super().resolved(context, path), framing, context, path)


def with_framing(
    entries: dict[str, Any], framing: Framing, context: Context, path: Path
) -> dict[str, Any]:
    """Return the resolved form of a link; its framing replaces `frame_overhead`."""
    del entries["frame_overhead_bytes"]
    return {**entries, "framing": framing.resolved(context, (*path, "framing"))}


class _RepeatingLink(Link):
    """A link that can retransmit corrupted packets; a base class."""

    harq: Maybe[Harq] = ABSENT
    arq: Maybe[Arq] = ABSENT
    in_order: Maybe[Truth] = ABSENT

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if self.in_order is not None and self.harq is None and self.arq is None:
            wrong = fault("nothing is late without harq or arq", "Remove it, or write one")
            raise faults_at((("in_order",), self.in_order, wrong))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; what was not given has no key."""
        entries = super().resolved(context, path)
        for key in ("harq", "arq", "in_order"):
            if entries[key] is None:
                del entries[key]
        return entries

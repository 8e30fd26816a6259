"""Base classes of links, and the framing of packets."""

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
    """Framing of packets, which determines their size on the air.

    A packet of L bytes takes ⌈⌈(L + `overhead`) / `block`⌉ · `block` / `code_rate`⌉ bytes.

    Parameters
    ----------
    overhead : Size
        Overhead of each IP packet, 0 to 65535 B. Default 0 B.
    block : Size
        Size to whose multiples frames are padded, 1 to 65535 B. Default 1 B.
    code_rate : float
        Share of data in the transmitted bytes, 0.001 to 1; the rest is parity. Default 1.
    """

    overhead: Size = Size(0)
    block: Size = Size(1)
    code_rate: Real = 1.0


class Link(Component):
    """A link, selected by `kind`. Its `delay` is the one-way propagation delay."""

    family = "a link"
    engine_family = "link"
    is_duplex: ClassVar[bool] = False
    """True if the link can also serve the reverse direction as the ACK path."""
    has_stations: ClassVar[bool] = False
    """True if the receivers are stations of the link and request uplink capacity. ACKs must then
    traverse the reverse direction of the link, and all wires of a flow lie between link and
    sender."""

    series: ClassVar[frozenset[str]] = frozenset()
    """Link-specific series that can be recorded for this link."""
    trace_format: ClassVar[Literal["mahimahi", "csv"] | None] = None
    """File format of the trace; None for links without a trace."""
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
        """Return the resolved form. Without an error process, the form has no key `errors`.

        The form does not contain the propagation delay, because it is part of the hop's form.
        """
        entries = super().resolved(context, path)
        if self.errors is None:
            del entries["errors"]
        entries.pop("delay_ns", None)
        return entries

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; the overhead may be `frame_overhead`."""
        if engine_path == "framing.overhead_bytes" and getattr(self, "framing", None) is None:
            return ["frame_overhead"]
        return super()._user_path(engine_path)

    @property
    def propagation(self) -> Duration:
        """Propagation delay that the hop applies: `delay`, or 0 if the link itself applies it."""
        return self.delay

    @property
    def delay_back(self) -> Duration:
        """Propagation delay of the reverse direction, which may have its own value."""
        return self.delay

    @classmethod
    def all_series(cls) -> frozenset[str]:
        """Return the names of all link-specific series."""
        classes = (each for each in cls.registry.values() if issubclass(each, Link))
        return frozenset().union(*(each.series for each in classes))

    # --- facts about the resolved form ---------------------------------------------------------

    @classmethod
    def known_rates_bps(cls, resolved: Mapping[str, Any]) -> list[float]:
        """Return the bit rate of each regime: one element for a constant rate, empty if unknown."""
        return [float(resolved["rate_bps"])] if "rate_bps" in resolved else []

    @classmethod
    def latencies_ns(cls, resolved: Mapping[str, Any]) -> tuple[int, int]:  # noqa: ARG003
        """Return forward and reverse delay that the link adds to the delay of the hop, ns."""
        return 0, 0

    @classmethod
    def largest_rate_bps(cls, resolved: Mapping[str, Any]) -> float:
        """Return an upper bound of the bit rate, for estimates; 0 if no bound is known."""
        return max(cls.known_rates_bps(resolved), default=0.0)

    @classmethod
    def regime_boundaries(cls, resolved: Mapping[str, Any]) -> list[int]:  # noqa: ARG003
        """Return the queue length, packets, at which each regime after the first begins."""
        return []

    @classmethod
    def regime_labels(
        cls,
        resolved: Mapping[str, Any],  # noqa: ARG003
        table: Callable[[], str | None],  # noqa: ARG003
    ) -> list[str]:
        """Return the label of each regime; an empty list if no distinct labels exist.

        Parameters
        ----------
        resolved : mapping
            The resolved form.
        table : callable
            Function that returns the text of the error-rate table, or None if it cannot be read.
        """
        return []

    @classmethod
    def slots(cls, resolved: Mapping[str, Any], duration_ns: int) -> float:  # noqa: ARG003
        """Return the number of slots in a run, to estimate CPU time; 0 for links without slots."""
        return 0.0

    @property
    def has_parity(self) -> bool:
        """True if the link adds the parity of an error-correcting code to packets."""
        return False

    def uncorrected_code_rate(self, size: int) -> float | None:
        """Return the code rate for `size` bytes if the parity corrects no errors, else None."""
        return None


class _FramedLink(Link):
    """Base class of a link that sends each packet in a separate frame."""

    frame_overhead: Size = Size(0)
    framing: Maybe[Framing] = ABSENT

    alternatives = (("frame_overhead", "framing"),)

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if self.framing is not None and "frame_overhead" in self.model_fields_set:
            wrong = fault("framing is given too", "Set the overhead only there")
            raise faults_at((("frame_overhead",), str(self.frame_overhead), wrong))

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file; quantities are texts."""
        entries = super().document()
        if self.framing is not None:
            del entries["frame_overhead"]
        return entries

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `frame_overhead` is converted to framing."""
        framing = self.framing or Framing(overhead=self.frame_overhead)
        return with_framing(super().resolved(context, path), framing, context, path)


def with_framing(
    entries: dict[str, Any], framing: Framing, context: Context, path: Path
) -> dict[str, Any]:
    """Return the resolved form of a link, in which the framing replaces `frame_overhead`."""
    del entries["frame_overhead_bytes"]
    return {**entries, "framing": framing.resolved(context, (*path, "framing"))}


class _RepeatingLink(Link):
    """Base class of a link that can retransmit corrupted packets."""

    harq: Maybe[Harq] = ABSENT
    arq: Maybe[Arq] = ABSENT
    in_order: Maybe[Truth] = ABSENT

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if self.in_order is not None and self.harq is None and self.arq is None:
            wrong = fault("has no effect without harq or arq", "Remove it, or set one of them")
            raise faults_at((("in_order",), self.in_order, wrong))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; unset optional keys are omitted."""
        entries = super().resolved(context, path)
        for key in ("harq", "arq", "in_order"):
            if entries[key] is None:
                del entries[key]
        return entries

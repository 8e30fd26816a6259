"""Links that take packets from their queue and transmit them one by one, one class for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
)

from airpath.errors import Problem, ScenarioError
from airpath.scenario.base import (
    ABSENT,
    Context,
    ListOf,
    Model,
    Path,
    fault,
)
from airpath.scenario.link.base import _FramedLink, _RepeatingLink
from airpath.scenario.traffic.start import Uniform
from airpath.scenario.units import Duration, Rate, Size
from airpath.scenario.values import PacketCount, Real, Text

__all__ = [
    "DualRegime",
    "Fixed",
    "MultiRegime",
    "RateTrace",
    "Regime",
    "Trace",
]


class Fixed(_RepeatingLink, _FramedLink):
    """Link with a constant rate, a constant delay and independent losses.

    Parameters
    ----------
    rate : Rate
        Bit rate of frames (IP packet plus `frame_overhead`), above 0.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    errors : ErrorProcess, optional
        Errors in addition to `loss`. Default: none.
    loss : float
        Probability that a packet is lost after its transmission, in [0, 1]. Default 0.
    frame_overhead : Size
        Size added to each IP packet for its transmission time, 0 to 65535 B. Default 0 B: the rate
        counts IP packets.
    framing : Framing, optional
        Size of a packet on the air, instead of `frame_overhead`. Default: `frame_overhead` only.
    harq : Harq, optional
        Retransmission of corrupted packets by HARQ. Default: none.
    arq : Arq, optional
        Retransmission by ARQ, above HARQ. Default: none.
    in_order : bool, optional
        True: packets leave in the order of their first transmission, so that a retransmission
        blocks later packets. Requires `harq` or `arq`. Default: False.
    """

    kind: Literal["fixed"] = "fixed"
    rate: Rate = Field(examples=['"5 Mbit/s"'])
    loss: Real = 0.0


class Regime(Model):
    """One regime of a multi-regime link.

    Parameters
    ----------
    rate : Rate
        Bit rate of frames in this regime, above 0.
    per : float
        Packet error rate in this regime, in [0, 1]. Default 0.
    """

    rate: Rate = Field(examples=['"5 Mbit/s"'])
    per: Real = 0.0


class MultiRegime(_RepeatingLink, _FramedLink):
    """Rate and packet error rate depend on the queue length (qawla-2015 §2, any number of regimes).

    The number of waiting packets at the start of a transmission selects the regime; it excludes the
    packet in transmission. Regime j applies from ``thresholds[j - 1]`` waiting packets on.

    Parameters
    ----------
    thresholds : list of int
        Queue lengths at the boundaries between regimes, packets, each above 0, strictly ascending.
        For two regimes, the only boundary is B in qawla-2015.
    regimes : list of Regime
        Regimes in ascending queue length. There must be one regime more than thresholds.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    errors : ErrorProcess, optional
        Errors in addition to those of the regimes. Default: none.
    frame_overhead : Size
        Size added to each IP packet for its transmission time, 0 to 65535 B. Default 0 B; 2 B in
        the paper's simulator.
    framing : Framing, optional
        Size of a packet on the air, instead of `frame_overhead`. Default: `frame_overhead` only.
    harq : Harq, optional
        Retransmission of corrupted packets by HARQ. Default: none.
    arq : Arq, optional
        Retransmission by ARQ, above HARQ. Default: none.
    in_order : bool, optional
        True: packets leave in the order of their first transmission, so that a retransmission
        blocks later packets. Requires `harq` or `arq`. Default: False.
    """

    kind: Literal["multi-regime"] = "multi-regime"
    thresholds: ListOf[PacketCount] = Field(examples=["[20]"])
    regimes: ListOf[Regime] = Field(
        examples=['[{rate = "16 Mbit/s", per = 0.002}, {rate = "21 Mbit/s", per = 0.1}]']
    )

    series = frozenset({"regime"})

    @classmethod
    def known_rates_bps(cls, resolved: Mapping[str, Any]) -> list[float]:
        """Return the bit rate of each regime."""
        return [float(regime["rate_bps"]) for regime in resolved["regimes"]]

    @classmethod
    def regime_boundaries(cls, resolved: Mapping[str, Any]) -> list[int]:
        """Return the thresholds."""
        return list(resolved["thresholds"])

    @classmethod
    def regime_labels(
        cls,
        resolved: Mapping[str, Any],
        table: Callable[[], str | None],  # noqa: ARG003
    ) -> list[str]:
        """Return the rate of each regime."""
        return [str(Rate(regime["rate_bps"])) for regime in resolved["regimes"]]


def DualRegime(  # noqa: N802  (named as the class that it returns)
    *,
    rates: Sequence[str | float | Rate],
    pers: Sequence[float],
    threshold: int,
    delay: str | float | Duration = "0 s",
    frame_overhead: str | float | Size = "0 B",
) -> MultiRegime:
    """Create the dual-regime link of qawla-2015 §2: a `link.MultiRegime` with two regimes.

    Parameters
    ----------
    rates : pair of str, float or Rate
        r1 and r2: the rates below the threshold and from the threshold on. Floats are in bit/s.
    pers : pair of float
        PER1 and PER2, in [0, 1].
    threshold : int
        B, packets, above 0.
    delay : str, float or Duration
        D_F, the one-way propagation delay. A float is in seconds.
    frame_overhead : str, float or Size
        Size added to each IP packet for its transmission time. A float is in bytes.

    Raises
    ------
    ScenarioError
        If a value is not accepted, or `rates` and `pers` are not pairs.
    """
    return MultiRegime(
        thresholds=[threshold],
        regimes=[{"rate": rate, "per": per} for rate, per in _paired(rates, pers)],
        delay=delay,
        frame_overhead=frame_overhead,
    )


def _paired(rates: Sequence[Any], pers: Sequence[Any]) -> list[tuple[Any, Any]]:
    for name, given in (("rates", rates), ("pers", pers)):
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            wrong = Problem("link.DualRegime", (name,), given, "not a pair", "Use two values")
            raise ScenarioError([wrong])
    return list(zip(rates, pers, strict=True))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _offset(value: Any, info: ValidationInfo) -> Duration | Uniform | Literal["random"] | None:
    if value is None:
        return None
    if isinstance(value, str) and value == "random":
        return "random"
    if isinstance(value, (Uniform, Mapping)):
        return Uniform.model_validate(value, context=info.context)
    if isinstance(value, str) and not value[:1].isdigit():
        raise fault(
            "not a position in the trace",
            'Use a duration, {uniform = ["0 s", "600 s"]} or "random"',
            '"30 s"',
        )
    return Duration._validate(value, info)


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    Offset = Takes[
        str | float | Mapping[str, Any] | Uniform | None, Duration | Uniform | str | None
    ]
else:
    Offset = Annotated[Duration | Uniform | str | None, PlainValidator(_offset)]


def _resolved_offset(
    offset: Duration | Uniform | str, context: Context, path: Path
) -> dict[str, Any]:
    if isinstance(offset, Uniform):
        return offset.engine_form(context, path)
    if isinstance(offset, Duration):
        return {"kind": "at", "time_ns": int(offset)}
    return {"kind": offset}


class _FromTrace(_FramedLink):
    file: Text = Field(examples=['"traces:Verizon-LTE-short.down"'])
    loss: Real = 0.0
    offset: Offset = ABSENT

    @field_validator("file")
    @classmethod
    def _names_a_file(cls, file: str) -> str:
        if not file.removeprefix("traces:"):
            raise fault(
                "names no file",
                "Use a path from the scenario file, or traces: and a name",
                '"traces:Verizon-LTE-short.down"',
            )
        return file

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; each kind of offset is a table there."""
        first, _, field = engine_path.partition(".")
        if first == "offset" and isinstance(self.offset, Uniform):
            return ["offset", *self.offset._user_path(field)]
        return ["offset"] if first == "offset" else super()._user_path(engine_path)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `trace` is the engine's name of the trace."""
        entries = super().resolved(context, path)
        for key in ("file", "offset", "offset_ns"):
            entries.pop(key, None)
        if self.offset:
            entries["offset"] = _resolved_offset(self.offset, context, path)
        return {**entries, "trace": context.trace_key(self.file, (*path, "file"))}


class Trace(_FromTrace):
    """Link with the delivery opportunities of a Mahimahi trace, repeated to the end of the run.

    Parameters
    ----------
    file : str
        Path of the trace, from the scenario file's directory; or ``traces:NAME`` for a file in the
        directory of recorded traces (see `airpath.scenario.traces`).
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    errors : ErrorProcess, optional
        Errors in addition to `loss`. Default: none.
    loss : float
        Probability that a packet is lost after its delivery opportunity, in [0, 1]. Default 0.
    offset : Duration, Uniform or "random", optional
        Position in the trace at which the run starts: a fixed time, a random time in each
        replication (``{uniform = ["0 s", "600 s"]}``), or any time of the trace. Random times are
        multiples of 1 ms. Times beyond the end of the trace continue in its repetition. Default:
        the start of the trace.
    frame_overhead : Size
        Size added to each IP packet, 0 to 65535 B. Default 4 B: Mahimahi's opportunities carry
        1504 bytes, a 1500-byte packet and the packet information of the TUN device.
    framing : Framing, optional
        Size of a packet on the air, instead of `frame_overhead`. Default: `frame_overhead` only.
    """

    kind: Literal["trace"] = "trace"
    trace_format = "mahimahi"
    frame_overhead: Size = Size(4)


class RateTrace(_RepeatingLink, _FromTrace):
    """Link with a piecewise-constant rate from a ``time_s,rate_bps`` CSV file, which is repeated.

    Parameters
    ----------
    file : str
        Path of the trace, from the scenario file's directory; or ``traces:NAME`` for a file in the
        directory of recorded traces (see `airpath.scenario.traces`).
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    errors : ErrorProcess, optional
        Errors in addition to `loss`. Default: none.
    loss : float
        Probability that a packet is lost after its transmission, in [0, 1]. Default 0.
    offset : Duration, Uniform or "random", optional
        Position in the trace at which the run starts: a fixed time, a random time in each
        replication (``{uniform = ["0 s", "600 s"]}``), or any time of the trace. Default: the start
        of the trace.
    frame_overhead : Size
        Size added to each IP packet for its transmission time, 0 to 65535 B. Default 0 B: the rate
        counts IP packets.
    framing : Framing, optional
        Size of a packet on the air, instead of `frame_overhead`. Default: `frame_overhead` only.
    harq : Harq, optional
        Retransmission of corrupted packets by HARQ. Default: none.
    arq : Arq, optional
        Retransmission by ARQ, above HARQ. Default: none.
    in_order : bool, optional
        True: packets leave in the order of their first transmission, so that a retransmission
        blocks later packets. Requires `harq` or `arq`. Default: False.
    """

    kind: Literal["rate-trace"] = "rate-trace"
    trace_format = "csv"

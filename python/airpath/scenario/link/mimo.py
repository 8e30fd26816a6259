"""The MIMO fading link: two states of the SNR, antennas, a modulation, a code of packets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, ValidationInfo, field_validator

from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Model,
    Path,
    as_missing,
    fault,
    faults_at,
)
from airpath.scenario.link.base import CodeRate, Link
from airpath.scenario.tcp.profiles import profile_config
from airpath.scenario.traffic.flows import TIMESTAMPS, Source, Tcp
from airpath.scenario.units import Size
from airpath.scenario.values import (
    Count,
    PositiveRate,
    Probability,
    _whole,
    choice,
    number_within,
)

__all__ = ["Mimo", "ReedSolomon", "SmallPackets"]

BITS = {
    "bpsk": 1,
    "qpsk": 2,
    "8psk": 3,
    "16psk": 4,
    "32psk": 5,
    "64psk": 6,
    "16qam": 4,
    "64qam": 6,
}
"""Bits of a modulation symbol by the name of the modulation."""

MOST_SYMBOLS = 65_535
"""Most symbols of a block."""

Level = Annotated[
    float, PlainValidator(number_within(-200.0, 200.0, "of dB from -200 to 200", "10"))
]
Offset = Annotated[float, PlainValidator(number_within(-200.0, 0.0, "of dB from -200 to 0", "-10"))]
Shape = Annotated[float, PlainValidator(number_within(0.5, 1000.0, "from 0.5 to 1000", "2"))]


def _one_or_two(tx: Any) -> int:
    if isinstance(tx, int) and tx > 2:
        raise fault(
            "beyond two transmitters no complex space-time block code has the full rate",
            "Write 1 or 2",
            "2",
        )
    return _whole(1, 2, 2)(tx)


class ReedSolomon(Model):
    """A Reed-Solomon code for each packet, by what it corrects (vcp-2008 §II.C).

    A packet of k symbols becomes b = round(k/`code_rate`) on the air, and is received when at most
    ⌊(b - k)/2⌋ of them are wrong. Without `max_block` a packet is one block, which beyond
    2^`symbol_bits` - 1 symbols no real code has.

    Parameters
    ----------
    kind : {"reed-solomon"}
        The code. Default reed-solomon.
    code_rate : float
        r, the share of data on the air, 0.001 to 1; 1 corrects nothing.
    symbol_bits : int
        Bits of a symbol, 1 to 16, a multiple of those of a modulation symbol. Default 8.
    max_block : int, optional
        Most symbols of a block, up to 2^`symbol_bits` - 1: longer packets are several blocks, one
        after the other, and lost with any of them. Default: one block for a packet.
    """

    kind: Annotated[str, choice("reed-solomon")] = "reed-solomon"
    code_rate: CodeRate = Field(examples=["0.93"])
    symbol_bits: Annotated[int, PlainValidator(_whole(1, 16, 8))] = 8
    max_block: Maybe[Count] = ABSENT

    @field_validator("max_block")
    @classmethod
    def _a_real_block(cls, max_block: int | None, info: ValidationInfo) -> int | None:
        if max_block is None or not {"symbol_bits", "code_rate"} <= set(info.data):
            return max_block
        symbol_bits, code_rate = info.data["symbol_bits"], info.data["code_rate"]
        longest = 2**symbol_bits - 1
        if max_block > longest:
            raise fault(
                f"above the {longest} symbols of {symbol_bits} bits that a code has",
                f"Write a whole number up to {longest}",
                str(longest),
            )
        _one_symbol_fits(code_rate, max_block)
        return max_block

    def block(self, size: int, code_rate: float | None = None) -> tuple[int, int]:
        """Return k and b of a packet, symbols.

        Parameters
        ----------
        size : int
            Bytes of the packet.
        code_rate : float, optional
            Another one than this.
        """
        data = -(-8 * size // self.symbol_bits)
        return data, _coded(data, code_rate or self.code_rate)

    def corrects(self, size: int, code_rate: float | None = None) -> int:
        """Return the fewest wrong symbols that a block of a packet may have, ⌊(b - k)/2⌋.

        Parameters
        ----------
        size : int
            Bytes of the packet.
        code_rate : float, optional
            Another one than this.
        """
        data, symbols = self.block(size, code_rate)
        blocks = max(1, -(-symbols // (self.max_block or symbols or 1)))
        # The last block has the fewest symbols of both kinds; the first may have one more of data.
        return min(
            (_share(symbols, blocks, number) - _share(data, blocks, number)) // 2
            for number in range(blocks)
        )


def _share(symbols: int, blocks: int, number: int) -> int:
    return symbols // blocks + (number < symbols % blocks)


def _coded(data: int, code_rate: float) -> int:
    return math.floor(data / code_rate + 0.5)


def _one_symbol_fits(code_rate: float, max_block: int) -> None:
    if (least := _coded(1, code_rate)) > max_block:
        raise fault(
            f"too short for one symbol of data at code_rate = {code_rate:g}",
            f"Write at least {least}",
        )


class SmallPackets(Model):
    """Another code rate for small packets: a link knows sizes, not kinds.

    Parameters
    ----------
    up_to : Size
        The largest of them, 1 to 65535 B.
    code_rate : float
        Their r, 0.001 to 1.
    """

    up_to: Size = Field(examples=['"128 B"'])
    code_rate: CodeRate = Field(examples=["0.5"])

    @field_validator("up_to")
    @classmethod
    def _a_packet(cls, up_to: Size) -> Size:
        if not Size(1) <= up_to <= Size(65535):
            raise fault("not the size of a packet", 'Write "1 B" to "65535 B"', '"128 B"')
        return up_to


class Mimo(Link):
    """A MIMO fading link with two states of the SNR and a code for each packet (vcp-2008 §II).

    The channel is good or bad, and may change with each modulation symbol. Antennas, fading,
    modulation and SNR give the share of symbols in error in each state; a packet without a code is
    lost with any of its symbols.

    Parameters
    ----------
    rate : Rate
        Bit rate of what is on the air, parity included, above 0.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    modulation : {"bpsk", "qpsk", "8psk", "16psk", "32psk", "64psk", "16qam", "64qam"}
        The constellation. Default bpsk.
    tx : int
        Transmitting antennas, 1 or 2.
    rx : int
        Receiving antennas, 1 to 8.
    snr_db : float
        SNR_G, the mean SNR of a receiving antenna in the good state, dB, -200 to 200.
    bad_snr_offset_db : float
        SNR_B less SNR_G, dB, -200 to 0. Default -10 (vcp-2008 §IV).
    p_good_to_bad : float
        1 - γ, the probability that a bad modulation symbol follows a good one, in [0, 1]. Default
        0.00125 (vcp-2008 §IV).
    p_bad_to_good : float
        1 - β, the probability that a good modulation symbol follows a bad one, in [0, 1]. Not 0
        where `p_good_to_bad` is. Default 0.125 (vcp-2008 §IV).
    fading : {"rayleigh", "rician", "nakagami"}
        How the amplitude of a branch fades. Default rayleigh (vcp-2008 §II.B).
    k_factor_db : float, optional
        K of Rician fading, the power of the line of sight over that of the rest, dB, -200 to 200.
    m : float, optional
        The shape of Nakagami fading, 0.5 to 1000; 1 is Rayleigh fading.
    fec : ReedSolomon, optional
        The code of packets. Default: none.
    small : SmallPackets, optional
        Another code rate for small packets. Default: that of `fec`.
    errors : ErrorProcess, optional
        What destroys packets beside the fading. Default: nothing.
    """

    kind: Literal["mimo"] = "mimo"
    rate: PositiveRate = Field(examples=['"10 Mbit/s"'])
    modulation: Annotated[str, choice(*BITS)] = "bpsk"
    tx: Annotated[int, PlainValidator(_one_or_two)] = Field(examples=["2"])
    rx: Annotated[int, PlainValidator(_whole(1, 8, 2))] = Field(examples=["2"])
    snr_db: Level = Field(examples=["30"])
    bad_snr_offset_db: Offset = -10.0
    p_good_to_bad: Probability = 0.00125
    p_bad_to_good: Probability = 0.125
    fading: Annotated[str, choice("rayleigh", "rician", "nakagami")] = "rayleigh"
    k_factor_db: Maybe[Level] = ABSENT
    m: Maybe[Shape] = ABSENT
    fec: Maybe[ReedSolomon] = ABSENT
    small: Maybe[SmallPackets] = ABSENT

    @field_validator("p_bad_to_good")
    @classmethod
    def _changes(cls, p_bad_to_good: float, info: ValidationInfo) -> float:
        if p_bad_to_good == 0 and info.data.get("p_good_to_bad") == 0:
            raise fault(
                "0 like p_good_to_bad: the state would never change",
                "Write a number above 0 for one of them",
                "0.125",
            )
        return p_bad_to_good

    @field_validator("k_factor_db", "m")
    @classmethod
    def _of_its_fading(cls, value: float | None, info: ValidationInfo) -> float | None:
        fading, key = info.data.get("fading"), info.field_name
        of = "rician" if key == "k_factor_db" else "nakagami"
        if value is None and fading == of:
            wrong = fault(
                f'fading = "{of}" needs it', f"Write {key} = {'2' if key == 'm' else '6'}"
            )
            raise as_missing(wrong)
        if value is not None and fading not in (of, None):
            raise fault(f'fading = "{fading}" has none', f'Write fading = "{of}", or leave it out')
        return value

    @field_validator("fec")
    @classmethod
    def _whole_modulation_symbols(
        cls, fec: ReedSolomon | None, info: ValidationInfo
    ) -> ReedSolomon | None:
        bits = BITS.get(info.data.get("modulation", ""), 1)
        if fec is not None and fec.symbol_bits % bits:
            wrong = fault(
                f"not a multiple of the {bits} bits of a symbol of {info.data['modulation']}",
                f"Write {bits} or a multiple up to 16",
                str(bits * (8 // bits)),
            )
            raise faults_at((("symbol_bits",), fec.symbol_bits, wrong))
        return fec

    @field_validator("small")
    @classmethod
    def _has_a_code(cls, small: SmallPackets | None, info: ValidationInfo) -> SmallPackets | None:
        if small is None or "fec" not in info.data:
            return small
        fec = info.data["fec"]
        if fec is None:
            raise fault("there is no fec", "Write fec too; its code_rate = 1 corrects nothing")
        if fec.max_block is not None and _coded(1, small.code_rate) > fec.max_block:
            wrong = fault(
                f"blocks of max_block = {fec.max_block} are too short for one symbol of data",
                "Write a larger code rate",
            )
            raise faults_at((("code_rate",), small.code_rate, wrong))
        return small

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; what was not given has no key."""
        entries = super().resolved(context, path)
        for key in ("k_factor_db", "m", "fec", "small"):
            if entries[key] is None:
                del entries[key]
        return entries

    def code_rate_of(self, size: int) -> float:
        """Return the code rate of packets of a size; 1 without a code.

        Parameters
        ----------
        size : int
            Bytes of a packet.
        """
        if self.small is not None and size <= self.small.up_to:
            return self.small.code_rate
        return 1.0 if self.fec is None else self.fec.code_rate

    def uncorrected_code_rate(self, size: int) -> float | None:
        """Return the code rate of packets of a size, bytes, if their parity corrects nothing."""
        rate = self.code_rate_of(size)
        if self.fec is None or rate == 1 or self.fec.corrects(size, rate) > 0:
            return None
        return rate


def block_faults(
    groups: Sequence[Source], links: Sequence[tuple[Path, Link | None]]
) -> list[tuple[Path, Any, Any]]:
    """Return which links make blocks that are too long of the largest packet, each with its place.

    Parameters
    ----------
    groups : sequence of Source
        The groups of flows.
    links : sequence of (path, Link)
        The links with their places.
    """
    largest = max(_largest_packet(group) for group in groups)
    wrong: list[tuple[Path, Any, Any]] = []
    for path, link in links:
        if not isinstance(link, Mimo) or link.fec is None or link.fec.max_block is not None:
            continue
        small = 0 if link.small is None else min(largest, int(link.small.up_to))
        for key, size in (("fec", largest if largest > small else 0), ("small", small)):
            rate = link.code_rate_of(size)
            _, symbols = link.fec.block(size, rate)
            if symbols > MOST_SYMBOLS:
                error = fault(
                    f"a packet of {size} B makes a block of {symbols} symbols, above "
                    f"{MOST_SYMBOLS}",
                    "Write max_block, a larger code rate or larger symbols",
                )
                wrong.append(((*path, key, "code_rate"), rate, error))
    return wrong


def _largest_packet(group: Source) -> int:
    if not isinstance(group, Tcp):
        return int(group.packet)  # type: ignore[attr-defined]
    options = profile_config(group.profile, None, None, group.tcp)
    stamps = TIMESTAMPS if options.timestamps else 0
    return int(options.mss + options.header + stamps)  # type: ignore[operator]

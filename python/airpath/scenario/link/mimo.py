"""The MIMO fading link with two SNR states and an error-correcting code for packets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from airpath import _airpath
from airpath.scenario.base import (
    ABSENT,
    Context,
    Maybe,
    Model,
    Path,
    fault,
)
from airpath.scenario.link.base import Link
from airpath.scenario.tcp.profiles import profile_config
from airpath.scenario.tcp.values import TIMESTAMPS
from airpath.scenario.traffic.flows import Tcp
from airpath.scenario.traffic.source import Source
from airpath.scenario.units import Rate, Size
from airpath.scenario.values import Number, Real, choice

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
"""Maps the name of a modulation to its bits per symbol."""


class ReedSolomon(Model):
    """A Reed-Solomon code for each packet, modelled by its correctable errors (vcp-2008 §II.C).

    A packet of k symbols is sent as b = round(k/`code_rate`) symbols. The packet is received if at
    most ⌊(b - k)/2⌋ of the b symbols are in error. Without `max_block`, a packet is a single block,
    even if it exceeds the limit of a real code, 2^`symbol_bits` - 1 symbols.

    Parameters
    ----------
    kind : {"reed-solomon"}
        The code. Default reed-solomon.
    code_rate : float
        r, the share of data in the transmitted symbols, 0.001 to 1. A code with r = 1 corrects no
        errors.
    symbol_bits : int
        Bits of a symbol, 1 to 16, a multiple of the bits of a modulation symbol. Default 8.
    max_block : int, optional
        Largest number of symbols in a block, up to 2^`symbol_bits` - 1. A longer packet is sent as
        several consecutive blocks and is lost if any block is lost. Default: one block per packet.
    """

    kind: Annotated[str, choice("reed-solomon")] = "reed-solomon"
    code_rate: Real = Field(examples=["0.93"])
    symbol_bits: Number = 8
    max_block: Maybe[Number] = ABSENT

    def blocks(self, size: int, code_rate: float | None = None) -> list[tuple[int, int, int]]:
        """Return the numbers of data symbols, symbols and correctable errors of each block.

        Parameters
        ----------
        size : int
            Bytes of the packet.
        code_rate : float, optional
            Code rate. Default: `code_rate`.

        Raises
        ------
        ValueError
            If a block exceeds the number of symbols that the engine supports.
        """
        rate = code_rate or self.code_rate
        code = _airpath.ReedSolomon.checked(rate, self.symbol_bits, self.max_block)
        return code.blocks(size)


class SmallPackets(Model):
    """Separate code rate for small packets, such as ACKs. Only the packet size decides.

    Parameters
    ----------
    up_to : Size
        Largest size of a packet with this code rate, 1 to 65535 B.
    code_rate : float
        Code rate r of these packets, 0.001 to 1.
    """

    up_to: Size = Field(examples=['"128 B"'])
    code_rate: Real = Field(examples=["0.5"])


class Mimo(Link):
    """A MIMO fading link with two states of the SNR and a code for each packet (vcp-2008 §II).

    The channel is in a good or a bad state and may change with each modulation symbol. Antennas,
    fading, modulation and SNR determine the symbol error rate in each state. A packet without a
    code is lost if any of its symbols is in error.

    Parameters
    ----------
    rate : Rate
        Bit rate on the air, including parity, above 0.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s.
    modulation : {"bpsk", "qpsk", "8psk", "16psk", "32psk", "64psk", "16qam", "64qam"}
        Modulation. Default bpsk.
    tx : int
        Transmitting antennas, 1 or 2.
    rx : int
        Receiving antennas, 1 to 8.
    snr_db : float
        SNR_G, the mean SNR of a receiving antenna in the good state, dB, -200 to 200.
    bad_snr_offset_db : float
        SNR_B minus SNR_G, dB, -200 to 0. Default -10 (vcp-2008 §IV).
    p_good_to_bad : float
        1 - γ, the probability that a bad modulation symbol follows a good one, in [0, 1]. Default
        0.00125 (vcp-2008 §IV).
    p_bad_to_good : float
        1 - β, the probability that a good modulation symbol follows a bad one, in [0, 1]. Not 0 if
        `p_good_to_bad` is 0. Default 0.125 (vcp-2008 §IV).
    fading : {"rayleigh", "rician", "nakagami"}
        Distribution of the amplitude of each branch. Default rayleigh (vcp-2008 §II.B).
    k_factor_db : float, optional
        K factor of Rician fading: power of the line of sight relative to the scattered power, dB,
        -200 to 200.
    m : float, optional
        Shape parameter of Nakagami fading, 0.5 to 1000; 1 is Rayleigh fading.
    fec : ReedSolomon, optional
        Error-correcting code of the packets. Default: none.
    small : SmallPackets, optional
        Separate code rate for small packets. Default: the code rate of `fec`.
    errors : ErrorProcess, optional
        Errors in addition to those of the fading. Default: none.
    """

    kind: Literal["mimo"] = "mimo"
    rate: Rate = Field(examples=['"10 Mbit/s"'])
    modulation: Annotated[str, choice(*BITS)] = "bpsk"
    tx: Number = Field(examples=["2"])
    rx: Number = Field(examples=["2"])
    snr_db: Real = Field(examples=["30"])
    bad_snr_offset_db: Real = -10.0
    p_good_to_bad: Real = 0.00125
    p_bad_to_good: Real = 0.125
    fading: Annotated[str, choice("rayleigh", "rician", "nakagami")] = "rayleigh"
    k_factor_db: Maybe[Real] = ABSENT
    m: Maybe[Real] = ABSENT
    fec: Maybe[ReedSolomon] = ABSENT
    small: Maybe[SmallPackets] = ABSENT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, without keys that are not set."""
        entries = super().resolved(context, path)
        for key in ("k_factor_db", "m", "fec", "small"):
            if entries[key] is None:
                del entries[key]
        return entries

    def code_rate_of(self, size: int) -> float:
        """Return the code rate of packets with a given size; 1 without a code.

        Parameters
        ----------
        size : int
            Bytes of the packet.
        """
        if self.small is not None and size <= self.small.up_to:
            return self.small.code_rate
        return 1.0 if self.fec is None else self.fec.code_rate

    @property
    def has_parity(self) -> bool:
        """True if packets carry parity of an error-correcting code."""
        return self.fec is not None

    def uncorrected_code_rate(self, size: int) -> float | None:
        """Return the code rate for `size` bytes if the parity corrects no errors, else None."""
        rate = self.code_rate_of(size)
        if self.fec is None or rate == 1:
            return None
        corrects = min(correctable for _, _, correctable in self.fec.blocks(size, rate))
        return None if corrects > 0 else rate


def block_faults(
    groups: Sequence[Source], links: Sequence[tuple[Path, Link | None]]
) -> list[tuple[Path, Any, Any]]:
    """Return a fault for each link on which the largest packets would need too long blocks.

    Parameters
    ----------
    groups : sequence of Source
        The groups of flows.
    links : sequence of (path, Link)
        The links with their paths in the scenario.
    """
    largest = max(_largest_packet(group) for group in groups)
    wrong: list[tuple[Path, Any, Any]] = []
    for path, link in links:
        if not isinstance(link, Mimo) or link.fec is None or link.fec.max_block is not None:
            continue
        small = 0 if link.small is None else min(largest, int(link.small.up_to))
        for key, size in (("fec", largest if largest > small else 0), ("small", small)):
            rate = link.code_rate_of(size)
            try:
                link.fec.blocks(size, rate)
            except ValueError as problem:
                what = str(problem).partition(": ")[2]
                accepted = "Set max_block, a larger code rate or larger symbols"
                wrong.append(((*path, key, "code_rate"), rate, fault(what, accepted)))
    return wrong


def _largest_packet(group: Source) -> int:
    if not isinstance(group, Tcp):
        return int(group.packet)  # type: ignore[attr-defined]
    options = profile_config(group.profile, None, None, group.tcp)
    stamps = TIMESTAMPS if options.timestamps else 0
    return int(options.mss + options.header + stamps)  # type: ignore[operator]

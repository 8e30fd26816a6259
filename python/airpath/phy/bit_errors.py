"""Model of bursty symbol errors, and failure probabilities of Reed–Solomon coded packets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from airpath import _airpath
from airpath.arguments import check_all, error_prefix, number, quantity, whole
from airpath.errors import BadValueError
from airpath.phy.arrays import within
from airpath.phy.symbol_errors import antennas_and_modulation
from airpath.scenario.units import Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Block", "ErrorChain", "ReedSolomon"]

_MOST_UNITS = 2**53
_MOST_COUNTED = 65_535
_MOST_SYMBOL_BITS = 16
_LARGEST_PACKET = 65_535
_LARGEST_DB = 200.0

_T = TypeVar("_T")


class Block(NamedTuple):
    """A Reed–Solomon block RS(b, k) of a packet.

    Parameters
    ----------
    data : int
        k, number of data symbols.
    symbols : int
        b, number of data and parity symbols.
    correctable : int
        t_C = ⌊(b − k)/2⌋, number of wrong symbols that can be corrected.
    """

    data: int
    symbols: int
    correctable: int


class ReedSolomon:
    """A Reed–Solomon code for packets, modelled by its correctable errors (vcp-2008 §II.C).

    Parameters
    ----------
    code_rate : float
        r, in (0, 1]: k symbols of a packet are sent as b = round(k/r) symbols.
    symbol_bits : int
        m, bits of a code symbol, from 1 to 16. Default 8.
    max_block : int, optional
        Largest number of symbols of a block, up to 2^m − 1. A packet is divided into as few blocks
        as possible, with k and b distributed as evenly as possible and larger blocks first.
        Default: one block per packet, which is an idealisation for more than 2^m − 1 symbols.

    Raises
    ------
    BadValueError
        If a value is outside its range, or a block is too short for a data symbol.

    Examples
    --------
    >>> from airpath.phy import ReedSolomon
    >>> ReedSolomon(0.93).blocks(1040)
    [Block(data=1040, symbols=1118, correctable=39)]
    """

    def __init__(
        self, code_rate: float, symbol_bits: int = 8, max_block: int | None = None
    ) -> None:
        bits = f"Use an integer from 1 to {_MOST_SYMBOL_BITS}"
        check_all(
            _in_unit_interval("code_rate", code_rate, above_0=True),
            whole("symbol_bits", symbol_bits, 1, _MOST_SYMBOL_BITS, bits),
        )
        longest = 2**symbol_bits - 1
        accepted = f"Use an integer from 1 to {longest}"
        if max_block is not None:
            check_all(whole("max_block", max_block, 1, longest, accepted))
        self.code_rate = float(code_rate)
        self.symbol_bits = int(symbol_bits)
        self.max_block = None if max_block is None else int(max_block)
        try:
            self._code = _airpath.ReedSolomon.checked(*self._arguments)
        except ValueError:  # all other errors were checked above
            raise BadValueError(
                f"{error_prefix('max_block', max_block)}: too short for a symbol of data "
                f"at code_rate = "
                f"{self.code_rate:g}. Use a larger one."
            ) from None

    def blocks(self, packet: str | int | Size) -> list[Block]:
        """Return the blocks of a packet in order of transmission.

        Parameters
        ----------
        packet : str, int or Size
            Size of the packet, ``"1040 B"``, from 1 to 65535 B; an int in bytes.

        Raises
        ------
        BadValueError
            If the size is outside its range, or a block would have more than 65535 symbols.
        """
        size = _packet(packet)
        return [Block(*block) for block in _coded(self._code.blocks, packet, size)]

    def on_air(self, packet: str | int | Size) -> int:
        """Return the number of bytes that a packet takes on the air, rounded up.

        Parameters
        ----------
        packet : str, int or Size
            Size of the packet, ``"1040 B"``, from 1 to 65535 B; an int in bytes.
        """
        return self._code.on_air(_packet(packet))

    @property
    def _arguments(self) -> tuple[float, int, int | None]:
        return self.code_rate, self.symbol_bits, self.max_block

    def __reduce__(self) -> tuple[Any, ...]:
        return ReedSolomon, self._arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReedSolomon) and self._arguments == other._arguments

    def __hash__(self) -> int:
        return hash(self._arguments)

    def __repr__(self) -> str:
        given = f"{self.code_rate:g}, symbol_bits={self.symbol_bits}, max_block={self.max_block}"
        return f"ReedSolomon({given})"


class ErrorChain:
    """Two-state Markov chain of the errors of single units (vcp-2008 eqs. 1 to 4).

    A unit is a modulation symbol; for BPSK, a unit is one bit. The chain makes a step before each
    unit.

    Parameters
    ----------
    p_good_to_bad : float
        1 − γ, probability that a bad unit follows a good one, in [0, 1].
    p_bad_to_good : float
        1 − β, probability that a good unit follows a bad one, in [0, 1]. Not 0 if `p_good_to_bad`
        is 0.
    error_good, error_bad : float
        ε_G and ε_B, probabilities that a unit in the good and the bad state is in error, in [0, 1].

    Raises
    ------
    BadValueError
        If a value is outside its range, or both transition probabilities are 0.

    Examples
    --------
    BPSK at 10 dB with 2×2 antennas, 0 dB in the bad state, and packets of 1040 bytes:

    >>> from airpath.phy import ErrorChain, ReedSolomon, symbol_error_rate
    >>> good, bad = (symbol_error_rate(snr_db, tx=2, rx=2) for snr_db in (10, 0))
    >>> chain = ErrorChain(0.00125, 0.125, good, bad)
    >>> print(f"{chain.packet_failure(8 * 1040):.3f}")
    0.971
    >>> print(f"{chain.coded_failure(1040, ReedSolomon(0.93)):.1e}")
    2.5e-17
    """

    def __init__(
        self, p_good_to_bad: float, p_bad_to_good: float, error_good: float, error_bad: float
    ) -> None:
        given = {
            "p_good_to_bad": p_good_to_bad,
            "p_bad_to_good": p_bad_to_good,
            "error_good": error_good,
            "error_bad": error_bad,
        }
        check_all(*(_in_unit_interval(name, value) for name, value in given.items()))
        if p_good_to_bad == 0 and p_bad_to_good == 0:
            raise BadValueError(
                f"{error_prefix('p_good_to_bad', p_good_to_bad)}: neither state is ever left. "
                "Use a "
                "probability above 0, or one for p_bad_to_good."
            )
        self.p_good_to_bad, self.p_bad_to_good = float(p_good_to_bad), float(p_bad_to_good)
        self.error_good, self.error_bad = float(error_good), float(error_bad)
        self._chain = _airpath.ErrorChain.checked(*self._arguments)

    @classmethod
    def from_doppler(
        cls,
        snr_db: float,
        threshold_db: float,
        doppler_hz: float,
        symbol_rate_hz: float,
        modulation: str = "bpsk",
        tx: int = 1,
        rx: int = 1,
    ) -> ErrorChain:
        """Create the chain for a Rayleigh fading channel, with one step per modulation symbol.

        The state is bad while the combined SNR of all branches is below the threshold. The mean
        durations of the states are computed from the level-crossing rate, and the error rates from
        the SNR distribution in each state. The mean error rate over the states equals the mean
        error rate of the fading channel.

        Parameters
        ----------
        snr_db : float
            Mean total SNR (of all transmitters) at a receiving antenna, dB, from -200 to 200.
        threshold_db : float
            Threshold of the combined SNR, whose mean is `rx` times the mean SNR; dB, from -200 to
            200.
        doppler_hz : float
            f_D, largest Doppler shift, Hz, above 0.
        symbol_rate_hz : float
            Modulation symbols per second, above 0.
        modulation : str
            ``"bpsk"``, ``"qpsk"``, ``"8psk"`` … ``"64psk"``, ``"16qam"`` or ``"64qam"``. Default
            ``"bpsk"``.
        tx : int
            Transmitting antennas, 1 or 2. Default 1.
        rx : int
            Receiving antennas, from 1 to 8. Default 1.

        Raises
        ------
        BadValueError
            If a value is outside its range, if the SNR never crosses the threshold, or if the mean
            duration of a state is less than a symbol.

        Examples
        --------
        Bursts of 8 bits in 808 at 10 Mbit/s over one branch require a Doppler shift of 50 kHz:

        >>> from airpath.phy import ErrorChain
        >>> chain = ErrorChain.from_doppler(10, -10.02, doppler_hz=50e3, symbol_rate_hz=10e6)
        >>> [round(symbols) for symbols in chain.mean_runs]
        [800, 8]
        """
        check_all(
            _one_within("snr_db", snr_db, _LARGEST_DB),
            _one_within("threshold_db", threshold_db, _LARGEST_DB),
            _one_positive("doppler_hz", doppler_hz),
            _one_positive("symbol_rate_hz", symbol_rate_hz),
            *antennas_and_modulation(tx, rx, modulation),
        )
        given = [float(value) for value in (snr_db, threshold_db, doppler_hz, symbol_rate_hz)]
        try:
            chain = _airpath.ErrorChain.from_doppler(given, modulation, (tx, rx))
        except ValueError as error:  # all other errors were checked above
            is_fast = str(error).startswith("doppler_hz")
            advice = "a lower shift, or a higher symbol rate" if is_fast else "another threshold"
            raise BadValueError(f"{error}. Use {advice}.") from None
        return cls(*chain.probabilities)

    @property
    def shares(self) -> tuple[float, float]:
        """Shares of units in the good and in the bad state."""
        return self._chain.shares

    @property
    def mean_runs(self) -> tuple[float, float]:
        """Mean run lengths of good and bad state, units; infinite if a state is never left."""
        return self._chain.mean_runs

    @property
    def error_rate(self) -> float:
        """Share of units in error."""
        return self._chain.error_rate

    def received(self, t: int) -> NDArray[np.float64]:
        """Return φ(t, r), the probability that r of t units are correct (eq. 1).

        Parameters
        ----------
        t : int
            Number of transmitted units, from 0 to 65535.

        Returns
        -------
        phi : ndarray, shape (t + 1,)
            Probabilities for r from 0 to t.
        """
        received: NDArray[np.float64] = self.received_by_state(t).sum(axis=1)
        return received

    def received_by_state(self, t: int) -> NDArray[np.float64]:
        """Return φ(t, r, state), where `state` is the state of the last unit (eqs. 2 to 4).

        Parameters
        ----------
        t : int
            Number of transmitted units, from 0 to 65535.

        Returns
        -------
        phi : ndarray, shape (t + 1, 2)
            Probabilities for r from 0 to t, and for the states good and bad.
        """
        accepted = f"Use an integer from 0 to {_MOST_COUNTED}"
        check_all(whole("t", t, 0, _MOST_COUNTED, accepted))
        return np.asarray(self._chain.received_by_state(t))

    def packet_failure(self, units: int) -> float:
        """Return the failure probability of an uncoded packet, which fails at any error.

        Parameters
        ----------
        units : int
            Number of units of the packet, from 1 to 2^53.
        """
        check_all(_from_1("units", units, _MOST_UNITS))
        return self._chain.packet_failure(units)

    def block_failure(self, b: int, correctable: int, symbol_units: int = 8) -> float:
        """Return the probability of more than `correctable` wrong symbols in a block.

        Parameters
        ----------
        b : int
            Number of symbols in the block, from 1 to 65535.
        correctable : int
            t_C, largest number of wrong symbols that can be corrected, from 0 to 65535.
        symbol_units : int
            Units per symbol, from 1 to 65535. Default 8, a byte of BPSK.
        """
        accepted = f"Use an integer from 0 to {_MOST_COUNTED}"
        check_all(
            _from_1("b", b, _MOST_COUNTED),
            whole("correctable", correctable, 0, _MOST_COUNTED, accepted),
            _from_1("symbol_units", symbol_units, _MOST_COUNTED),
        )
        return self._chain.block_failure(b, correctable, symbol_units)

    def coded_failure(
        self, packet: str | int | Size, code: ReedSolomon, bits_per_symbol: int = 1
    ) -> float:
        """Return the failure probability of a coded packet, which fails if any block fails.

        Parameters
        ----------
        packet : str, int or Size
            Size of the packet, ``"1040 B"``, from 1 to 65535 B; an int in bytes.
        code : ReedSolomon
            Code of the packet.
        bits_per_symbol : int
            Bits per modulation symbol, which is the unit of the chain. The number of bits of a code
            symbol must be a multiple of it. Default 1, BPSK.

        Raises
        ------
        BadValueError
            If a value is not accepted, or a block would have more than 65535 symbols.
        """
        is_code = isinstance(code, ReedSolomon)
        check_all(
            None if is_code else f"{error_prefix('code', code)}: not a code. Use a ReedSolomon.",
            _from_1("bits_per_symbol", bits_per_symbol, _MOST_SYMBOL_BITS),
        )
        if code.symbol_bits % bits_per_symbol:
            raise BadValueError(
                f"{error_prefix('bits_per_symbol', bits_per_symbol)}: does not divide the "
                f"{code.symbol_bits} bits of a code symbol. Use a divisor."
            )
        units, size = code.symbol_bits // bits_per_symbol, _packet(packet)

        def failure(packet_bytes: int) -> float:
            return self._chain.coded_failure(packet_bytes, code._code, units)

        return _coded(failure, packet, size)

    @property
    def _arguments(self) -> tuple[float, float, float, float]:
        return self.p_good_to_bad, self.p_bad_to_good, self.error_good, self.error_bad

    def __reduce__(self) -> tuple[Any, ...]:
        return ErrorChain, self._arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ErrorChain) and self._arguments == other._arguments

    def __hash__(self) -> int:
        return hash(self._arguments)

    def __repr__(self) -> str:
        return f"ErrorChain({', '.join(f'{value:g}' for value in self._arguments)})"


def _coded(coded: Callable[[int], _T], packet: object, size: int) -> _T:
    """Return the result of a code for a packet of `size` bytes."""
    try:
        return coded(size)
    except ValueError:  # all other errors were checked above
        raise BadValueError(
            f"{error_prefix('packet', packet)}: makes a block of more than "
            f"{_MOST_COUNTED} symbols. "
            "Use a smaller size, or set max_block of the code."
        ) from None


def _packet(packet: Any) -> int:
    size = int(quantity("packet", Size, packet))
    if not 1 <= size <= _LARGEST_PACKET:
        raise BadValueError(
            f"{error_prefix('packet', packet)}: out of range. Use a size from 1 B to "
            f"{_LARGEST_PACKET} B."
        )
    return size


def _from_1(name: str, value: Any, high: int) -> str | None:
    return whole(name, value, 1, high, f"Use an integer from 1 to {high}")


def _one_within(name: str, value: Any, high: float) -> str | None:
    return number(name, value, "10") or within(name, value, -high, high)


def _one_positive(name: str, value: Any) -> str | None:
    line = number(name, value, "100")
    if line is not None or value > 0:
        return line
    return f"{error_prefix(name, value)}: not above 0. Use a number above 0."


def _in_unit_interval(name: str, value: Any, above_0: bool = False) -> str | None:
    interval = "(0, 1]" if above_0 else "[0, 1]"
    line = number(name, value, "0.5")
    if line is not None or (0 <= value <= 1 and not (above_0 and value == 0)):
        return line
    return f"{error_prefix(name, value)}: not in {interval}. Use a number in {interval}."

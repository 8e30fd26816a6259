"""Symbol error rates of modulations over flat fading channels with several antennas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from airpath import _airpath
from airpath.arguments import check_all, display_name, error_prefix, number, whole, word
from airpath.errors import BadValueError
from airpath.phy.arrays import shaped, within

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FADINGS", "METHODS", "MODULATIONS", "antennas_and_modulation", "symbol_error_rate"]

MODULATIONS, FADINGS = (tuple(names) for names in _airpath.symbol_error_names())
METHODS = ("exact", "closed-form", "integral")
_LARGEST_DB = 1000.0
_MOST_RECEIVERS = 8
_MOST_K_FACTOR_DB = 100.0
_LEAST_M, _MOST_M = 0.5, 1000.0

Fading = Literal["rayleigh", "rician", "nakagami"]
Method = Literal["exact", "closed-form", "integral"]


@overload
def symbol_error_rate(
    snr_db: float,
    modulation: str = "bpsk",
    tx: int = 1,
    rx: int = 1,
    fading: Fading = "rayleigh",
    k_factor_db: float | None = None,
    m: float | None = None,
    method: Method = "exact",
) -> float: ...
@overload
def symbol_error_rate(
    snr_db: ArrayLike,
    modulation: str = "bpsk",
    tx: int = 1,
    rx: int = 1,
    fading: Fading = "rayleigh",
    k_factor_db: float | None = None,
    m: float | None = None,
    method: Method = "exact",
) -> float | NDArray[np.float64]: ...
def symbol_error_rate(
    snr_db: ArrayLike,
    modulation: str = "bpsk",
    tx: int = 1,
    rx: int = 1,
    fading: Fading = "rayleigh",
    k_factor_db: float | None = None,
    m: float | None = None,
    method: Method = "exact",
) -> float | NDArray[np.float64]:
    """Return the share of modulation symbols in error over flat fading [1]_ [2]_.

    A space-time block code has tx · rx independent branches, each with the SNR `snr_db` divided by
    tx. The receiver uses maximum-ratio combining.

    Parameters
    ----------
    snr_db : float or array_like
        Mean total SNR (of all transmitters) at a receiving antenna, dB, from -1000 to 1000.
    modulation : str
        ``"bpsk"``, ``"qpsk"``, ``"8psk"`` … ``"64psk"``, ``"16qam"`` or ``"64qam"``. Default
        ``"bpsk"``.
    tx : int
        Transmitting antennas, 1 or 2. Default 1.
    rx : int
        Receiving antennas, from 1 to 8. Default 1.
    fading : {"rayleigh", "rician", "nakagami"}
        Distribution of the amplitude of each branch. Default ``"rayleigh"``.
    k_factor_db : float, optional
        K factor of Rician fading: line-of-sight power relative to the scattered power, dB, from
        -100 to 100.
    m : float, optional
        Shape parameter m of Nakagami fading, from 0.5 to 1000; 1 is Rayleigh fading.
    method : {"exact", "closed-form", "integral"}
        ``"exact"``: relative accuracy of 1e-10. ``"closed-form"``: eq. 5 of [1]_, only for
        phase-shift keying over Rayleigh fading; its absolute accuracy is limited to 1e-14 by
        cancellation. ``"integral"``: numerical value of the integral that eq. 5 solves. Default
        ``"exact"``.

    Returns
    -------
    ser : float or ndarray
        Symbol error rate, in [0, 1], in the shape of `snr_db`.

    Raises
    ------
    BadValueError
        If a value is outside its range, a required parameter is missing, or a parameter belongs to
        another distribution of the fading.

    References
    ----------
    .. [1] H. Yousefi'zadeh, A. Habibi and W. Furmanski, "A Performance Comparison Study of
       End-to-End Congestion Control Protocols over MIMO Fading Channels", 2008, eq. 5.
    .. [2] M. K. Simon and M.-S. Alouini, "Digital Communication over Fading Channels", 2nd edition,
       2005, section 8.2 and chapter 9.

    Examples
    --------
    >>> from airpath.phy import symbol_error_rate
    >>> [f"{symbol_error_rate(10, tx=tx, rx=rx):.3e}" for tx, rx in [(1, 1), (2, 2)]]
    ['2.327e-02', '1.134e-04']
    """
    check_all(
        within("snr_db", snr_db, -_LARGEST_DB, _LARGEST_DB),
        *antennas_and_modulation(tx, rx, modulation),
        word("fading", fading, FADINGS),
        _parameter("k_factor_db", k_factor_db, (fading, "rician"), _MOST_K_FACTOR_DB),
        _parameter("m", m, (fading, "nakagami"), _MOST_M),
        word("method", method, METHODS),
    )
    values = np.asarray(snr_db, dtype=float)
    try:
        rates = _airpath.symbol_error_rates(
            values.ravel().tolist(), modulation, (tx, rx), (fading, k_factor_db, m), method
        )
    except ValueError:  # all other errors were checked above
        raise BadValueError(
            f"{error_prefix('method', method)}: of phase-shift keying over Rayleigh fading alone. "
            "Use "
            "exact or integral."
        ) from None
    return shaped(rates, values)


def antennas_and_modulation(tx: Any, rx: Any, modulation: Any) -> list[str | None]:
    """Return, for each argument, a one-line message if it is not accepted, else None."""
    antennas = f"Use an integer from 1 to {_MOST_RECEIVERS}"
    return [
        word("modulation", modulation, MODULATIONS),
        _transmitters(tx),
        whole("rx", rx, 1, _MOST_RECEIVERS, antennas),
    ]


def _transmitters(tx: Any) -> str | None:
    line = whole("tx", tx, 1, None, "Use 1 or 2")
    if line is not None or tx <= 2:
        return line
    return (
        f"{error_prefix('tx', tx)}: beyond two transmitters no complex space-time block code "
        "has the "
        "full rate. Use 1 or 2."
    )


def _parameter(name: str, value: Any, fading: tuple[Any, str], high: float) -> str | None:
    """Return a one-line message if a parameter is missing or does not fit the fading, else None."""
    given, owner = fading
    is_its = isinstance(given, str) and given == owner
    low = _LEAST_M if name == "m" else -high
    accepted = f"Use a number from {low:g} to {high:g}"
    if value is None:
        missing = f"{display_name(name)}: missing, of {owner} fading. {accepted}."
        return missing if is_its else None
    if not is_its:
        return f"{error_prefix(name, value)}: of {owner} fading alone. Remove it."
    return number(name, value, f"{high:g}") or within(name, value, low, high)

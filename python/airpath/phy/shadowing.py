"""Mean of a function of the SNR over log-normal shadowing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath import _airpath
from airpath.arguments import check_all, error_prefix, number
from airpath.errors import BadValueError
from airpath.phy.arrays import numbers, shaped, within

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["mean_over_shadowing"]

_LARGEST_DB = 200.0
_LARGEST_DEVIATION_DB = 40.0


def mean_over_shadowing(
    of: Callable[[NDArray[np.float64]], ArrayLike], snr_db: ArrayLike, deviation_db: float
) -> float | NDArray[np.float64]:
    """Return the mean of a function of the SNR over log-normal shadowing.

    The mean is computed with the trapezoidal rule over ±16 σ in steps of σ/16. For smooth
    functions, only rounding errors remain. A step function is shifted by up to half a step.

    Parameters
    ----------
    of : callable
        Function that returns its values at an array of SNRs, dB, such as `symbol_error_rate`. It is
        called with SNRs up to 16 σ from `snr_db`.
    snr_db : float or array_like
        Mean (and median) of the shadowed SNR in dB, from -200 to 200.
    deviation_db : float
        σ, standard deviation of shadowing, dB, from 0 to 40.

    Returns
    -------
    mean : float or ndarray
        Mean of the function, in the shape of `snr_db`.

    Raises
    ------
    BadValueError
        If a value is outside its range, or `of` does not return one value per SNR.

    Examples
    --------
    Symbol error rate with four branches, without shadowing and with σ = 8 dB:

    >>> from airpath.phy import mean_over_shadowing, symbol_error_rate
    >>> def rate(snr_db):
    ...     return symbol_error_rate(snr_db, tx=2, rx=2)
    >>> [f"{mean_over_shadowing(rate, 20, deviation_db):.1e}" for deviation_db in (0, 8)]
    ['2.0e-08', '9.6e-04']
    """
    check_all(
        None if callable(of) else f"{error_prefix('of', of)}: not a function. Use one of the SNR.",
        within("snr_db", snr_db, -_LARGEST_DB, _LARGEST_DB),
        number("deviation_db", deviation_db, "8")
        or within("deviation_db", deviation_db, 0, _LARGEST_DEVIATION_DB),
    )
    values = np.asarray(snr_db, dtype=float)
    levels_db, weights = map(np.asarray, _airpath.shadowing_levels(float(deviation_db)))
    at = values[..., np.newaxis] + levels_db
    found: Any = numbers(of(at))
    if found is None or found.shape != at.shape:
        raise BadValueError(
            f"{error_prefix('of', of)}: does not return a finite number for each SNR. "
            "Use a function "
            "that takes an array and returns one of its shape."
        )
    return shaped((found @ weights).ravel().tolist(), values)

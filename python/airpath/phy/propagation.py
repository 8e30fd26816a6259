"""Path loss, link budget, and signal-to-interference-and-noise ratio."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from airpath import _airpath
from airpath.arguments import check_all, error_prefix
from airpath.errors import BadValueError
from airpath.phy.arrays import positive, shaped, within

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["OutsideRangeWarning", "cost231_hata_db", "link_budget_snr_db", "sinr_db"]

_LARGEST_DB = 1000.0
_LARGEST_HZ = 1e12


class OutsideRangeWarning(UserWarning):
    """Warning about a value outside the range for which a formula was fitted."""


def cost231_hata_db(
    frequency_hz: ArrayLike,
    distance_m: ArrayLike,
    base_height_m: ArrayLike,
    mobile_height_m: ArrayLike,
    metropolitan: bool = False,
) -> float | NDArray[np.float64]:
    """Return the mean path loss in urban areas according to COST-231 Hata [1]_.

    Outside the ranges for which the formula was fitted, it is extrapolated, and an
    `OutsideRangeWarning` is issued. For example, the carrier frequency 2.5 GHz of 802.16e is above
    the limit of 2 GHz.

    Parameters
    ----------
    frequency_hz : float or array_like
        f, carrier frequency, Hz, above 0. Fitted from 1.5e9 to 2e9.
    distance_m : float or array_like
        d, distance between base station and mobile, m, above 0. Fitted from 1000 to 20000.
    base_height_m : float or array_like
        h_b, height of the base station's antenna above roof level, m, above 0. Fitted from 30 to
        200.
    mobile_height_m : float or array_like
        h_m, height of the mobile's antenna, m, above 0. Fitted from 1 to 10.
    metropolitan : bool
        True for a metropolitan centre, which adds 3 dB; False for a medium-sized city or a suburb.
        Default False.

    Returns
    -------
    loss : float or ndarray
        L, path loss, dB, in the broadcast shape of the arrays.

    Raises
    ------
    BadValueError
        If a value is not a finite number above 0, shapes do not match, or the formula gives a loss
        below that of free space.

    References
    ----------
    .. [1] COST Action 231, "Digital mobile radio towards future generation systems", final report
       EUR 18957, 1999, section 4.4.1.
    """
    is_truth = isinstance(metropolitan, (bool, np.bool_))
    given = {
        "frequency_hz": frequency_hz,
        "distance_m": distance_m,
        "base_height_m": base_height_m,
        "mobile_height_m": mobile_height_m,
    }
    check_all(
        *(positive(name, value) for name, value in given.items()),
        None
        if is_truth
        else f"{error_prefix('metropolitan', metropolitan)}: not a truth value. Use True or False.",
    )
    arrays = _together(given)
    frequency, distance, base, mobile = (array.ravel().tolist() for array in arrays)
    try:
        losses_db, outside = _airpath.cost231_hata_db(
            frequency, distance, base, mobile, bool(metropolitan)
        )
    except ValueError as error:
        raise BadValueError(f"{error}.") from None
    if outside:
        ranges = ", ".join(f"{name} from {low:g} to {high:g}" for name, low, high in outside)
        warnings.warn(
            f"COST-231 Hata was fitted for {ranges}; outside, its formula is continued.",
            OutsideRangeWarning,
            stacklevel=2,
        )
    return shaped(losses_db, arrays[0])


def link_budget_snr_db(
    transmit_power_dbm: ArrayLike,
    path_loss_db: ArrayLike,
    bandwidth_hz: ArrayLike,
    noise_figure_db: ArrayLike,
    *,
    transmit_gain_db: ArrayLike = 0.0,
    receive_gain_db: ArrayLike = 0.0,
    other_losses_db: ArrayLike = 0.0,
) -> float | NDArray[np.float64]:
    """Return the mean signal-to-noise ratio of a radio link.

    The noise is thermal noise at 290 K (-174 dBm/Hz), increased by the receiver's noise figure.

    Parameters
    ----------
    transmit_power_dbm : float or array_like
        Transmit power within the bandwidth, dBm, from -1000 to 1000.
    path_loss_db : float or array_like
        Path loss, for example from `cost231_hata_db`, dB, from -1000 to 1000.
    bandwidth_hz : float or array_like
        Bandwidth of the signal, Hz, above 0, to 1e12. For OFDM: the number of used subcarriers
        times their spacing, for example 841 times 10937.5 Hz for 802.16e at 10 MHz. If an uplink
        uses only some subcarriers, use the bandwidth of these; they carry the full power.
    noise_figure_db : float or array_like
        Noise figure of the receiver, dB, from 0 to 1000.
    transmit_gain_db, receive_gain_db : float or array_like
        Antenna gains minus cable losses, dBi, from -1000 to 1000. Default 0.
    other_losses_db : float or array_like
        Loss by walls and bodies, or an interference margin, dB, from -1000 to 1000. Default 0.

    Returns
    -------
    snr : float or ndarray
        SNR, dB, in the broadcast shape of the arrays.

    Raises
    ------
    BadValueError
        If a value is outside its range, or shapes do not match.
    """
    levels = {
        "transmit_power_dbm": transmit_power_dbm,
        "transmit_gain_db": transmit_gain_db,
        "receive_gain_db": receive_gain_db,
        "path_loss_db": path_loss_db,
        "other_losses_db": other_losses_db,
    }
    noise = {"bandwidth_hz": bandwidth_hz, "noise_figure_db": noise_figure_db}
    check_all(
        *(within(name, value, -_LARGEST_DB, _LARGEST_DB) for name, value in levels.items()),
        positive("bandwidth_hz", bandwidth_hz, _LARGEST_HZ),
        within("noise_figure_db", noise_figure_db, 0, _LARGEST_DB),
    )
    power, transmit, receive, path, other, bandwidth, figure = _together(levels | noise)
    budgets = np.stack([power, transmit, receive, path + other, bandwidth, figure], axis=-1)
    return shaped(_airpath.link_budget_snr_db(budgets.reshape(-1, 6).tolist()), power)


def sinr_db(snr_db: ArrayLike, *inr_db: ArrayLike) -> float | NDArray[np.float64]:
    """Return the signal-to-interference-and-noise ratio, SNR/(1 + Σ INR) in linear units.

    Interference is treated as noise of constant power.

    Parameters
    ----------
    snr_db : float or array_like
        Signal-to-noise ratio, dB, from -1000 to 1000.
    *inr_db : float or array_like
        Interference-to-noise ratio (INR) of each interferer, dB, from -1000 to 1000. For an
        interferer's link, `link_budget_snr_db` returns the INR.

    Returns
    -------
    sinr : float or ndarray
        SINR, dB, in the broadcast shape of the arrays.

    Raises
    ------
    BadValueError
        If a value is outside its range, or shapes do not match.

    Examples
    --------
    >>> from airpath.phy import sinr_db
    >>> print(f"{sinr_db(20, 0):.2f} {sinr_db(20, 0, 10):.2f}")
    16.99 9.21
    """
    given = {"snr_db": snr_db} | {f"inr_db[{place}]": inr for place, inr in enumerate(inr_db)}
    check_all(*(within(name, value, -_LARGEST_DB, _LARGEST_DB) for name, value in given.items()))
    signal, *interference = _together(given)
    of_each = zip(*(inrs_db.ravel().tolist() for inrs_db in interference), strict=True)
    inrs = [list(inrs_db) for inrs_db in of_each] if interference else [[]] * signal.size
    return shaped(_airpath.sinr_db(signal.ravel().tolist(), inrs), signal)


def _together(given: dict[str, Any]) -> tuple[NDArray[np.float64], ...]:
    arrays = [np.asarray(value, dtype=float) for value in given.values()]
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(
            f"{name} {array.shape}" for name, array in zip(given, arrays, strict=True) if array.ndim
        )
        raise BadValueError(f"shapes do not fit together: {shapes}.") from None

"""Many fixed points, and many choices of link adaptation policies, in one call of the engine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from airpath import _airpath

__all__ = ["ModelLink", "fixed_points", "policy_choices"]

ModelLink = tuple[Sequence[float], Sequence[tuple[float, float]]]
"""Thresholds, packets, and (rate, bit/s; packet error rate) of each regime."""


def fixed_points(
    links: Sequence[ModelLink],
    base_rtts_s: Sequence[Sequence[float]],
    gred: tuple[float, float, float],
    tcp: tuple[float, float, float],
    *,
    packet_bytes: int,
    threads: int | None,
) -> NDArray[np.float64]:
    """Solve the analytic model of each link with each set of flows: T, bit/s.

    Parameters
    ----------
    links : sequence of ModelLink
        The links.
    base_rtts_s : sequence of sequence of float
        Sets of flows: the base RTT of each flow, s.
    gred : (float, float, float)
        min_th and max_th, packets, and max_p.
    tcp : (float, float, float)
        The largest window, packets, the timeout, s, and the packets for each ACK.
    packet_bytes : int
        Of every packet.
    threads : int or None
        None is one for each core.

    Returns
    -------
    throughput_bps : ndarray, shape (links, sets of flows)
    """
    cores = threads or os.cpu_count() or 1
    found = _airpath.fixed_points(links, base_rtts_s, gred, tcp, packet_bytes, cores)
    return np.frombuffer(found, "<f8").reshape(len(links), len(base_rtts_s))


def policy_choices(
    policy: Mapping[str, Any], error_rates: str, snrs_db: Sequence[float], packet_bytes: int
) -> list[list[int]]:
    """Return the MCS that a link adaptation policy chooses in each regime, for each SNR."""
    return _airpath.policy_choices(json.dumps(policy), error_rates, snrs_db, packet_bytes)

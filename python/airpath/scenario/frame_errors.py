"""Error processes that decide which frames of a link are corrupted, one class for each."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from airpath.scenario.base import Component
from airpath.scenario.units import Duration
from airpath.scenario.values import Real

__all__ = ["Burst", "ErrorProcess", "GilbertElliott", "Independent"]


class ErrorProcess(Component):
    """An error process, selected by `kind`. Its losses are in addition to the loss of the link."""

    family = "an error process"
    engine_family = "errors"


class Independent(ErrorProcess):
    """Each packet is corrupted independently, with the same probability.

    Parameters
    ----------
    loss : float
        Probability that a packet is corrupted, in [0, 1].
    """

    kind: Literal["independent"] = "independent"
    loss: Real = Field(examples=["0.01"])


class GilbertElliott(ErrorProcess):
    """A two-state Markov chain of slots, good and bad, each with a loss probability.

    A packet is corrupted if any slot that it overlaps corrupts it.

    Parameters
    ----------
    p_good_to_bad : float
        Probability that a bad slot follows a good one, in [0, 1].
    p_bad_to_good : float
        Probability that a good slot follows a bad one, in [0, 1]. Not 0 if `p_good_to_bad` is 0.
    slot : Duration
        Duration of a step of the chain, above 0. Slots are counted from the start of the run.
    loss_good : float
        Probability that a good slot corrupts an overlapping packet, in [0, 1]. Default 0 (Gilbert
        1960).
    loss_bad : float
        Probability that a bad slot corrupts an overlapping packet, in [0, 1]. Default 1, as in the
        frame model of Zorzi et al. 1997. Gilbert 1960 uses 0.5 for bits.
    """

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    p_good_to_bad: Real = Field(examples=["0.01"])
    p_bad_to_good: Real = Field(examples=["0.1"])
    slot: Duration = Field(examples=['"10 ms"'])
    loss_good: Real = 0.0
    loss_bad: Real = 1.0


class Burst(ErrorProcess):
    """Error bursts with the durations of a moving receiver's fades (Chockalingam & Zorzi 1999).

    Slots are good or bad; a packet is corrupted if any slot that it overlaps is bad.

    Parameters
    ----------
    frame_error_rate : float
        ε, the share of slots that are bad, in [0, 1).
    doppler : float
        f_d T, the normalised Doppler frequency: Doppler frequency times slot, 1e-9 to 1e9. A lower
        value causes longer bursts.
    slot : Duration
        T, duration of a step of the chain, above 0. Default 10 ms, the radio frame of UMTS.
    """

    kind: Literal["burst"] = "burst"
    frame_error_rate: Real = Field(examples=["0.1"])
    doppler: Real = Field(examples=["0.01"])
    slot: Duration = Duration.parse("10 ms")

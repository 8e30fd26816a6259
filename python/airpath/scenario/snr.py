"""SNR processes, one class each: the signal-to-noise ratio of a radio link over time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from airpath.scenario.base import (
    ABSENT,
    Component,
    Context,
    Maybe,
    Path,
    as_missing,
    fault,
    faults_at,
)
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import Duration, Frequency, Length, Speed
from airpath.scenario.values import Real, Text, choice

__all__ = [
    "Beamforming",
    "Block",
    "Constant",
    "Jakes",
    "Rayleigh",
    "Rician",
    "Shadowed",
    "SnrProcess",
    "TappedDelayLine",
    "Trace",
]


SPEED_OF_LIGHT = 299_792_458.0
"""Speed of light in vacuum, m/s (exact, SI)."""


class SnrProcess(Component):
    """An SNR over time, chosen by `kind`. It does not depend on the traffic."""

    family = "an SNR process"
    engine_family = "snr"


class Constant(SnrProcess):
    """A constant SNR.

    Parameters
    ----------
    mean : Decibels
        The SNR, -200 dB to 200 dB.
    """

    kind: Literal["constant"] = "constant"
    mean: Decibels = Field(examples=['"15 dB"'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {"kind": self.kind, "mean_db": float(self.mean)}


class _Moving(SnrProcess):
    """An SNR that fades around its mean as the receiver moves."""

    mean: Decibels = Field(examples=['"15 dB"'])
    doppler: Maybe[Frequency] = Field(default=ABSENT, examples=['"10 Hz"'])
    speed: Maybe[Speed] = ABSENT
    carrier: Maybe[Frequency] = ABSENT

    alternatives = (("doppler", "speed"), ("doppler", "carrier"))

    def _check_alternatives(self) -> None:
        if self.doppler is None:
            for key in ("speed", "carrier"):
                if getattr(self, key) is None:
                    wanted = 'Set doppler = "10 Hz", or speed and carrier'
                    raise faults_at(((key,), None, as_missing(fault("missing", wanted))))
            return
        for key in ("speed", "carrier"):
            if getattr(self, key) is not None:
                wrong = fault("doppler is given too", "Set doppler, or speed and carrier")
                raise faults_at(((key,), str(getattr(self, key)), wrong))

    @property
    def doppler_hz(self) -> float:
        """The largest Doppler shift, Hz; computed as v f_c / c if it is not set."""
        if self.doppler is not None:
            return self.doppler.si()
        speed, carrier = self.speed or Speed(0), self.carrier or Frequency(0)
        return speed.si() * carrier.si() / SPEED_OF_LIGHT

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the Doppler shift."""
        entries = super().resolved(context, path)
        said = ("mean", "doppler", "speed", "carrier")
        others = {key: entries[key] for key in entries if key.partition("_")[0] not in said}
        return {**others, "mean_db": float(self.mean), "doppler_hz": self.doppler_hz}

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form with the speed and the carrier, if they are set."""
        form = self.resolved(context, path)
        if self.speed is None or self.carrier is None:
            return form
        del form["doppler_hz"]
        return {**form, "speed_mps": self.speed.si(), "carrier_hz": self.carrier.si()}


class Jakes(_Moving):
    """Flat Rayleigh fading as Jakes' sum of 20 oscillators.

    The Doppler shift is either set or follows from the speed of the receiver and the carrier.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    doppler : Frequency, optional
        f_d, the largest Doppler shift, 0 Hz to 100 kHz. Default: computed from `speed` and
        `carrier`.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s. Default: see `doppler`.
    carrier : Frequency, optional
        Carrier frequency, up to 1000 GHz. Default: see `doppler`.
    index : {"centred", "printed"}
        Index in the frequencies of the oscillators: ``"centred"``, n - 1/2; or ``"printed"``, n +
        1/2 as in the paper, with a mean power of 1.0988 times `mean`. Default ``"centred"``.
    """

    kind: Literal["jakes"] = "jakes"
    index: Annotated[str, choice("centred", "printed")] = "centred"


class Rayleigh(_Moving):
    """Flat Rayleigh fading with Clarke's spectrum: a receiver that moves among scatterers.

    The Doppler shift is either set or follows from the speed of the receiver and the carrier.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    doppler : Frequency, optional
        f_d, the largest Doppler shift, 0 Hz to 100 kHz. Default: computed from `speed` and
        `carrier`.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s. Default: see `doppler`.
    carrier : Frequency, optional
        Carrier frequency, up to 1000 GHz. Default: see `doppler`.
    """

    kind: Literal["rayleigh"] = "rayleigh"


class Rician(_Moving):
    """Flat Rician fading: a line-of-sight path and many reflections.

    The Doppler shift is either set or follows from the speed of the receiver and the carrier.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    doppler : Frequency, optional
        f_d, the largest Doppler shift, 0 Hz to 100 kHz. Default: computed from `speed` and
        `carrier`.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s. Default: see `doppler`.
    carrier : Frequency, optional
        Carrier frequency, up to 1000 GHz. Default: see `doppler`.
    k : Decibels
        K factor, line-of-sight power relative to the scattered power, -200 dB to 200 dB.
    angle_deg : float
        θ, the angle between the motion and the line of sight, degrees, from 0 to 180; the Doppler
        shift of the line of sight is f_d cos θ. Default 45.
    """

    kind: Literal["rician"] = "rician"
    k: Decibels = Field(examples=['"6 dB"'])
    angle_deg: Real = 45.0

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the Doppler shift and K in dB."""
        entries = super().resolved(context, path)
        del entries["k"]
        return {**entries, "k_db": float(self.k)}


class TappedDelayLine(_Moving):
    """Fading over the taps of a power delay profile; the receiver collects the energy of all taps.

    Each tap is Rayleigh fading with Clarke's spectrum, independent of the other taps; the SNR is
    the sum of their powers. The Doppler shift is either set or follows from the speed of the
    receiver and the carrier.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    doppler : Frequency, optional
        f_d, the largest Doppler shift, 0 Hz to 100 kHz. Default: computed from `speed` and
        `carrier`.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s. Default: see `doppler`.
    carrier : Frequency, optional
        Carrier frequency, up to 1000 GHz. Default: see `doppler`.
    profile : {"pedestrian-a", "pedestrian-b", "vehicular-a", "vehicular-b", "epa", "eva", "etu"}
        Delay profile: profiles of ITU-R M.1225; the last three are of 3GPP TS 36.104.
    """

    kind: Literal["tapped-delay-line"] = "tapped-delay-line"
    profile: Annotated[
        str,
        choice("pedestrian-a", "pedestrian-b", "vehicular-a", "vehicular-b", "epa", "eva", "etu"),
    ] = Field(examples=['"vehicular-a"'])


class Beamforming(_Moving):
    """Opportunistic beamforming: two antennas whose powers and phase change slowly.

    All users of a cell share the two antennas. Each user has independent channels, Rayleigh fading
    with Clarke's spectrum (Viswanath, Tse & Laroia 2002). The Doppler shift is either set or
    follows from the speed of the receiver and the carrier.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    doppler : Frequency, optional
        f_d, the largest Doppler shift, 0 Hz to 100 kHz. Default: computed from `speed` and
        `carrier`.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s. Default: see `doppler`.
    carrier : Frequency, optional
        Carrier frequency, up to 1000 GHz. Default: see `doppler`.
    period : Duration
        T, period in which the power moves from one antenna to the other and back, above 0. The
        period of the phase is 1.618 T.
    """

    kind: Literal["beamforming"] = "beamforming"
    period: Duration = Field(examples=['"300 ms"'])


class Shadowed(SnrProcess):
    """Log-normal shadowing of another SNR process, for example by hills and buildings.

    The shadowing is normal in dB, with a correlation that decreases exponentially with the distance
    travelled (Gudmundson 1991). The mean of the inner process is the median over the shadowing.

    Parameters
    ----------
    deviation : Decibels
        σ, the standard deviation of the shadowing, 0 dB to 30 dB.
    correlation_distance : Length, optional
        d, distance after which the correlation is 1/e, above 0. Required unless `correlation_time`
        is set.
    speed : Speed, optional
        Speed of the receiver, 0 m/s to 10000 m/s; at 0 m/s the shadowing is constant. Default: see
        `correlation_distance`.
    correlation_time : Duration, optional
        Time after which the correlation is 1/e, above 0; replaces `correlation_distance` and
        `speed`. Default: the distance divided by the speed.
    inner : SnrProcess
        The process without shadowing, any except `snr.Shadowed`. Its random stream is the same as
        without shadowing.
    """

    kind: Literal["shadowed"] = "shadowed"
    deviation: Decibels = Field(examples=['"8 dB"'])
    correlation_distance: Maybe[Length] = Field(default=ABSENT, examples=['"50 m"'])
    speed: Maybe[Speed] = Field(default=ABSENT, examples=['"1 m/s"'])
    correlation_time: Maybe[Duration] = ABSENT
    inner: SnrProcess = Field(examples=['{kind = "constant", mean = "15 dB"}'])

    engine_keys = {
        "correlation_ns": "correlation_time",
        "correlation_m": "correlation_distance",
    }
    alternatives = (("correlation_distance", "correlation_time"), ("speed", "correlation_time"))

    def _check_alternatives(self) -> None:
        for key in ("correlation_distance", "speed"):
            value = getattr(self, key)
            if value is None and self.correlation_time is None:
                wanted = 'Set correlation_distance = "50 m" and speed, or correlation_time'
                raise faults_at(((key,), None, as_missing(fault("missing", wanted))))
            if value is not None and self.correlation_time is not None:
                wanted = "Set correlation_time, or correlation_distance and speed"
                wrong = fault(f"{key} is given too", wanted)
                raise faults_at((("correlation_time",), str(self.correlation_time), wrong))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form, with the resolved form of the inner process."""
        resolved: dict[str, Any] = {"kind": self.kind, "deviation_db": float(self.deviation)}
        if self.correlation_time is not None:
            resolved["correlation_ns"] = int(self.correlation_time)
        if self.correlation_distance is not None:
            resolved["correlation_m"] = self.correlation_distance.si()
        if self.speed is not None:
            resolved["speed_mps"] = self.speed.si()
        return {**resolved, "inner": self.inner.resolved(context, (*path, "inner"))}


class Block(SnrProcess):
    """Rayleigh fading that is constant during a block and independent between blocks.

    Parameters
    ----------
    mean : Decibels
        Mean SNR, -200 dB to 200 dB.
    coherence : Duration, optional
        Length of a block, above 0. Default: a slot of the link; required for a link without slots.
    """

    kind: Literal["block"] = "block"
    mean: Decibels = Field(examples=['"6 dB"'])
    coherence: Maybe[Duration] = Field(default=ABSENT, examples=['"5 ms"'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; the link's slot replaces an absent coherence time."""
        resolved: dict[str, Any] = {"kind": self.kind, "mean_db": float(self.mean)}
        if self.coherence is not None:
            resolved["coherence_ns"] = int(self.coherence)
        return resolved


class Trace(SnrProcess):
    """Stepwise SNR from a ``time_s,snr_db`` CSV, repeated to the end of the run.

    Parameters
    ----------
    file : str
        Path of the CSV, from the scenario file's directory; or ``traces:NAME`` for a file in the
        directory of recorded traces (see `airpath.scenario.traces`).
    """

    kind: Literal["trace"] = "trace"
    file: Text = Field(examples=['"snr.csv"'])

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `trace` is the key of the file for the engine."""
        return {"kind": self.kind, "trace": context.trace_key(self.file, (*path, "file"))}

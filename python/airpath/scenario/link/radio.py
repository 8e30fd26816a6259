"""Radio of a TDD link: computes the SNR of stations from their distances to select MCSs."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator
from typing_extensions import Self

from airpath import _airpath
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
from airpath.scenario.checking import NO_FILES
from airpath.scenario.decibels import Decibels
from airpath.scenario.engine_problems import EngineProblem
from airpath.scenario.policy import (
    DualRegime,
    LinkAdaptation,
    Optimum,
    Qawla,
    Tfer,
)
from airpath.scenario.snr import SPEED_OF_LIGHT, Shadowed, SnrProcess
from airpath.scenario.units import Frequency, Length, Speed
from airpath.scenario.values import Number, Real, TableName, Truth, choice

__all__ = ["Radio"]

_PROFILES = ("pedestrian-a", "pedestrian-b", "vehicular-a", "vehicular-b", "epa", "eva", "etu")
_OF_BUDGET = (
    *("distance", "frequency", "base_height", "station_height", "metropolitan"),
    *("base_power_dbm", "station_power_dbm", "base_gain_dbi", "station_gain_dbi"),
    *("base_noise_db", "station_noise_db", "loss_db", "bandwidth", "uplink_share"),
    *("shadowing", "correlation_distance", "profile", "speed"),
)
"""Keys of link budget, shadowing and fading, from which the SNR at a distance is computed."""


_SI = {Frequency: "_hz", Length: "_m", Speed: "_mps", Decibels: "_db"}
"""Maps quantity types to the suffixes of engine field names for values in SI units."""


class Radio(Model):
    """A radio whose MCSs follow the SNR of each station (wimax-2009 §5.1).

    The mean SNR follows from a link budget at a distance: COST-231 Hata path loss, thermal noise,
    and the powers, gains and noise figures below. Log-normal shadowing and the fading of a delay
    profile vary the SNR around its mean. The channel is reciprocal: shadowing and fading are the
    same in both directions, and only the link budgets differ. The SNR is constant within a frame.

    COST-231 Hata was fitted from 1.5 to 2 GHz and from 1 to 20 km, with base station heights of 30
    to 200 m and station heights of 1 to 10 m. Outside these ranges, such as at 2.5 GHz, its formula
    is extrapolated.

    Parameters
    ----------
    distance : Length, optional
        Distance from the base station to the stations, above 0. Required unless `snr` is set.
    snr : SnrProcess, optional
        SNR process of each station's downlink, instead of the link budget at `distance`. The uplink
        SNR is higher by `uplink_offset`. Default: computed from `distance`.
    uplink_offset : Decibels
        With `snr`: uplink SNR minus downlink SNR, -200 dB to 200 dB. Default 0 dB.
    table : str
        Error-rate table: a path from the scenario file's directory, or ``airpath:NAME``. For MCSs
        with repetition coding, the error-rate curve of QPSK 1/2 is shifted. Default
        ``"airpath:802.16-ctc-awgn"``, because the SNR is constant within a frame.
    policy : LinkAdaptation
        Policy that selects the MCS, independently of the queue. Default ``"tfer"`` with ``th_fer =
        0.1``: the fastest MCS with a block error rate below 0.1.
    feedback : int
        Age of the SNR value that the policy uses, frames, from 0. Default 1.
    combining : {"none", "chase", "incremental"}
        Combining of several HARQ attempts in the receiver. Default chase.
    frequency : Frequency
        Carrier frequency, above 0. Default 2.5 GHz (wimax-2009 §5.1).
    base_height : Length
        Height of the base station's antenna, above 0. Default 32 m.
    station_height : Length
        Height of the stations' antennas, above 0. Default 1.5 m.
    metropolitan : bool
        True: the centre of a large city, with 3 dB more path loss. Default False.
    base_power_dbm : float
        Transmit power of the base station in its complete band, dBm. Default 43.
    station_power_dbm : float
        Transmit power of a station within its burst, dBm. Default 23.
    base_gain_dbi : float
        Antenna gain of the base station minus cable loss, dBi. Default 16.
    station_gain_dbi : float
        Antenna gain of the stations, dBi. Default 0.
    base_noise_db : float
        Noise figure of the base station's receiver, dB, from 0. Default 5.
    station_noise_db : float
        Noise figure of the stations' receivers, dB, from 0. Default 7.
    loss_db : float
        Additional loss in both directions, dB, for example by walls and bodies, or an interference
        margin. Default 0.
    bandwidth : Frequency
        Bandwidth of the used subcarriers, above 0. Default 9.1984375 MHz, 841 subcarriers of
        10937.5 Hz.
    uplink_share : float
        Share of the bandwidth that a station's burst occupies at full transmit power, 1e-6 to 1.
        Default 0.2.
    shadowing : Decibels
        σ, the standard deviation of the shadowing, 0 dB to 30 dB. Default 8 dB.
    correlation_distance : Length
        Distance after which the correlation of the shadowing is 1/e, above 0. Default 50 m.
    profile : {"none", "pedestrian-a", "pedestrian-b", "vehicular-a", "vehicular-b", "epa", \
"eva", "etu"}
        Delay profile of the fading taps, from ITU-R M.1225 or (``epa``, ``eva``, ``etu``) 3GPP TS
        36.104. ``"none"``: no fading. Default pedestrian-b.
    speed : Speed
        Speed of the stations, 0 m/s to 10000 m/s. Default 3 km/h.
    """

    engine_family = "radio"
    engine_keys = {"uplink_db": "uplink_offset", "feedback_frames": "feedback"}

    distance: Maybe[Length] = Field(default=ABSENT, examples=['"1 km"'])
    snr: Maybe[SnrProcess] = ABSENT
    uplink_offset: Decibels = Decibels(0)
    table: TableName = "airpath:802.16-ctc-awgn"
    policy: LinkAdaptation = Tfer(th_fer=0.1)
    feedback: Number = 1
    combining: Annotated[str, choice("none", "chase", "incremental")] = "chase"
    frequency: Frequency = Frequency.parse("2.5 GHz")
    base_height: Length = Length.parse("32 m")
    station_height: Length = Length.parse("1.5 m")
    metropolitan: Truth = False
    base_power_dbm: Real = 43.0
    station_power_dbm: Real = 23.0
    base_gain_dbi: Real = 16.0
    station_gain_dbi: Real = 0.0
    base_noise_db: Real = 5.0
    station_noise_db: Real = 7.0
    loss_db: Real = 0.0
    bandwidth: Frequency = Frequency.parse("9.1984375 MHz")
    uplink_share: Real = 0.2
    shadowing: Decibels = Decibels(8)
    correlation_distance: Length = Length.parse("50 m")
    profile: Annotated[str, choice("none", *_PROFILES)] = "pedestrian-b"
    speed: Speed = Speed.parse("3 km/h")

    alternatives = (("distance", "snr"),)

    @field_validator("policy")
    @classmethod
    def _without_the_queue(cls, policy: LinkAdaptation) -> LinkAdaptation:
        if isinstance(policy, (DualRegime, Qawla, Optimum)):
            what = "chooses by the queue, and a burst is for several packets"
            raise fault(what, "Use tfer, tagla, max-phy-throughput or fixed")
        return policy

    @model_validator(mode="after")
    def _one_snr(self) -> Self:
        if self.distance is None and self.snr is None:
            missing = as_missing(fault("missing", 'Set distance = "1 km"'))
            raise faults_at((("distance",), None, missing))
        if self.snr is None:
            if self._is_given("uplink_offset"):
                error = fault("has no effect without snr", "Set snr, or leave this key out")
                raise faults_at((("uplink_offset",), str(self.uplink_offset), error))
            return self
        wrong = [
            ((key,), str(getattr(self, key)), fault("snr is given too", "Leave one of them out"))
            for key in _OF_BUDGET
            if self._is_given(key)
        ]
        if wrong:
            raise faults_at(*wrong)
        return self

    def _engine_problems(self) -> list[EngineProblem]:
        return [] if self.distance is None else super()._engine_problems()

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return link budget, shadowing and mobility in the engine's form, with SI units."""
        values = {name: getattr(self, name) for name in _OF_BUDGET}
        return {
            name + _SI.get(type(value), ""): value.si() if hasattr(value, "si") else value
            for name, value in values.items()
        }

    def _path_loss_db(self, distance: Length) -> float:
        heights = [self.base_height.si()], [self.station_height.si()]
        (loss_db,), _ = _airpath.cost231_hata_db(
            [self.frequency.si()], [distance.si()], *heights, self.metropolitan
        )
        return float(loss_db)

    def distance_problem(self, distance: Length) -> EngineProblem | None:
        """Return the engine's problem with a distance in this link budget; None if it is accepted.

        Parameters
        ----------
        distance : Length
            Distance from the base station.
        """
        form = self.engine_form(NO_FILES, ()) | {"distance_m": distance.si()}
        found = _airpath.component_problems("radio", json.dumps(form))
        return next((problem for problem in found if problem[0] == "distance_m"), None)

    def mean_db(self, distance: Length | None = None, snr: SnrProcess | None = None) -> float:
        """Return the mean SNR of a station's downlink, dB, without shadowing.

        Parameters
        ----------
        distance : Length, optional
            Distance of the station. Default: `distance` of the radio.
        snr : SnrProcess, optional
            SNR process of the station. Default: `snr` of the radio.

        Raises
        ------
        ValueError
            If the SNR comes from a file.
        """
        process = snr if snr is not None else None if distance is not None else self.snr
        if process is None:
            loss_db = self._path_loss_db(distance or self.distance or Length(0)) + self.loss_db
            power, gain = self.base_power_dbm, self.base_gain_dbi
            budget = power, gain, self.station_gain_dbi, loss_db, self.bandwidth.si()
            return float(_airpath.link_budget_snr_db([[*budget, self.station_noise_db]])[0])
        inner = process.inner if isinstance(process, Shadowed) else process
        mean = getattr(inner, "mean", None)
        if mean is None:
            raise ValueError("no mean")
        return float(mean)

    @property
    def uplink_db(self) -> float:
        """Uplink SNR minus downlink SNR, dB, from the powers, noise figures and bandwidths."""
        if self.snr is not None:
            return float(self.uplink_offset)
        band = self.bandwidth.si()
        gains = self.base_gain_dbi, self.station_gain_dbi, 0.0
        down, up = _airpath.link_budget_snr_db(
            [
                [self.base_power_dbm, *gains, band, self.station_noise_db],
                [self.station_power_dbm, *gains, band * self.uplink_share, self.base_noise_db],
            ]
        )
        return float(up - down)

    def snr_of(
        self, distance: Length | None, snr: SnrProcess | None, context: Context, path: Path
    ) -> dict[str, Any]:
        """Return the resolved SNR process of a station.

        If the resolved form is only needed for validation, the mean SNR from a link budget is
        replaced by 0 dB, because a link budget that the engine rejects may have no mean. The link
        budget is checked separately.

        Parameters
        ----------
        distance, snr
            Distance and process of the station, as for `mean_db`.
        context, path
            Context, and path of the key `snr`.
        """
        process = snr if snr is not None else None if distance is not None else self.snr
        if process is not None:
            return process.resolved(context, path)
        mean_db = 0.0 if context is NO_FILES else self.mean_db(distance)
        speed_mps = self.speed.si()
        fading: dict[str, Any] = {"kind": "constant", "mean_db": mean_db}
        if self.profile != "none":
            doppler_hz = speed_mps * self.frequency.si() / SPEED_OF_LIGHT
            fading = {
                "kind": "tapped-delay-line",
                "profile": self.profile,
                "mean_db": mean_db,
                "doppler_hz": doppler_hz,
            }
        if not self.shadowing:
            return fading
        return {
            "kind": "shadowed",
            "deviation_db": float(self.shadowing),
            "correlation_m": self.correlation_distance.si(),
            "speed_mps": speed_mps,
            "inner": fading,
        }

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file."""
        entries = super().document()
        if self.snr is not None:
            return {key: value for key, value in entries.items() if key not in _OF_BUDGET}
        del entries["uplink_offset"]
        return entries

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form: an SNR process, and the engine's name of the table."""
        is_of_budget = self.snr is None and context is NO_FILES  # As in `snr_of`.
        return {
            "table": context.table_key(self.table, (*path, "table")),
            "snr": self.snr_of(None, None, context, (*path, "snr")),
            "uplink_db": 0.0 if is_of_budget else self.uplink_db,
            "policy": self.policy.resolved(context, (*path, "policy")),
            "feedback_frames": self.feedback,
            "combining": self.combining,
        }

"""Adaptive links, which select the modulation and coding scheme (MCS) from the SNR.

A policy chooses the MCS of each packet from an estimate of the signal-to-noise ratio and from the
queue. An error-rate table contains the rate and the error rate of each MCS.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import Field

from airpath import _airpath
from airpath.scenario.base import ABSENT, Context, Maybe, Path, as_missing, fault, faults_at
from airpath.scenario.link.base import Framing, _RepeatingLink, with_framing
from airpath.scenario.policy import LinkAdaptation
from airpath.scenario.snr import Block, Shadowed, SnrProcess
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Real, TableName

__all__ = ["Adaptive"]


class Adaptive(_RepeatingLink):
    """Link whose policy chooses the MCS of each packet from an SNR estimate and the queue.

    A packet is sent in complete FEC blocks of the chosen MCS. It is lost if any block fails at the
    true SNR.

    Parameters
    ----------
    table : str
        Error-rate table: a path from the scenario file's directory, or ``airpath:NAME`` for a table
        that comes with Airpath (see `airpath.scenario.tables`).
    policy : LinkAdaptation
        Policy that selects the MCS of each packet.
    snr_db : float, optional
        Constant true SNR, dB, -200 to 200. Default: the SNR of `snr`.
    snr : SnrProcess, optional
        Process of the true SNR over time, instead of `snr_db`. Default: the SNR is constant.
    delay : Duration
        One-way propagation delay, from 0. Default 0 s; D_F of qawla-2015 is 2.5 ms.
    errors : ErrorProcess, optional
        Errors in addition to those of the table. Default: none.
    snr_bias_db : float
        Bias of the SNR estimate, dB, -200 to 200; a positive bias overestimates. Default 0. The
        paper uses 2 and 4.
    snr_noise_db : float
        Standard deviation of the estimate, dB, 0 to 200. Default 0.
    estimate_interval : Duration
        Interval between SNR estimates, above 0; each estimate is made at the start of its interval.
        Default 5 ms, the paper's TDD frame.
    packet : Size
        Packet size for which the policy computes error rates, 1 to 65535 B. Default 1500 B, the
        paper's packets.
    frame_overhead : Size
        Overhead of each IP packet, 0 to 65535 B. Default 0 B.
    harq : Harq, optional
        Retransmission of corrupted packets by HARQ. Default: none.
    arq : Arq, optional
        Retransmission by ARQ, above HARQ. Default: none.
    in_order : bool, optional
        True: packets leave in the order of their first transmission, so that a retransmission
        blocks later packets. Requires `harq` or `arq`. Default: False.
    """

    kind: Literal["adaptive"] = "adaptive"
    table: TableName = Field(examples=['"airpath:802.16-ctc-vehicular-a"'])
    policy: LinkAdaptation = Field(
        examples=['{kind = "qawla", th_per = 0.05, h = 100, threshold = 20}']
    )
    snr_db: Maybe[Real] = Field(default=ABSENT, examples=["22"])
    snr: Maybe[SnrProcess] = ABSENT
    snr_bias_db: Real = 0.0
    snr_noise_db: Real = 0.0
    estimate_interval: Duration = Duration.parse("5 ms")
    packet: Size = Size(1500)
    frame_overhead: Size = Size(0)

    alternatives = (("snr_db", "snr"),)
    series = frozenset({"regime", "mcs"})

    def _check_alternatives(self) -> None:
        super()._check_alternatives()
        if self.snr_db is None and self.snr is None:
            missing = as_missing(fault("missing", "Set snr_db = 22"))
            raise faults_at((("snr_db",), None, missing))
        if self.snr_db is not None and self.snr is not None:
            wrong = fault("snr is given too", "Use one of the two")
            raise faults_at((("snr_db",), self.snr_db, wrong))
        place: Path = ("snr",)
        process = self.snr
        if isinstance(process, Shadowed):
            place, process = (*place, "inner"), process.inner
        if isinstance(process, Block) and process.coherence is None:
            missing = as_missing(fault("missing, the link has no slots", 'Set coherence = "5 ms"'))
            raise faults_at(((*place, "coherence"), None, missing))

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; the constant SNR has the key `snr_db`."""
        if engine_path == "snr.mean_db" and self.snr is None:
            return ["snr_db"]
        return super()._user_path(engine_path)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; `table` is the engine's name of the error-rate table."""
        key = context.table_key(self.table, (*path, "table"))
        framing = Framing(overhead=self.frame_overhead)
        entries = with_framing(super().resolved(context, path), framing, context, path)
        if self.snr is None:
            entries["snr"] = {"kind": "constant", "mean_db": entries["snr_db"]}
        del entries["snr_db"]
        return {**entries, "table": key}

    @classmethod
    def regime_boundaries(cls, resolved: Mapping[str, Any]) -> list[int]:
        """Return a list with the queue threshold of the policy; empty without a threshold."""
        policy = resolved["policy"]
        return [policy["threshold"]] if "threshold" in policy else []

    @classmethod
    def regime_labels(
        cls, resolved: Mapping[str, Any], table: Callable[[], str | None]
    ) -> list[str]:
        """Return the name of the MCS of each regime; empty if the SNR estimate varies."""
        if resolved["snr_noise_db"] or resolved["snr"]["kind"] != "constant":
            return []
        text = table()
        if text is None:
            return []
        estimate_db = resolved["snr"]["mean_db"] + resolved["snr_bias_db"]
        policy = json.dumps(resolved["policy"])
        [chosen] = _airpath.policy_choices(policy, text, [estimate_db], resolved["packet_bytes"])
        curves = json.loads(text)["curves"]
        names = [curves[number]["mcs"] for number in chosen]
        return [f"{mcs['name']} {mcs.get('label', '')}".strip() for mcs in names]

"""Voice calls: datagrams of a codec, with the quality of the call at the receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import ValidationInfo, field_validator

from airpath.scenario.base import Context, Path, fault
from airpath.scenario.traffic.source import Source
from airpath.scenario.units import Duration
from airpath.scenario.values import Real, choice

__all__ = ["Voice"]

HEADER_BYTES = 40
"""IPv4, UDP and RTP headers (RFC 791 §3.1, RFC 768, RFC 3550 §5.1), bytes."""


@dataclass(frozen=True)
class Codec:
    """A speech codec.

    Parameters
    ----------
    frame_bytes : int
        Size of a frame, bytes.
    frame_ns : int
        Duration of the speech in a frame, ns.
    lookahead_ns : int
        Additional delay of the encoder, ns.
    impairment : float
        Ie, equipment impairment factor without packet loss.
    robustness : float
        Bpl, packet-loss robustness factor.
    """

    frame_bytes: int
    frame_ns: int
    lookahead_ns: int
    impairment: float
    robustness: float


CODECS = {
    "g711": Codec(8, 1_000_000, 0, 0.0, 4.3),
    "g711-plc": Codec(8, 1_000_000, 0, 0.0, 25.1),
    "g729a": Codec(10, 10_000_000, 5_000_000, 11.0, 19.0),
    "g723.1": Codec(24, 30_000_000, 7_500_000, 15.0, 16.1),
    "gsm-efr": Codec(31, 20_000_000, 0, 5.0, 10.0),
}
"""Codecs, with Ie and Bpl of ITU-T G.113 Appendix I."""


class Voice(Source):
    """One direction of a voice call: datagrams of a codec, rated by the E-model of ITU-T G.107.

    The receiver plays the first packet after the delay of its jitter buffer, and the later ones at
    the intervals of the sender. Packets that arrive later than their playout time are lost.

    Parameters
    ----------
    codec : {"g711", "g711-plc", "g729a", "g723.1", "gsm-efr"}
        Codec, which determines bit rate, delay, and sensitivity to packet loss: G.711 without and
        with packet-loss concealment, G.729A, G.723.1 at 6.3 kbit/s, and GSM EFR. Default
        ``"g711-plc"``.
    interval : Duration
        Time between two packets: the duration of the speech in a packet, a multiple of the codec's
        frame, at most 1 s. Default 20 ms, the packetization interval of RFC 3551 §4.2.
    jitter_buffer : Duration
        Playout delay that the receiver adds to the network delay of the first packet. Default
        60 ms.
    advantage : float
        A, the advantage factor of G.107, from 0 (wired) to 20. Default 0.
    """

    source: Literal["voice"] = "voice"
    codec: Annotated[str, choice(*CODECS)] = "g711-plc"
    interval: Duration = Duration(20_000_000)
    jitter_buffer: Duration = Duration(60_000_000)
    advantage: Real = 0.0

    @field_validator("interval")
    @classmethod
    def _check_interval(cls, interval: Duration, info: ValidationInfo) -> Duration:
        codec = CODECS.get(info.data.get("codec", ""))
        if codec is not None:
            frame = Duration(codec.frame_ns)
            if not 0 < int(interval) <= 10**9 or int(interval) % codec.frame_ns:
                what = f'not a multiple of the frame of codec = "{info.data["codec"]}"'
                raise fault(what, f"Use a multiple of {frame}, at most 1 s", f'"{frame}"')
        return interval

    def resolved_source(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form of the source of each flow."""
        codec = CODECS[self.codec]
        frames = int(self.interval) // codec.frame_ns
        return {
            "kind": "voice",
            "packet_bytes": HEADER_BYTES + frames * codec.frame_bytes,
            "interval_ns": int(self.interval),
            "codec_delay_ns": codec.lookahead_ns,
            "jitter_buffer_ns": int(self.jitter_buffer),
            "equipment_impairment": codec.impairment,
            "loss_robustness": codec.robustness,
            "advantage": self.advantage,
        }

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; the codec sets most of them."""
        own = {"interval_ns": "interval", "jitter_buffer_ns": "jitter_buffer"}
        own |= {"advantage": "advantage"}
        of_codec = ("packet_bytes", "codec_delay_ns", "equipment_impairment", "loss_robustness")
        if engine_path in of_codec:
            return ["codec"]
        found = own.get(engine_path)
        return super()._user_path(engine_path) if found is None else [found]

"""Video clients that choose the bitrate of each segment."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from airpath.scenario.base import ABSENT, Context, ListOf, Maybe, Model, Path, fault
from airpath.scenario.units import Duration, Rate
from airpath.scenario.values import Number, Real

__all__ = ["BufferBased", "RateBased", "Video"]


class BufferBased(Model):
    """Choice of the bitrate by the buffer level: BBA-0 of Huang et al. (SIGCOMM 2014).

    Parameters
    ----------
    reservoir : Duration, optional
        Buffer level up to which the lowest rate is chosen. Default: 37.5 % of `limit`, 90 s of
        240 s in Huang et al. 2014.
    cushion : Duration, optional
        Range of buffer levels over which the rate rises from the lowest to the highest, above 0.
        Reservoir and cushion together are at most `limit`. Default: 52.5 % of `limit`, 126 s of
        240 s in Huang et al. 2014.
    """

    reservoir: Maybe[Duration] = ABSENT
    cushion: Maybe[Duration] = ABSENT

    def levels(self, limit: Duration) -> dict[str, Any]:
        """Return the resolved form for the largest buffer level `limit`."""
        reservoir = int(limit) * 3 // 8 if self.reservoir is None else int(self.reservoir)
        cushion = int(limit) * 21 // 40 if self.cushion is None else int(self.cushion)
        return {"kind": "buffer", "reservoir_ns": reservoir, "cushion_ns": cushion}


class RateBased(Model):
    """Choice of the bitrate by the harmonic mean of the throughputs of the last segments.

    Parameters
    ----------
    window : int
        Number of segments, from 1 to 1000. Default 5, Yin et al., SIGCOMM 2015, §5.1.
    safety : float
        Factor of the mean, above 0, at most 1. Default 0.85, FESTIVE (Jiang et al., CoNEXT 2012).
    """

    window: Number = 5
    safety: Real = 0.85

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {"kind": "rate", **super().resolved(context, path)}


class Video(Model):
    """A video client that requests segments of equal duration, one after the other.

    Parameters
    ----------
    ladder : list of Rate
        Bitrates in which each segment is available, ascending, above 0.
    segment : Duration
        Duration of a segment, above 0. Default 4 s, Huang et al. 2014 §2.
    startup : Duration
        Buffer level at which playback starts, and continues after a stall, above 0. Default 4 s,
        one segment.
    limit : Duration
        Largest buffer level, at least `startup` plus a segment. The client requests a segment when
        the buffer has space for it. Default 240 s, Huang et al. 2014 §2.
    buffer_based : BufferBased, optional
        Choice by the buffer level. Default: with its default values, unless `rate_based` is set.
    rate_based : RateBased, optional
        Choice by the throughput, instead of `buffer_based`.
    segments : int, optional
        Number of segments of the video, from 1. Default: unlimited.
    """

    engine_family = "video"
    alternatives = (("buffer_based", "rate_based"),)

    ladder: ListOf[Rate] = Field(examples=['["1 Mbit/s", "2.5 Mbit/s", "5 Mbit/s"]'])
    segment: Duration = Duration(4 * 10**9)
    startup: Duration = Duration(4 * 10**9)
    limit: Duration = Duration(240 * 10**9)
    buffer_based: Maybe[BufferBased] = ABSENT
    rate_based: Maybe[RateBased] = ABSENT
    segments: Maybe[Number] = ABSENT

    @field_validator("rate_based")
    @classmethod
    def _one_of_both(cls, value: RateBased | None, info: ValidationInfo) -> RateBased | None:
        if value is not None and info.data.get("buffer_based") is not None:
            raise fault("given together with buffer_based", "Use one of the two")
        return value

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        if self.rate_based is not None:
            rule = self.rate_based.resolved(context, (*path, "rate_based"))
        else:
            rule = (self.buffer_based or BufferBased()).levels(self.limit)
        found = {
            "ladder_bps": [int(rate) for rate in self.ladder],
            "segment_ns": int(self.segment),
            "startup_ns": int(self.startup),
            "limit_ns": int(self.limit),
            "abr": rule,
        }
        return found if self.segments is None else {**found, "segments": self.segments}

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return self.resolved(context, path)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; there, both rules have one name."""
        first, *rest = engine_path.split(".")
        rule = "buffer_based" if self.rate_based is None else "rate_based"
        return [rule if first == "abr" else first, *rest]

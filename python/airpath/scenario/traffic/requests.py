"""Clients that request objects: web pages, and requests with responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator

from airpath.scenario.base import Context, Model, Path, usual
from airpath.scenario.traffic.arrivals import (
    AnyPause,
    RandomSize,
    distribution,
    fixed_or_random,
)
from airpath.scenario.units import Duration, Size
from airpath.scenario.values import Number

__all__ = ["Requests"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airpath.scenario.typed import Takes

    ObjectSize = Takes[str | float | Mapping[str, Any] | RandomSize, Size | RandomSize]
else:
    ObjectSize = Annotated[
        Size | RandomSize, PlainValidator(fixed_or_random(Size, RandomSize, required=True))
    ]


class Requests(Model):
    """A client that loads pages of objects over one connection, and pauses between the pages.

    Each object is requested when the previous one is complete. A page of one object is a request
    with its response.

    Parameters
    ----------
    size : Size or RandomSize
        Payload of an object, above 0.
    objects : int
        Number of objects of a page, from 1. Default 1.
    think : Duration or RandomTime
        Pause between the end of a page and the first request of the next one. Default 0 s.
    """

    engine_family = "requests"

    size: ObjectSize = Field(examples=['"100 kB"'])
    objects: Number = 1
    think: AnyPause = usual(Duration(0))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return {
            "object": distribution(self.size, "bytes", context, (*path, "size")),
            "objects": self.objects,
            "think": distribution(self.think, "time_ns", context, (*path, "think")),
        }

    def engine_form(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        return self.resolved(context, path)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; there, sizes and times are tables."""
        first, _, field = engine_path.partition(".")
        key = {"object": "size"}.get(first, first)
        value = getattr(self, key)
        return [key, *value._user_path(field)] if isinstance(value, Model) else [key]

"""Clients that request objects: web pages, and requests with responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator

from airpath.scenario.base import ABSENT, Context, Model, Path, usual
from airpath.scenario.traffic.arrivals import (
    AnyPause,
    AnySize,
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
    """A client that loads pages of objects, and pauses between the pages.

    An object is requested when a connection has fewer than `streams` outstanding objects. With the
    defaults, each object is requested when the previous one is complete, and a page is a request
    with its response. A browser has ``connections = 6`` with HTTP/1.1, and ``streams = 100`` over
    one connection with HTTP/2.

    Parameters
    ----------
    size : Size or RandomSize
        Payload of an object, above 0.
    objects : int
        Number of objects of a page, from 1, without the main object. Default 1.
    main : Size or RandomSize, optional
        Payload of the main object, above 0: the document that contains the other objects, which are
        requested when it is complete. Default: pages without a main object.
    connections : int
        Number of connections of a client, from 1 to 100. The `count` of the group is a multiple of
        it: consecutive flows are the connections of one client. Default 1.
    streams : int
        Largest number of outstanding objects of a connection, from 1. Default 1.
    think : Duration or RandomTime
        Pause between the end of a page and the first request of the next one. Default 0 s.
    """

    engine_family = "requests"

    size: ObjectSize = Field(examples=['"100 kB"'])
    objects: Number = 1
    main: AnySize = ABSENT
    connections: Number = 1
    streams: Number = 1
    think: AnyPause = usual(Duration(0))

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form."""
        main = None
        if self.main is not None:
            main = distribution(self.main, "bytes", context, (*path, "main"))
        return {
            "object": distribution(self.size, "bytes", context, (*path, "size")),
            "objects": self.objects,
            "main": main,
            "connections": self.connections,
            "streams": self.streams,
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

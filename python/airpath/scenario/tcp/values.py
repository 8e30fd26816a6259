"""Value types of TCP parameters, and the base class of `TcpConfig`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, PlainValidator, ValidationInfo

from airpath.scenario.base import Context, Model, Path
from airpath.scenario.checking import NO_FILES
from airpath.scenario.units import Segments, Size
from airpath.scenario.values import OrWord, counted_or_bytes

__all__ = ["SELECTIVE", "TIMESTAMPS", "InitialWindow", "SizeOrUnlimited", "TcpParameters"]

SELECTIVE = ("sack", "prr")
"""Values of `recovery` that use SACK and work with every congestion control."""

TIMESTAMPS = Size(12)
"""Size of the timestamps option in a header (RFC 7323 §3.2)."""

UNLIMITED = "unlimited"


def _size_or_unlimited(value: Any, info: ValidationInfo) -> Any:
    if value is None or (isinstance(value, str) and value == UNLIMITED):
        return value
    return Size._validate(value, info)


def _initial_window(value: Any) -> Any:
    """Convert an initial window, which is given in bytes or in segments."""
    return None if value is None else counted_or_bytes(value, Segments, "window")


class Nullable(OrWord):
    """Metadata of a field whose value ``"unlimited"`` is null in the resolved form."""

    word = UNLIMITED


SizeOrUnlimited = Annotated[Any, PlainValidator(_size_or_unlimited), Nullable()]

if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    InitialWindow = Takes[str | Size | Segments | None, Size | Segments | None]
else:
    InitialWindow = Annotated[Size | Segments | None, PlainValidator(_initial_window)]


class TcpParameters(Model):
    """Base class of `TcpConfig`. Parameters that are not set are omitted from the table."""

    model_config = ConfigDict(validate_default=False)

    def document(self) -> dict[str, Any]:
        """Return the table as plain values for a TOML file."""
        return dict(self._document)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; ``"unlimited"`` is null for sizes and omitted for counts."""
        return dict(self._resolved)

    # Cached, because many flows share one object of a profile.
    @cached_property
    def _document(self) -> dict[str, Any]:
        return super().document()

    @cached_property
    def _resolved(self) -> dict[str, Any]:
        nullable = {
            name
            for name, info in type(self).model_fields.items()
            if any(isinstance(item, Nullable) for item in info.metadata)
        }
        return {
            key: None if value == UNLIMITED else value
            for key, value in super().resolved(NO_FILES, ()).items()
            if value != UNLIMITED or key in nullable
        }

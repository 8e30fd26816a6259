"""Values of TCP parameters that no other table has, and what `TcpConfig` inherits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, PlainValidator, ValidationInfo

from airpath.scenario.base import Context, Model, Path, fault
from airpath.scenario.units import Segments, Size
from airpath.scenario.values import counted_or_bytes

__all__ = ["SELECTIVE", "InitialWindow", "SizeOrUnlimited", "TcpParameters"]

SELECTIVE = ("sack", "prr")
"""Values of `recovery` that use SACK and work with every congestion control."""

UNLIMITED = "unlimited"


def _size_or_unlimited(value: Any, info: ValidationInfo) -> Any:
    if value is None or (isinstance(value, str) and value == UNLIMITED):
        return value
    size = Size._validate(value, info)
    if size == 0:
        raise fault("not above 0", 'Write a size above 0 or "unlimited"', '"64 kB"')
    return size


def _initial_window(value: Any) -> Any:
    """Read a window in bytes or in segments."""
    window = None if value is None else counted_or_bytes(value, Segments, "window")
    if window == 0:
        raise fault("not above 0", "Write a window above 0", '"10 segments"')
    return window


class Nullable:
    """Metadata of a field: ``"unlimited"`` is null in the resolved form, not absent."""


SizeOrUnlimited = Annotated[Any, PlainValidator(_size_or_unlimited), Nullable()]

if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    InitialWindow = Takes[str | Size | Segments | None, Size | Segments | None]
else:
    InitialWindow = Annotated[Size | Segments | None, PlainValidator(_initial_window)]


class TcpParameters(Model):
    """Base of `TcpConfig`: values that are not given are absent."""

    model_config = ConfigDict(validate_default=False)

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; ``"unlimited"`` is null for a size and absent for a count."""
        nullable = {
            name
            for name, info in type(self).model_fields.items()
            if any(isinstance(item, Nullable) for item in info.metadata)
        }
        return {
            key: None if value == UNLIMITED else value
            for key, value in super().resolved(context, path).items()
            if value != UNLIMITED or key in nullable
        }

"""Parts in Python: their registration, and the files that define them."""

from __future__ import annotations

import hashlib
import json
import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from airpath.files import MIB, UnreadableError, read_text
from airpath.scenario.faults import fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from airpath.scenario.base import Component

__all__ = [
    "LoadedParts",
    "PartSource",
    "ensure_loaded",
    "factories",
    "has_part_files",
    "load_part_file",
    "register",
    "used_parts",
]

_LARGEST = 4 * MIB
"""Size limit of a file with parts, bytes."""


@dataclass(frozen=True)
class PartSource:
    """A file with parts.

    Parameters
    ----------
    file : str
        Path of the file, absolute.
    text : str
        Content of the file.
    """

    file: str
    text: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the content, hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


_registered: dict[tuple[str, str], tuple[type[Component], PartSource | None]] = {}
"""Maps family of the engine and kind to the class of a part and its file."""
_loading: list[PartSource] = []
"""Files that are being executed, the innermost last."""


class LoadedParts(list[str]):
    """Names of files whose parts are registered."""


def register(component: type[Component], kind: str, implementation: type) -> None:
    """Register a part under its family and kind.

    Parameters
    ----------
    component : type
        Class of the scenario for the part.
    kind : str
        Name of the part.
    implementation : type
        Class with the methods.
    """
    family = component.engine_family
    assert family is not None
    source = _loading[-1] if _loading else _source_of(implementation)
    _registered[family, kind] = (component, source)


def _source_of(implementation: type) -> PartSource | None:
    """Return the file of a class; None if it is defined in a notebook or an interpreter."""
    module = sys.modules.get(implementation.__module__)
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    try:
        return PartSource(str(Path(file).resolve()), read_text(file, _LARGEST))
    except UnreadableError:
        return None


def load_part_file(file: Path) -> None:
    """Execute a file, whose decorated classes become parts.

    Parameters
    ----------
    file : Path
        A Python file.

    Raises
    ------
    PydanticCustomError
        If the file cannot be read or executed, or contains no part.
    """
    try:
        text = read_text(file, _LARGEST)
    except UnreadableError as error:
        raise fault(error.why.rstrip("."), "Use a Python file with parts") from None
    source = PartSource(str(file.resolve()), text)
    if any(known == source for _, known in _registered.values()):
        return
    try:
        _execute(source)
    except Exception as error:
        what = f"{_line_of(error, source)}{type(error).__name__}: {error}"
        raise fault(what, "Use a Python file with parts") from error
    if not any(known == source for _, known in _registered.values()):
        wanted = "Decorate a class, for example with @airpath.congestion_control"
        raise fault("contains no part", wanted)


def _line_of(error: Exception, source: PartSource) -> str:
    """Return the line of the file at which an exception occurred, for a message."""
    lines = []
    if isinstance(error, SyntaxError) and error.filename == source.file:
        lines = [error.lineno]
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == source.file:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"line {lines[-1]}: " if lines else ""


def _execute(source: PartSource) -> None:
    name = f"airpath_parts_{source.sha256[:16]}"
    module = ModuleType(name)
    module.__file__ = source.file
    lines = source.text.splitlines(keepends=True)
    # For tracebacks in processes in which the file does not exist.
    linecache.cache[source.file] = (len(source.text), None, lines, source.file)
    code = compile(source.text, source.file, "exec")
    sys.modules[name] = module
    _loading.append(source)
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        _loading.pop()


def ensure_loaded(sources: Iterable[PartSource]) -> None:
    """Execute those files whose parts are not registered in this process."""
    for source in sources:
        if not any(known == source for _, known in _registered.values()):
            _execute(source)


def has_part_files() -> bool:
    """Return whether parts that are defined in files are registered in this process."""
    return any(source is not None for _, source in _registered.values())


def used_parts(resolved: Mapping[str, Any]) -> dict[tuple[str, str], PartSource | None]:
    """Return the parts that a resolved scenario uses.

    Parameters
    ----------
    resolved : mapping
        The resolved scenario.

    Returns
    -------
    parts : dict of (str, str) to PartSource or None
        Maps family and kind to the file of each part; None for a part without a file.
    """
    if not _registered:
        return {}
    kinds = set(_kinds(resolved))
    return {key: source for key, (_, source) in sorted(_registered.items()) if key[1] in kinds}


def factories(text: str) -> list[tuple[str, str, Any]]:
    """Return family, kind and factory of each part that a resolved scenario uses.

    Parameters
    ----------
    text : str
        The resolved scenario as JSON.
    """
    if not _registered:
        return []
    return [(*key, _registered[key][0].factory) for key in used_parts(json.loads(text))]


def _kinds(value: Any) -> Iterable[str]:
    """Yield the values of all keys ``kind`` in `value`."""
    if isinstance(value, dict):
        kind = value.get("kind")
        if isinstance(kind, str):
            yield kind
        for item in value.values():
            yield from _kinds(item)
    elif isinstance(value, list):
        for item in value:
            yield from _kinds(item)

"""Column store for the measurements of one replication's flows; creates rows on demand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["OF_SOME", "FlowTable", "columns_of"]

OF_SOME = ("transfer_bytes", "aborted_at_s")
"""Quantities that only some flows have. They are omitted from the rows of other flows."""

Column = tuple[str, str, bytes]
"""Name, type (``f8``; ``i8``), and values of a quantity. NaN (−1 for ``i8``): not measured."""


def columns_of(rows: Sequence[Mapping[str, Any]]) -> tuple[bytes, list[Column]]:
    """Convert flows from rows to the arguments of `FlowTable`.

    A quantity that is None or missing in a row counts as not measured.
    """
    is_tcp = bytes(row["kind"] == "tcp" for row in rows)
    names = dict.fromkeys((*(name for row in rows for name in row), *OF_SOME))
    columns: list[Column] = []
    for name in names:
        if name in ("id", "kind"):
            continue
        values = [row.get(name) for row in rows]
        are_whole = all(isinstance(value, int) for value in values if value is not None)
        kind, missing = ("i8", -1) if are_whole else ("f8", np.nan)
        column = [missing if value is None else value for value in values]
        columns.append((name, kind, np.array(column, f"<{kind}").tobytes()))
    return is_tcp, columns


class FlowTable(Sequence[Mapping[str, Any]]):
    """Flows of a replication: a sequence of rows, each a mapping from name to value.

    Parameters
    ----------
    is_tcp : bytes
        One byte per flow: 1 for a TCP connection, 0 for a source of datagrams.
    columns : sequence of (name, kind, bytes)
        Columns in the format of the engine.
    """

    def __init__(self, is_tcp: bytes, columns: Sequence[Column]) -> None:
        self._is_tcp = is_tcp
        self._columns = {name: np.frombuffer(values, f"<{of}") for name, of, values in columns}

    def __len__(self) -> int:
        return len(self._is_tcp)

    @overload
    def __getitem__(self, number: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, number: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        """Return the row of a flow; negative indices count from the end."""
        numbers = range(len(self))[number]
        if isinstance(numbers, range):
            return [_Row(self, one) for one in numbers]
        return _Row(self, numbers)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (_Row(self, number) for number in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FlowTable):
            return self._is_tcp == other._is_tcp and all(
                np.array_equal(column, other._columns[name], equal_nan=column.dtype.kind == "f")
                for name, column in self._columns.items()
            )
        if isinstance(other, Sequence):
            return list(self) == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<FlowTable of {len(self)} flows>"

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return one quantity of all flows; −1 or NaN for flows in which it was not measured."""
        return self._columns[name]

    def fingerprint(self) -> bytes:
        """Return 16 bytes that are equal for tables with equal values."""
        found = hashlib.blake2b(self._is_tcp, digest_size=16)
        for name, column in self._columns.items():
            found.update(f"{name} {column.dtype.str} ".encode())
            found.update(column.tobytes())
        return found.digest()

    def keys(self, number: int) -> Iterator[str]:
        """Yield the names of the quantities of a flow, in the order of its row."""
        yield from ("id", "kind")
        for name in self._columns:
            if name not in OF_SOME or self.value(number, name) is not None:
                yield name

    def value(self, number: int, name: str) -> Any:
        """Return one quantity of one flow; None if it was not measured."""
        if name == "id":
            return number
        if name == "kind":
            return "tcp" if self._is_tcp[number] else "datagram"
        found = self._columns[name][number].item()
        missing = found == -1 if isinstance(found, int) else found != found
        return None if missing else found


class _Row(Mapping[str, Any]):
    """Row of a `FlowTable`: maps the names of one flow's quantities to values."""

    __slots__ = ("_number", "_table")

    def __init__(self, table: FlowTable, number: int) -> None:
        self._table, self._number = table, number

    def __getitem__(self, name: str) -> Any:
        return self._table.value(self._number, name)

    def __iter__(self) -> Iterator[str]:
        return self._table.keys(self._number)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return repr(dict(self))

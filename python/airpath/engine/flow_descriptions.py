"""The flows of a resolved scenario one by one; its entries describe equal ones in a row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from typing import Any, overload

__all__ = ["FlowDescriptions", "direction", "grouped"]


class FlowDescriptions(Sequence[Mapping[str, Any]]):
    """The description of each flow by its number, without a copy for each.

    Parameters
    ----------
    resolved : mapping
        The resolved scenario. An entry of its ``flows`` describes ``count`` equal flows, one when
        it has no ``count``.
    """

    def __init__(self, resolved: Mapping[str, Any]) -> None:
        self.entries: Sequence[Mapping[str, Any]] = resolved["flows"]
        self._ends = list(accumulate(entry.get("count", 1) for entry in self.entries))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, number: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Mapping[str, Any]]: ...
    def __getitem__(self, number: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        """Return what describes a flow; negative numbers count from the end."""
        numbers = range(len(self))[number]
        if isinstance(numbers, range):
            return [self[one] for one in numbers]
        return self.entries[bisect_right(self._ends, numbers)]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        for entry in self.entries:
            yield from repeat(entry, entry.get("count", 1))

    def optional_quantities(self) -> list[str]:
        """Return the quantities that flows of this scenario have in addition to those of all.

        These are `transfer_bytes` where sizes are random and `aborted_at_s` where a connection may
        be aborted. In one flow or run they may be missing.
        """
        sources = [entry["source"] for entry in self.entries]
        limits = {"max_retries", "max_syn_retries"}
        found = {
            "transfer_bytes": any("transfer" in source for source in sources),
            "aborted_at_s": any(limits & source.get("options", {}).keys() for source in sources),
        }
        return [name for name, has in found.items() if has]

    def ranges(self) -> Iterator[tuple[range, Mapping[str, Any]]]:
        """Yield the numbers of the flows of each entry, and the entry."""
        begin = 0
        for end, entry in zip(self._ends, self.entries, strict=True):
            yield range(begin, end), entry
            begin = end


def direction(flow: Mapping[str, Any]) -> str:
    """Return which way the data of a described flow goes: ``forward`` or ``reverse``."""
    return str(flow.get("direction", "forward"))


def grouped(resolved: Mapping[str, Any]) -> dict[int, list[int]]:
    """Return the numbers of the flows of each group of a resolved scenario."""
    groups: dict[int, list[int]] = {}
    for numbers, entry in FlowDescriptions(resolved).ranges():
        groups.setdefault(entry.get("group", 0), []).extend(numbers)
    return groups

"""Tables of settings as papers print them: ``Poll Timer, 60 ms``, read with the unit checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from airpath.reproduction.files import read_table

__all__ = ["Settings"]

_YES = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class Settings:
    """A printed table of settings.

    Parameters
    ----------
    name : str
        Its file, for errors: ``table1.csv``.
    printed : mapping of str to str
        The settings by parameter, each as it is printed: a number, a blank and the unit.
    """

    name: str
    printed: Mapping[str, str]

    @classmethod
    def read(cls, directory: Path, name: str) -> Settings:
        """Return the columns ``parameter`` and ``setting`` of a CSV file of a paper."""
        rows = read_table(directory, name)
        return cls(name, {row["parameter"]: row["setting"] for row in rows})

    def number(self, parameter: str, unit: str = "") -> float:
        """Return a setting in the unit that it is printed with.

        Raises
        ------
        ValueError
            If it is printed in another unit.
        """
        value, _, found = self.printed[parameter].partition(" ")
        if found != unit:
            told = f"{parameter} = {self.printed[parameter]!r}"
            raise ValueError(f"{self.name}: {told} is not in {unit!r}")
        return float(value)

    def whole(self, parameter: str, unit: str = "") -> int:
        """Return a setting that is a whole number."""
        return int(self.number(parameter, unit))

    def yes(self, parameter: str) -> bool:
        """Return a setting that is printed as yes or no, true or false."""
        return _YES[self.printed[parameter]]

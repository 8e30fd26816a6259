"""Access to the files to which a report links: existence, content, relative links."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from airpath.files import LARGEST, read_bytes
from airpath.present.figure_files import FORMATS, file_name
from airpath.report.blocks import Link

__all__ = ["ReportFiles"]


class ReportFiles:
    """Directory of the files that a report uses, with links relative to the report.

    Parameters
    ----------
    directory : Path or None
        Directory of the files; None if there are none.
    out : Path or None
        Directory of the report. Default: `directory`.

    Attributes
    ----------
    is_known : bool
        Whether there is a directory.
    missing : list of str
        Names of missing files, which the report lists.
    """

    def __init__(self, directory: Path | None, out: Path | None = None) -> None:
        self._directory = directory
        self._out = directory if out is None else out
        self.is_known = directory is not None
        self.missing: list[str] = []

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        return self._directory is not None and (self._directory / name).is_file()

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        assert self._directory is not None
        return self._directory / name

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return read_bytes(self.path(name), LARGEST)

    def link(self, name: str) -> Link:
        """Return a link to a file."""
        assert self._directory is not None
        place = os.path.relpath(self._directory / name, self._out)
        # The link is a URL: no part of a name may look like a scheme.
        text = place.replace(os.sep, "/").encode("utf-8", "surrogateescape")
        return Link(quote(text), name)

    def links_of_figure(self, stem: str) -> list[Link]:
        """Return links to the files of a figure that exist, in the order of the formats."""
        return [self.link(name) for kind in FORMATS if self.has(name := file_name(stem, kind))]

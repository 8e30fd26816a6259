"""Papers that do not come with Airpath: a folder with a `PAPER`."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

from airpath.errors import BadValueError, one_line, show
from airpath.papers.kit.base import Paper

__all__ = ["paper_in"]


def paper_in(folder: str) -> Paper:
    """Return the paper of a folder.

    Parameters
    ----------
    folder : str
        A Python package whose ``__init__.py`` has a `PAPER`. Its modules import one another with a
        dot: ``from .scenarios import simulated``.

    Raises
    ------
    BadValueError
        If it is no such folder, or its code raises an exception.
    """
    name = "airpath_paper_" + re.sub(r"\W", "_", str(Path(folder).resolve()))
    found = sys.modules.get(name)
    if found is None:
        file = Path(folder, "__init__.py")
        spec = importlib.util.spec_from_file_location(
            name, file, submodule_search_locations=[str(file.parent.resolve())]
        )
        if not file.is_file() or spec is None or spec.loader is None:
            wrong = "not the folder of a paper: it has no __init__.py"
            raise BadValueError(f"{show(folder)}: {wrong}.")
        found = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(found)
        except Exception as error:
            del sys.modules[name]
            said = f"{type(error).__name__}: {one_line(str(error)).rstrip('.')}."
            raise BadValueError(f"{show(folder)}: its code fails: {said}") from error
    paper = getattr(found, "PAPER", None)
    if not isinstance(paper, Paper):
        raise BadValueError(
            f"{show(folder)}: not the folder of a paper: its __init__.py has no PAPER."
        )
    return paper

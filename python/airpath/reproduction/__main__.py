"""Converts a reproduction into an archive, and archives into pages of the documentation.

```
  airpath reproduce PAPER --full --out DIR
    DIR/PAPER.json --archive--> papers/airpath_papers/PAPER/results.json   committed
                                  --summary--> PAPER.md                    committed
                                  (neither)--> PAPER-full.md               not committed
    results.json of all papers   --overview--> index.md                    committed
```

``python -m airpath.reproduction [--archive | --summary] SOURCE TARGET`` writes one of these files;
``python -m airpath.reproduction --overview TARGET`` writes ``index.md``. ``make reproduce-full``
writes the archives, ``make generate-docs`` the pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, read_text, write_file
from airpath.reproduction.archive import packed, text, unpacked
from airpath.reproduction.overview import overviews, page_of_overview
from airpath.reproduction.page import page, summary

__all__ = ["main"]

_KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "--archive": lambda document: text(packed(document)),
    "--summary": lambda document: summary(unpacked(document)),
    "": lambda document: page(unpacked(document)),
}
"""Maps each command-line option to its conversion function."""


def main(arguments: Sequence[str]) -> int:
    """Convert the JSON file SOURCE, or the results of all papers, into the file TARGET.

    Raises
    ------
    BadValueError
        If there are not exactly two arguments, or SOURCE is not the JSON document of a
        reproduction.
    """
    if len(arguments) == 2 and arguments[0] == "--overview":
        made = page_of_overview(overviews())
        write_file(Path(arguments[1]), made.encode("utf-8"))
        return 0
    option = arguments[0] if arguments and arguments[0] in _KINDS else ""
    files = arguments[1:] if option else arguments
    if len(files) != 2:
        raise BadValueError(
            "airpath.reproduction: not two files. Use [--archive | --summary] SOURCE.json "
            "TARGET, or --overview TARGET."
        )
    source, target = files
    content = read_text(source, LARGEST)
    try:
        made = _KINDS[option](json.loads(content))
    except (ValueError, RecursionError):
        raise BadValueError(f"{one_line(source)}: not JSON. {_SOURCE}") from None
    except (AttributeError, KeyError, TypeError):
        raise BadValueError(f"{one_line(source)}: not a reproduction. {_SOURCE}") from None
    write_file(Path(target), made.encode("utf-8"))
    return 0


_SOURCE = "Use what airpath reproduce --out wrote."


if __name__ == "__main__":
    from airpath.cli import guarded

    sys.exit(guarded(lambda: main(sys.argv[1:])))

"""A reproduction as a page of the documentation.

``python -m airpath.papers.page out/qawla-full/qawla.json docs/reference/papers/qawla.md`` turns
the JSON document that ``airpath reproduce`` wrote into Markdown. ``make full`` does both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, read_text, write_file
from airpath.papers.kit.page import page

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Turn the JSON file named first into the Markdown file named second.

    Raises
    ------
    BadValueError
        If these are not two files, or the first is not the document of a reproduction.
    """
    if len(arguments) != 2:
        raise BadValueError("airpath.papers.page: not two files. Write SOURCE.json TARGET.md.")
    source, target = arguments
    text = read_text(source, LARGEST)
    try:
        made = page(json.loads(text))
    except (ValueError, RecursionError):
        raise BadValueError(f"{one_line(source)}: not JSON. {_SOURCE}") from None
    except (AttributeError, KeyError, TypeError):
        raise BadValueError(f"{one_line(source)}: not a reproduction. {_SOURCE}") from None
    write_file(Path(target), made.encode("utf-8"))
    return 0


_SOURCE = "Give what airpath reproduce --out wrote."


if __name__ == "__main__":
    from airpath.cli import guarded

    sys.exit(guarded(lambda: main(sys.argv[1:])))

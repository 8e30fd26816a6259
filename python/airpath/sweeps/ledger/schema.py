"""Format 1 of the ledger: its tables, and the checksum that each row has.

The rule of `checksum`, which other programs can follow: the first 16 hexadecimal digits of the
SHA-256 of all other columns in their order, each as its type (``i``, ``t``, ``n`` for NULL), its
length in bytes, ``:``, and its bytes; integers are decimal, texts UTF-8, NULL has length 0. In
`runs` the column `packed` is left out: `packed_checksum`, the first 16 digits of its SHA-256,
replaces it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

__all__ = [
    "ADDED",
    "APPLICATION_ID",
    "COLUMNS",
    "FORMAT",
    "TABLES",
    "checksum",
    "checksum_of_packed",
    "is_whole",
]

APPLICATION_ID = 0x4150_4C47
"""``APLG``, in the header of the file."""

FORMAT = 1
"""`user_version` in the header of the file."""

TABLES = {
    "plan": """CREATE TABLE plan (
    number INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    checksum TEXT NOT NULL
)""",
    "jobs": """CREATE TABLE jobs (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    resolved TEXT NOT NULL,
    files TEXT NOT NULL,
    checksum TEXT NOT NULL
)""",
    "runs": """CREATE TABLE runs (
    digest TEXT NOT NULL,
    seed TEXT NOT NULL,
    replication INTEGER NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    cpu_ns INTEGER NOT NULL,
    metrics TEXT NOT NULL,
    packed_checksum TEXT NOT NULL,
    checksum TEXT NOT NULL,
    packed BLOB NOT NULL,
    UNIQUE (digest, seed, replication, airpath_version, airpath_commit)
)""",
    "failures": """CREATE TABLE failures (
    digest TEXT NOT NULL,
    seed TEXT NOT NULL,
    replication INTEGER NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    message TEXT NOT NULL,
    checksum TEXT NOT NULL,
    UNIQUE (digest, seed, replication, airpath_version, airpath_commit)
)""",
    "solved": """CREATE TABLE solved (
    digest TEXT NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    metrics TEXT,
    reason TEXT,
    checksum TEXT NOT NULL,
    UNIQUE (digest, airpath_version, airpath_commit)
)""",
    "advisories": """CREATE TABLE advisories (
    digest TEXT NOT NULL,
    seed TEXT NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    replications INTEGER NOT NULL,
    found TEXT NOT NULL,
    checksum TEXT NOT NULL,
    UNIQUE (digest, seed, airpath_version, airpath_commit)
)""",
    "sessions": """CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    command TEXT NOT NULL,
    replications INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    machines TEXT NOT NULL,
    checksum TEXT NOT NULL
)""",
}
"""What makes each table."""

ADDED = ("advisories", "sessions")
"""Tables that ledgers of earlier versions do not have. Opening one for writing adds them."""

COLUMNS = {
    "plan": ("number", "document", "checksum"),
    "jobs": ("digest", "name", "resolved", "files", "checksum"),
    "runs": (
        *("digest", "seed", "replication", "airpath_version", "airpath_commit"),
        *("cpu_ns", "metrics", "packed_checksum", "checksum"),
    ),
    "failures": (
        *("digest", "seed", "replication", "airpath_version", "airpath_commit"),
        *("message", "checksum"),
    ),
    "solved": ("digest", "airpath_version", "airpath_commit", "metrics", "reason", "checksum"),
    "advisories": (
        *("digest", "seed", "airpath_version", "airpath_commit"),
        *("replications", "found", "checksum"),
    ),
    "sessions": (
        *("number", "airpath_version", "airpath_commit", "command"),
        *("replications", "wall_ns", "machines", "checksum"),
    ),
}
"""The columns that a row's checksum is over, and the checksum last."""


def checksum(values: Sequence[Any]) -> str:
    """Return the checksum of a row.

    Parameters
    ----------
    values : sequence of int, str or None
        Its other columns, in order. Of another type are only values of a damaged file.

    Returns
    -------
    checksum : str
        16 hexadecimal digits.
    """
    # Most are texts of ASCII: a call for each would double the time.
    parts = [
        f"t{len(value)}:{value}" if type(value) is str and value.isascii() else _field(value)
        for value in values
    ]
    return _digits("".join(parts).encode("utf-8", "surrogatepass"))


def checksum_of_packed(packed: bytes) -> str:
    """Return the checksum of a packed replication, 16 hexadecimal digits."""
    return _digits(packed)


def is_whole(row: Sequence[Any]) -> bool:
    """Return whether a row is as it was stored; its checksum is its last column."""
    return bool(row[-1] == checksum(row[:-1]))


def _field(value: Any) -> str:
    if type(value) is str:
        return f"t{len(value.encode('utf-8', 'surrogatepass'))}:{value}"
    if value is None:
        return "n0:"
    text = str(value)
    return f"{'i' if type(value) is int else '?'}{len(text)}:{text}"


def _digits(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]

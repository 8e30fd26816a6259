"""The tables of ledger format 1, and the checksum of a row.

`checksum` is the first 16 hexadecimal digits of the SHA-256 of all other columns in order. Each
column is encoded as its type (``i`` integer, ``t`` text, ``n`` NULL), its length in bytes, ``:``,
and its bytes. Integers are decimal, texts are UTF-8, NULL has length 0. In `runs`, the column
`packed` is excluded; instead, `packed_checksum` has the first 16 digits of the SHA-256 of `packed`.
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
"""`application_id` in the header of the file, ``APLG``."""

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
"""Maps the name of each table to the SQL statement that creates it."""

ADDED = ("advisories", "sessions")
"""Tables that ledgers of earlier versions lack. Opening a ledger for writing adds them."""

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
"""Columns that the checksum of a row covers; the last column is the checksum."""


def checksum(values: Sequence[Any]) -> str:
    """Return the checksum of a row.

    Parameters
    ----------
    values : sequence of int, str or None
        The other columns, in order. Values of other types occur only in damaged files.

    Returns
    -------
    checksum : str
        16 hexadecimal digits.
    """
    # Most values are ASCII texts; a function call for each would double the time.
    parts = [
        f"t{len(value)}:{value}" if type(value) is str and value.isascii() else _field(value)
        for value in values
    ]
    return _digits("".join(parts).encode("utf-8", "surrogatepass"))


def checksum_of_packed(packed: bytes) -> str:
    """Return the checksum of a packed replication, 16 hexadecimal digits."""
    return _digits(packed)


def is_whole(row: Sequence[Any]) -> bool:
    """Return whether a row matches its checksum, which is its last column."""
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

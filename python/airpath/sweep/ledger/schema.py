"""Format 1 of the ledger: its tables, and the checksum that each row has.

The rule of the checksum, which other programs can follow: the first 8 bytes of the SHA-256 of all
other columns in their order, each as its type (``i``, ``t``, ``b``, ``n``), its length in bytes,
``:``, and its bytes; integers are decimal, texts UTF-8, NULL has length 0. In ``runs`` the column
`packed` is left out: `packed_checksum` stands for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

__all__ = ["APPLICATION_ID", "COLUMNS", "FORMAT", "TABLES", "checksum", "is_whole"]

APPLICATION_ID = 0x4150_4C47
"""``APLG``, in the header of the file."""

FORMAT = 1
"""`user_version` in the header of the file."""

TABLES = {
    "plan": """CREATE TABLE plan (
    number INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    checksum BLOB NOT NULL
)""",
    "jobs": """CREATE TABLE jobs (
    digest TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    resolved TEXT NOT NULL,
    files TEXT NOT NULL,
    checksum BLOB NOT NULL
)""",
    "runs": """CREATE TABLE runs (
    digest TEXT NOT NULL,
    seed TEXT NOT NULL,
    replication INTEGER NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    cpu_ns INTEGER NOT NULL,
    metrics TEXT NOT NULL,
    packed_checksum BLOB NOT NULL,
    checksum BLOB NOT NULL,
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
    checksum BLOB NOT NULL,
    UNIQUE (digest, seed, replication, airpath_version, airpath_commit)
)""",
    "solved": """CREATE TABLE solved (
    digest TEXT NOT NULL,
    airpath_version TEXT NOT NULL,
    airpath_commit TEXT NOT NULL,
    metrics TEXT,
    reason TEXT,
    checksum BLOB NOT NULL,
    UNIQUE (digest, airpath_version, airpath_commit)
)""",
}
"""What makes each table."""

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
}
"""The columns that a row's checksum is over, and the checksum last."""


def checksum(values: Sequence[Any]) -> bytes:
    """Return the checksum of a row.

    Parameters
    ----------
    values : sequence of int, str, bytes or None
        Its other columns, in order. Of another type are only values of a damaged file.

    Returns
    -------
    checksum : bytes
        8 of them.
    """
    parts = []
    for value in values:
        if isinstance(value, str):
            kind, data = "t", value.encode("utf-8", "surrogatepass")
        elif isinstance(value, bytes):
            kind, data = "b", value
        elif value is None:
            kind, data = "n", b""
        else:
            kind, data = ("i" if isinstance(value, int) else "f"), str(value).encode()
        parts.append(b"%s%d:" % (kind.encode(), len(data)))
        parts.append(data)
    return hashlib.sha256(b"".join(parts)).digest()[:8]


def is_whole(row: Sequence[Any]) -> bool:
    """Return whether a row is as it was stored; its checksum is its last column."""
    return bool(row[-1] == checksum(row[:-1]))

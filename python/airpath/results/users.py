"""Lookup and readable names of the queues of users and stations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["queues_at", "user_of", "users_in_words"]


def queues_at(queues: Iterable[str], place: str) -> list[str]:
    """Return the names of the queues of a link: its queue, or one for each user or station.

    Parameters
    ----------
    queues : iterable of str
        Names of all queues.
    place : str
        ``bottleneck``, ``reverse`` or ``ack_path``, or the name of a queue.
    """
    return [name for name in queues if name == place or name.startswith(f"{place}/")] or [place]


def user_of(queue: str) -> str:
    """Return the user part of the name of a queue: ``user 0`` for ``bottleneck/user 0``."""
    return queue.rpartition("/")[2]


def users_in_words(queues: Sequence[str]) -> str:
    """Return the number of users or stations of these queues as text: ``3 users``."""
    kind = user_of(queues[0]).partition(" ")[0]
    return f"{len(queues)} {kind}s"

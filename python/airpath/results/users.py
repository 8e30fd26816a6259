"""Names of the queues of users and stations, in words."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["user_of", "users_in_words"]


def user_of(queue: str) -> str:
    """Return whose queue it is by its name: ``user 0`` of ``bottleneck/user 0``."""
    return queue.rpartition("/")[2]


def users_in_words(queues: Sequence[str]) -> str:
    """Return how many users or stations have these queues: ``3 users``."""
    kind = user_of(queues[0]).partition(" ")[0]
    return f"{len(queues)} {kind}s"

"""Checks of names of entries, and of the key `user` of a group of flows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from airpath.scenario.base import fault

__all__ = ["MOST_USERS", "GroupName", "Users", "entry_name", "users_of_flows"]

MOST_USERS = 2**16
"""Largest number of users of a cell."""

_SPAN = re.compile(r"(?P<first>[0-9]{1,5})(?: ?[-–] ?(?P<last>[0-9]{1,5}))?")


def entry_name(value: object, entry: str, example: str) -> str:
    """Return the name of an entry of a list, such as ``a group``, after a check of its syntax."""
    accepted = 'Use letters, digits, "-" and "_", a letter first'
    if not isinstance(value, str):
        raise fault("not a text", accepted, example)
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,63}", value):
        raise fault(f"not a name of {entry}", accepted, example)
    return value


def _group_name(value: object) -> str:
    name = entry_name(value, "a group", '"web"')
    if name == "all":
        raise fault("is the name of all flows in tables", "Use another name")
    return name


def _users(value: Any) -> int | list[int]:
    """Convert the value of `user`: one user, or users that are assigned to flows in rotation."""
    if isinstance(value, (list, tuple)):
        found = [user for item in value for user in _span(item)]
        if not found:
            raise fault("no users", "Use at least one", '"0-9"')
        if len(set(found)) < len(found):
            twice = next(user for user in found if found.count(user) > 1)
            raise fault(f"user {twice} more than once", "Name each user once")
        return found
    span = _span(value)
    return span[0] if len(span) == 1 else list(span)


def _span(value: Any) -> Sequence[int]:
    accepted, example = f"Use numbers from 0 to {MOST_USERS - 1}, or a range", '"0-9"'
    match = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        first, last = int(match["first"]), int(match["last"] or match["first"])
    elif isinstance(value, int) and not isinstance(value, bool):
        first = last = value
    else:
        raise fault("not a number of a user", accepted, example)
    if not 0 <= first <= last < MOST_USERS:
        raise fault("not users" if match else "not a user", accepted, example)
    return range(first, last + 1)


def users_of_flows(user: int | Sequence[int] | None, count: int) -> Sequence[int] | None:
    """Return the user of each flow of a group, assigned in rotation; None without users."""
    if user is None:
        return None
    users = [user] if isinstance(user, int) else user
    return [users[number % len(users)] for number in range(count)]


if TYPE_CHECKING:
    from airpath.scenario.typed import Takes

    GroupName = Takes[str | None, str | None]
    Users = Takes[int | str | Sequence[int | str] | None, int | list[int] | None]
else:
    GroupName = Annotated[str, PlainValidator(_group_name)] | None
    Users = Annotated[int | list[int], PlainValidator(_users)] | None

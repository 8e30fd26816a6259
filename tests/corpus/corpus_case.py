"""Test cases of invalid input, and the requirements that their messages must meet."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from airpath import api
from airpath.cli import guarded, main, output
from airpath.errors import BadValueError

LONGEST_LINE = 1000
MOST_LINES = 40
ADVICE = re.compile(
    r"\b(Set|Create|Write|Use|Give|Add|Leave|Name|Remove|Install|[Ee]xpected|must|"
    r"Covered|The list is empty|Make|Queues of|Finished replications|has one|lasts|See airpath|"
    r"not TOML|not JSON|not a text in UTF-8|cannot be read|"
    r"is not a table and has no)\b"
)
"""The end of a message: the accepted values, or a plain reason why there are none."""
ADVICE_IN_TABLES = re.compile(r"\bnot (JSON|an? |above 0|the lowest and the highest)")
"""The end of a message about a file that a program wrote: the expected content."""
OURS = re.compile(r"Traceback|panicked|<class|object at 0x|pydantic|_airpath|\bself\b")
"""Internal words that no user should read."""


@dataclass(frozen=True)
class Case:
    """A command with one error.

    Each line of the message begins with `says` and must contain `advice`; `files` are in the
    working directory, by name.
    """

    area: str
    kind: str
    name: str
    command: tuple[str, ...]
    says: str = ""
    advice: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A call from Python with one invalid argument; `says` must be in the message."""

    kind: str
    name: str
    call: Callable[[], Any]
    says: str = ""


class Answer(NamedTuple):
    status: int
    out: str
    err: str


def answer_of(program: Callable[[], int]) -> Answer:
    """Call a program inside this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = program()
    return Answer(status, out.getvalue(), err.getvalue())


def checks(file: str) -> int:
    """Do the same as ``airpath check FILE`` without typer, which would take half of the time."""
    with output.warnings_as_notes():
        api.check(api.load(Path(file)))
    return 0


def what_is_wrong_with(case: Case, directory: Path, *, in_short: bool = False) -> str | None:
    """Run a case in `directory`; return what is wrong with the answer, or None.

    With `in_short`, a case of ``airpath check`` calls the functions of the command.
    """
    for name, content in case.files.items():
        (directory / name).write_bytes(content)
    before = sorted(path.name for path in directory.iterdir())
    try:
        if in_short and case.command[0] == "check":
            answer = answer_of(lambda: guarded(lambda: checks(case.command[1])))
        else:
            answer = answer_of(lambda: main(case.command))
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    finally:
        after = sorted(path.name for path in directory.iterdir())
        for name in case.files:
            (directory / name).unlink()
    if answer.status != 2:
        return f"exit status {answer.status}, not 2: {answer.err[:500]}"
    if answer.out:
        return f"printed {answer.out[:200]!r}"
    if "None" in answer.err:
        return f"speaks of None, which no file has: {answer.err[:500]!r}"
    if after != before:
        return f"written: {[name for name in after if name not in before]}"
    # Values that an override drops are reported with the problems.
    lines = [line for line in answer.err.splitlines() if not line.startswith("warning: ")]
    message = "\n".join(lines)
    accepts = ADVICE_IN_TABLES if case.area == "table" else ADVICE
    return what_is_wrong_with_the_message(message, case.says, case.advice, accepts)


def what_is_wrong_with_the_message(
    message: str, says: str, advice: str, accepts: re.Pattern[str] = ADVICE
) -> str | None:
    lines = message.splitlines()
    if not 1 <= len(lines) <= MOST_LINES:
        return f"{len(lines)} lines: {message[:500]!r}"
    for line in lines:
        if len(line) > LONGEST_LINE or not line.isprintable():
            return f"a line that cannot be read: {line[:500]!r}"
        if not line.startswith(says):
            return f"does not begin with {says!r}: {line!r}"
        if OURS.search(line):
            return f"contains an internal name: {line!r}"
        if not accepts.search(line):
            return f"does not say what is accepted: {line!r}"
    return None if advice in message else f"does not say {advice!r}: {message!r}"


def what_is_wrong_with_the_call(call: Call) -> str | None:
    """Make a call; return what is wrong with its error, or None."""
    try:
        found = call.call()
    except BadValueError as error:
        message = str(error)
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    else:
        return f"accepted: {found!r}"[:500]
    if call.says not in message:
        return f"does not say {call.says!r}: {message!r}"
    return what_is_wrong_with_the_message(message, "", "")

"""Run one page of the documentation from top to bottom in the working directory.

``run_page.py PAGE [--update]``:

* Python blocks share their names. A Python block below ``<!-- a file -->`` that begins with
  ``# NAME.py`` is saved under that name and not run.
* A TOML block whose first line is ``# NAME.toml`` is saved under that name.
* In a console block, each line that begins with ``$ `` is a command. The other lines are its
  expected output; ``...`` matches any text.
* ``--update`` replaces the expected output by the current output, except in blocks with ``...``.

A comment ``<!-- check: EXPRESSION -->`` below a paragraph checks its numbers. The expression can
use the names of the Python blocks above, and `answer`, which runs a command and returns its JSON.
The paragraph must contain each text that the expression returns.

Comments directly above a block: ``<!-- not run: why -->``, ``<!-- exit status 2 -->``,
``<!-- needs recorded traces -->``, ``<!-- needs emulation -->`` (a machine that can emulate),
``<!-- numbers vary: why -->`` (printed numbers are not compared). At the end, the script prints how
many blocks were skipped, and why.
"""

from __future__ import annotations

import doctest
import functools
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from markdown_pages import Block, Check, blocks, checks

from airpath.errors import ModelWarning, RunError
from airpath.results import Result
from airpath.results.remarks import ALL_THE_SAME

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

COMMAND_SECONDS = 1000
"""Time limit of a command, s."""
TRIES = 3
"""Largest number of attempts of a real-time command until its run is valid."""
SCENARIO_KEYS = {"duration", "bottleneck", "flows"}


class PageError(Exception):
    """The result of a block differs from the page."""


class NotJudgedError(Exception):
    """A block in real time cannot be judged, because the machine was too slow for a valid run."""


def run_python(block: Block, place: str, names: dict[str, Any]) -> None:
    if block.text.lstrip().startswith(">>>"):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(block.text, names, place, place, block.line - 1)
        runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        if runner.failures:
            raise PageError("".join(report))
        return
    if block.comment("a file") is not None and (name := re.match(r"# (\w+\.py)\n", block.text)):
        Path(name[1]).write_text(block.text, encoding="utf-8")
        return
    # Leading empty lines give tracebacks the line numbers of the page.
    code = compile("\n" * (block.line - 1) + block.text, place, "exec", dont_inherit=True)
    exec(code, names)
    for value in names.values():
        if isinstance(value, Result):
            _refuse_equal_replications(place, "\n".join(map(str, value.advisories)))


def run_toml(block: Block, place: str) -> None:
    try:
        document = tomllib.loads(block.text)
    except tomllib.TOMLDecodeError as error:
        raise PageError(f"not TOML: {error}") from None
    named = re.match(r"# (\S+\.toml)\n", block.text)
    file = Path(named[1] if named else f"block-{block.line}.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.text, "utf-8")
    if document.keys() >= SCENARIO_KEYS:
        run_command(f"airpath check {file}", [], expected_status(block))


def expected_status(block: Block) -> int:
    return int(block.comment("exit status") or 0)


def run_console(block: Block, update: bool) -> str:
    """Run the commands. Return the text of the block, with the current output if `update`."""
    status = expected_status(block)
    update = update and "..." not in block.text
    varies = block.comment("numbers vary:") is not None
    in_real_time = block.comment("needs emulation") is not None
    lines: list[str] = []
    not_judged: list[NotJudgedError] = []
    for command, expected in commands(block):
        required = [] if update else expected
        try:
            printed = run_command(
                command, required, status, varies=varies, in_real_time=in_real_time
            )
        except NotJudgedError as error:
            not_judged.append(error)
            printed = expected
        lines += [f"$ {command}", *(printed if update and expected else expected)]
    if not_judged and not update:
        raise not_judged[0]
    return "\n".join(lines) + "\n"


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Return each command with its expected output."""
    found: list[tuple[str, list[str]]] = []
    continued = False
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif continued:
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        elif found:
            found[-1][1].append(line)
        else:
            raise PageError("a console block begins with a command: $ ...")
        continued = line.endswith("\\")
    return found


def run_command(
    command: str,
    expected: list[str],
    status: int,
    *,
    all_lines: bool = False,
    varies: bool = False,
    in_real_time: bool = False,
) -> list[str]:
    for _ in range(TRIES if in_real_time else 1):
        done = subprocess.run(
            command,
            shell=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=COMMAND_SECONDS,
            check=False,
        )
        if not (in_real_time and "INVALID" in done.stdout + done.stderr):
            break
    else:
        raise NotJudgedError(f"not judged: run invalid in {TRIES} runs")
    if done.returncode != status:
        printed = done.stdout + done.stderr
        raise PageError(f"$ {command}\nexit status {done.returncode}, not {status}:\n{printed}")
    # Standard error belongs to the expected output only if the command fails.
    _refuse_equal_replications(command, done.stderr)
    printed = done.stdout if status == 0 else done.stdout + done.stderr
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    missing = None if all_lines else first_missing(expected, lines, varies=varies)
    if missing is not None:
        raise PageError(f"$ {command}\ndoes not print\n{missing}\nbut\n{printed}")
    return lines


def _refuse_equal_replications(what: str, advisories: str) -> None:
    """Reject a tutorial example whose replications are all equal."""
    if "/tutorial/" in os.environ.get("PAGE_NAME", "") and ALL_THE_SAME in advisories:
        raise PageError(f"{what}\n{ALL_THE_SAME}")


def first_missing(expected: list[str], printed: list[str], *, varies: bool = False) -> str | None:
    """Return the first expected line that is missing or out of order; blank lines are ignored.

    With `varies`, numbers and the spaces around them are not compared.
    """
    if varies:
        expected, printed = ([_without_numbers(line) for line in of] for of in (expected, printed))
    rest = [line.rstrip() for line in printed if line.strip()]
    required = [line.rstrip() for line in expected if line.strip()]
    may_skip = not required
    for line in required:
        if line.strip() == "...":
            may_skip = True
            continue
        pattern = re.compile(".*".join(map(re.escape, line.split("..."))))
        while rest and may_skip and not pattern.fullmatch(rest[0]):
            rest.pop(0)
        if not rest or not pattern.fullmatch(rest[0]):
            return line
        rest.pop(0)
        may_skip = False
    return None if may_skip or not rest else f"(the end, before {rest[0]!r})"


def _without_numbers(line: str) -> str:
    """Return the line with each number or interval replaced by #, and one space between words."""
    mean = r"[-+]?\d+(?:\.\d+)?"
    interval = rf"{mean}(?: ± \d+(?:\.\d+)?| \({mean} … {mean}\))?"
    return " ".join(re.sub(r"[─━]+", "─", re.sub(interval, "#", line)).split())


def run_block(block: Block, place: str, names: dict[str, Any], update: bool) -> str:
    """Run a block. Return its text, changed if it was updated."""
    language = block.language
    if language == "python":
        run_python(block, place, names)
    elif language == "toml":
        run_toml(block, place)
    elif language == "console":
        return run_console(block, update)
    elif language in ("sh", "bash", "shell"):
        raise PageError("write ```console, with $ before each command")
    return block.text


def answer(command: str) -> Any:
    """Return the JSON document that a command of a check prints."""
    return json.loads("\n".join(run_command(command, [], 0, all_lines=True)))


def run_check(check: Check, place: str, names: dict[str, Any]) -> None:
    code = compile("\n" * (check.line - 1) + f"({check.expression})", place, "eval")
    found = eval(code, {**names, "answer": answer})
    paragraph = " ".join(check.paragraph.split())
    for text in [found] if isinstance(found, str) else found:
        if text not in paragraph:
            raise PageError(f"the results say {text!r}, the page says:\n{paragraph}")


def main() -> int:
    page, update = Path(sys.argv[1]), "--update" in sys.argv[2:]
    place = os.environ.get("PAGE_NAME", str(page))
    has_traces = bool(os.environ.get("AIRPATH_TRACES"))
    text = page.read_text("utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    skipped: dict[str, int] = {}
    original = text
    parts = sorted([*blocks(original), *checks(original)], key=lambda part: part.line)
    for block in parts:
        if isinstance(block, Check):
            if not skipped and (has_traces or "traces:" not in block.expression):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("default", ModelWarning)
                        run_check(block, place, names)
                except Exception as error:
                    raise SystemExit(f"{place}:{block.line}: {error}") from None
            continue
        reason = block.comment("not run:")
        if reason is not None:
            if not reason:
                raise SystemExit(f"{place}:{block.line}: <!-- not run: --> requires a reason")
            continue
        missing = what_is_missing(block, has_traces)
        if missing is not None:
            skipped[missing] = skipped.get(missing, 0) + 1
            continue
        try:
            with warnings.catch_warnings():
                # A model may warn about its result; such a warning is not an error of the page.
                warnings.simplefilter("default", ModelWarning)
                text = text.replace(block.text, run_block(block, place, names, update), 1)
        except NotJudgedError as error:
            skipped[str(error)] = skipped.get(str(error), 0) + 1
        except (PageError, subprocess.TimeoutExpired) as error:
            raise SystemExit(f"{place}:{block.line}: {error}") from None
    if update:
        page.write_text(text, "utf-8")
    for missing, count in skipped.items():
        print(f"skipped blocks: {count}: {missing}")
    return 0


def what_is_missing(block: Block, has_traces: bool) -> str | None:
    """Return the reason why a block cannot be run on this machine; None if it can."""
    if block.comment("needs recorded traces") is not None and not has_traces:
        return "there are no recorded traces"
    if block.comment("needs emulation") is not None:
        return emulation_misses()
    return None


@functools.cache
def emulation_misses() -> str | None:
    """Return the reason why this machine cannot emulate; None if it can."""
    import airpath

    try:
        found = airpath.emulation.check()
    except (AttributeError, RunError) as error:
        return f"no emulation: {error}"
    return None if found["ok"] else "this machine cannot emulate: see airpath emulate --check"


if __name__ == "__main__":
    sys.exit(main())

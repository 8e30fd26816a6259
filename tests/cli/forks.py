"""Calls of the command with streams that reject output, each in a fork of one process.

Reads a list of ``{"arguments": [...], "stream": 1 or 2, "how": "full" | "closed" | "left"}`` as
JSON, prints a list of ``[status, text on the other stream]``. A fork takes milliseconds where a
separate process takes a second.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from typing import Any

from airpath.cli import main
from forked import PRELOADED


def answer(case: dict[str, Any]) -> tuple[int, str]:
    with tempfile.TemporaryFile() as other:
        child = os.fork()
        if not child:
            os._exit(status_of(case, other.fileno()))
        _, status = os.waitpid(child, 0)
        other.seek(0)
        return os.waitstatus_to_exitcode(status), other.read().decode()


def status_of(case: dict[str, Any], other: int) -> int:
    try:
        os.dup2(other, 3 - case["stream"])
        break_stream(case["stream"], case["how"])
        status = main(case["arguments"])
        # The interpreter does this at its end, with its own streams.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BaseException as error:
        os.write(other, f"Traceback: {error!r}".encode())
        return 99
    return status


def break_stream(stream: int, how: str) -> None:
    name = {1: "stdout", 2: "stderr"}[stream]
    if how == "closed":
        os.close(stream)
        # The state of a closed stream at the start of the interpreter.
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
    elif how == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), stream)
    else:
        read, write = os.pipe()
        os.close(read)
        os.dup2(write, stream)


if __name__ == "__main__":
    cases = json.load(sys.stdin)
    for name in (*PRELOADED, "airpath_papers.qawla"):
        importlib.import_module(name)
    # The answers are printed after the last fork; otherwise the forks would inherit the buffered
    # text.
    answers = [answer(case) for case in cases]
    json.dump(answers, sys.stdout)

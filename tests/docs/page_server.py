"""Runs pages of the documentation, each in a fork of one process.

Reads lines of JSON, ``{"page": file, "name": of the page, "folder": where, "output": file}``, and
prints the exit status of each. What most pages take is the import of the package, which is done
here once.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from typing import Any

import matplotlib.backends.backend_agg
import matplotlib.figure
import pandas as pd
import run_page

import airpath.api
import airpath.phy
from airpath.cli import commands

IMPORTED_ONCE = (airpath, commands, matplotlib, pd)


def run(case: dict[str, str]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the threads that libraries start do nothing yet
        child = os.fork()
    if not child:
        os._exit(status_of(case))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def status_of(case: dict[str, Any]) -> int:
    try:
        output = os.open(case["output"], os.O_WRONLY | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.chdir(case["folder"])
        sys.path.insert(0, case["folder"])
        paths = filter(None, [case["folder"], os.environ.get("PYTHONPATH")])
        os.environ |= {"PAGE_NAME": case["name"], "PYTHONPATH": os.pathsep.join(paths)}
        sys.argv[1:] = [case["page"]]
        status = run_page.main()
    except SystemExit as error:
        print(error, file=sys.stderr)
        status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    for line in sys.stdin:
        print(run(json.loads(line)), flush=True)

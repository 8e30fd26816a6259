"""Fast start of Python programs as processes: a server imports the programs once, and forks.

``python -m airpath`` takes most of a second, nearly all of it for imports, which a server does
once. A program is an executable file in `ForkServer.directory`. It passes its arguments,
environment, working directory and open files to the server, which forks. The program forwards
signals to the fork and exits with its status; if the program is killed, the fork is killed. Tests
of interpreter startup, process groups or resource limits need a separate process
(`tests/cli/processes.py`). The environment variable ``FORKED_CPU`` names a file to which the CPU
time of the fork and its children since the first signal is written, s.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import marshal
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from airpath import cli

__all__ = ["ForkServer", "airpath_words"]

PRELOADED = (
    *(f"airpath.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)),
    "airpath.emulation.api",
    "airpath.phy.figure",
    "airpath.report",
    "airpath.results.trace_plot",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "pandas",
    "rich.progress",
)
"""Modules that the server imports in advance; programs import them only when needed."""

PROGRAM = """\
#!/bin/sh
'''exec' "{python}" -IS "$0" "$@"
' '''
import _signal, _socket, marshal, os, sys

forwarded = {{_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP}}
_signal.pthread_sigmask(_signal.SIG_BLOCK, forwarded)
listed = [int(name) for name in os.listdir("/dev/fd")]
files = []
for number in listed:
    try:
        files += [number] * os.get_inheritable(number)
    except OSError:
        pass  # descriptor of the listing
server = _socket.socket(_socket.AF_UNIX)
server.connect({address!r})
words = [os.fsencode(word) for word in sys.argv[1:]]
data = marshal.dumps(({name!r}, words, dict(os.environb), os.getcwdb(), files))
for number in forwarded:
    _signal.signal(number, lambda number, frame: server.send(bytes([number])))
rights = b"".join(number.to_bytes(4, sys.byteorder) for number in files)
server.sendmsg([len(data).to_bytes(4, "big")],
               [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
server.sendall(data)
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, forwarded)
answer = server.recv(4)
status = int.from_bytes(answer, "big", signed=True) if answer else 255
if status < 0:
    if status != -_signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""
"""Text of a program. It imports only built-in modules, so that the interpreter starts in 10 ms.

Signals are blocked until the request is sent, so that they follow it on the socket. The shell
starts the interpreter because a ``#!`` line cannot contain a path with blanks.
"""

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a program passes to its fork."""

FIRST_FREE = 512
"""First file descriptor that the files of a fork use, until they are moved to their final
descriptors.
"""


class ForkServer:
    """A server and the programs that run in its forks.

    Parameters
    ----------
    programs : mapping of str to str
        Module and function, ``module:function``, by name of the program. The function returns the
        exit status.
    environment : mapping of str to str, optional
        Environment of the server; each fork gets the environment of its program. Default: that of
        this process.
    """

    def __init__(
        self, programs: Mapping[str, str], environment: Mapping[str, str] | None = None
    ) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="forked-"))
        address = self.directory / "socket"
        for name in programs:
            text = PROGRAM.format(python=sys.executable, address=str(address), name=name)
            (self.directory / name).write_text(text, "utf-8")
            (self.directory / name).chmod(0o755)
        words = [f"{name}={function}" for name, function in programs.items()]
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(address), *words],
            env={
                **(os.environ if environment is None else environment),
                "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n", "the fork server did not start"

    def close(self) -> None:
        """End the server; the server also ends when this process ends. Running forks continue."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@cache
def _server() -> ForkServer:
    return ForkServer({"airpath": "airpath.cli:main"})


def airpath_words(*arguments: object) -> list[str]:
    """Return the command line of ``airpath`` in a fork of a server that lives as long as this
    process."""
    return [str(_server().directory / "airpath"), *map(str, arguments)]


# --- the server ----------------------------------------------------------------------------------


def _serve(address: str, mains: Mapping[str, Callable[[], Any]]) -> Callable[[], Any]:
    """Fork for each program that connects. In the fork, return its main function.

    The server itself exits when its standard input ends.
    """
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    print("ready", flush=True)
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            shutil.rmtree(Path(address).parent)
            os._exit(0)
        connection, _ = listener.accept()
        if not os.fork():
            os.close(listener.detach())
            return _attended(connection, mains)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _attended(
    connection: socket.socket, mains: Mapping[str, Callable[[], Any]]
) -> Callable[[], Any]:
    """Fork again: the parent forwards signals to the child, the child runs the program."""
    size, files, _, _ = socket.recv_fds(connection, 4, FIRST_FREE)
    data = b""
    while len(data) < int.from_bytes(size, "big"):
        # Read no more bytes than the request: the bytes after it are signals.
        data += connection.recv(int.from_bytes(size, "big") - len(data))
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    # A signal that arrives before the fork runs its program is blocked until then.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    child = os.fork()
    name, words, environment, directory, numbers = marshal.loads(data)
    if child:
        for number in files:
            os.close(number)
        os._exit(_watch(connection, child, ended, environment.get(b"FORKED_CPU")))
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    connection.detach()
    _take(files, numbers)
    os.environ.clear()
    os.environb.update(environment)
    os.chdir(directory)
    sys.argv = [name, *map(os.fsdecode, words)]
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return mains[name]


def _watch(connection: socket.socket, child: int, ended: int, cpu: bytes | None) -> int:
    """Forward signals to the child, and its exit status to the program."""
    before_s: float | None = None
    while True:
        ready = select.select([connection, ended], [], [])[0]
        if connection in ready:
            numbers = connection.recv(16)
            before_s = _cpu_s(child) if before_s is None else before_s
            for number in numbers or [signal.SIGKILL]:
                os.kill(child, number)
            if not numbers:
                return 0
        elif os.read(ended, 16):
            _, ended_with, used = os.wait4(child, 0)
            status = os.waitstatus_to_exitcode(ended_with)
            if cpu is not None and before_s is not None:
                after_s = used.ru_utime + used.ru_stime - before_s
                Path(os.fsdecode(cpu)).write_text(str(after_s), "utf-8")
            with suppress(BrokenPipeError):
                connection.sendall(status.to_bytes(4, "big", signed=True))
            return 0


def _cpu_s(pid: int) -> float:
    """Return the CPU time of a running process, s; 0 on systems without /proc."""
    file = Path(f"/proc/{pid}/stat")
    if not file.exists():
        return 0.0
    # User and system time are the 14th and 15th field; the second field may contain blanks.
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _take(files: list[int], numbers: list[int]) -> None:
    """Move the open files of the program and the standard streams to their file descriptors."""
    held = [fcntl.fcntl(file, fcntl.F_DUPFD, FIRST_FREE) for file in files]
    os.closerange(0, FIRST_FREE)
    for file, number in zip(held, numbers, strict=True):
        os.dup2(file, number)
    os.closerange(FIRST_FREE, FIRST_FREE + 2 * len(held))
    for name, number, mode, errors in (
        ("stdin", 0, "r", "strict"),
        ("stdout", 1, "w", "strict"),
        ("stderr", 2, "w", "backslashreplace"),
    ):
        stream = None
        if number in numbers:
            buffering = 1 if number == 2 else -1
            stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _exit(main: Callable[[], Any]) -> None:
    """Exit with the return value of a program, as the interpreter does."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
        status = main()
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(ValueError):  # closed
            stream.flush()
    os._exit(status or 0)


def _main(address: str, *programs: str) -> None:
    mains = {}
    for module in PRELOADED:
        importlib.import_module(module)
    for program in programs:
        name, _, function = program.partition("=")
        module, _, function = function.partition(":")
        mains[name] = getattr(importlib.import_module(module), function)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # at a fork, Python warns about threads of libraries; they are idle here
        main = _serve(address, mains)
    _exit(main)


if __name__ == "__main__":
    _main(*sys.argv[1:])

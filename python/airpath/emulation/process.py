"""Finds, starts and stops the emulation program, ``airpath-emu``, and reads its events."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from airpath.errors import BadValueError, MachineError, RunError, one_line

__all__ = ["PROGRAM", "EmulationOutcome", "Listener", "check", "program", "run"]

PROGRAM = "AIRPATH_EMU"
"""Environment variable with the path of an executable to use instead of the packaged one."""

Listener = Callable[[Mapping[str, Any]], None]
"""Callback. Receives each event of the emulation program."""

_BESIDE = Path(__file__).parents[1] / "bin" / "airpath-emu"
_CHECK_S = 60
"""Timeout of `check`, s. The program itself measures for two seconds."""
_LAST_WORDS_S = 20
"""Time after its last event within which the program must exit, s."""
_PATIENCE_S = 30
"""Time after a request to stop within which the program must exit, s."""
_MOST_WORDS = 4000
_OF_MACHINE = ("tun", "namespace", "device", "privileges")
"""Kinds of failures for which `airpath emulate --check` prints details."""


@dataclass(frozen=True)
class EmulationOutcome:
    """Outcome of an emulation.

    Parameters
    ----------
    reason : str
        Cause of the end: ``end``, ``command``, ``duration``, ``signal`` or ``input``.
    status : int or None
        Exit status of the client's command; None without a command.
    signal : int or None
        Signal number of the first signal that stopped the emulation; None without a signal.
    """

    reason: str
    status: int | None
    signal: int | None

    @property
    def interrupted(self) -> bool:
        """Whether a signal ended the emulation."""
        return self.reason == "signal"


def program() -> Path:
    """Return the path of the emulation program.

    Raises
    ------
    MachineError
        If the operating system is not Linux, or the program is not installed.
    """
    if sys.platform != "linux":
        raise MachineError(
            f"emulation: this is {sys.platform}, and network namespaces are Linux's. "
            "Run it in a virtual machine with Linux; airpath run works here."
        )
    path = Path(os.environ.get(PROGRAM) or _BESIDE)
    if not path.is_file():
        raise MachineError(
            f"emulation: {one_line(str(path))} does not exist. Install a wheel for Linux, or run "
            "make build in a checkout."
        )
    return path


@contextlib.contextmanager
def _executable() -> Iterator[tuple[Path, tuple[int, ...]]]:
    """Yield an executable path of the program, and the file descriptors that must stay open.

    If the file is not executable (some installers do not set the mode), set the mode; in a
    read-only installation, copy the program to an executable in memory.
    """
    path = program()
    if os.access(path, os.X_OK):
        yield path, ()
        return
    with contextlib.suppress(OSError):
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    if os.access(path, os.X_OK):
        yield path, ()
        return
    with os.fdopen(os.memfd_create("airpath-emu"), "wb") as copy, path.open("rb") as file:
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield Path(f"/proc/self/fd/{copy.fileno()}"), (copy.fileno(),)


def check() -> dict[str, Any]:
    """Run ``airpath-emu check``; return its findings about this machine.

    Raises
    ------
    RunError
        If the program cannot be started, or does not print a JSON object.
    """
    with _executable() as (path, opened):
        try:
            done = subprocess.run(
                [path, "check"],
                capture_output=True,
                check=False,
                timeout=_CHECK_S,
                pass_fds=opened,
            )
            found = json.loads(done.stdout)
        except (OSError, subprocess.SubprocessError) as error:
            raise RunError(f"emulation: {path}: {error}") from None
        except ValueError:
            errors = one_line(done.stderr.decode("utf-8", "replace").strip()[:_MOST_WORDS])
            raise RunError(f"emulation: {path} check printed nothing. {errors}".rstrip()) from None
    if not isinstance(found, dict):
        raise RunError(f"emulation: {path} check printed no document.")
    return found


# --- a run --------------------------------------------------------------------------------------


def run(
    document: Mapping[str, Any],
    files: Mapping[str, IO[bytes]],
    listener: Listener,
    *,
    has_command: bool,
) -> EmulationOutcome:
    """Run the emulation program until it ends.

    After Ctrl-C, the program ends and writes its results; a second Ctrl-C ends it immediately.

    Parameters
    ----------
    document : mapping
        Document from `airpath.emulation.document.document_of`.
    files : mapping of str to file
        Maps names to empty files that the program writes: ``results``; also ``server-capture`` and
        ``client-capture`` if packets are captured. Use unnamed files, so that no file remains after
        a SIGKILL.
    listener : callable
        Receives each event.
    has_command : bool
        True if the user's command controls the terminal and receives Ctrl-C from it.

    Raises
    ------
    BadValueError
        If the program does not accept the document.
    RunError
        If the run failed.
    KeyboardInterrupt
        After the second Ctrl-C.
    """
    events_read, events_write = os.pipe()
    input_read, input_write = os.pipe()
    # The program only checks that the pipe is open. A read must not block it.
    os.set_blocking(input_read, False)
    with contextlib.ExitStack() as at_end:
        ends = dict.fromkeys((events_read, events_write, input_read, input_write), True)

        def close(end: int) -> None:
            if ends.pop(end, False):
                os.close(end)

        for end in list(ends):
            at_end.callback(close, end)
        path, opened = at_end.enter_context(_executable())
        words = at_end.enter_context(tempfile.TemporaryFile())
        described = at_end.enter_context(tempfile.TemporaryFile())
        described.write(json.dumps(document, allow_nan=False).encode())
        described.seek(0)
        passed = {"document": described.fileno(), "events": events_write, "input": input_read}
        passed |= {name: file.fileno() for name, file in files.items()}
        options = [word for name, number in passed.items() for word in (f"--{name}", str(number))]
        try:
            child = subprocess.Popen(
                [os.fspath(path), "run", *options],
                pass_fds=(*passed.values(), *opened),
                # Without a command, only this process receives Ctrl-C; it then stops the program.
                start_new_session=not has_command,
                **_streams(has_command, words),
            )
        except OSError as error:
            raise RunError(f"emulation: {path}: cannot be started: {error}") from None
        at_end.callback(_reap, child)
        close(events_write)
        close(input_read)
        if has_command:
            at_end.enter_context(_foreground())
        interrupts = at_end.enter_context(_interrupts(child, notify=not has_command))
        last = _listen(events_read, listener)
        status = _status(child)
        close(input_write)
        words.seek(0)
        errors = words.read(_MOST_WORDS).decode("utf-8", "replace").strip()
        if len(interrupts) > 1 and not has_command:
            raise KeyboardInterrupt
        return _outcome_of(status, last, errors, interrupts[0] if interrupts else None)


def _streams(has_command: bool, words: IO[bytes]) -> dict[str, Any]:
    if has_command:
        return {}
    return {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": words}


def _listen(events: int, listener: Listener) -> Mapping[str, Any]:
    """Forward all events to the listener; return the final event, or an empty mapping."""
    last: Mapping[str, Any] = {}
    with os.fdopen(os.dup(events), "rb") as lines:
        for line in lines:
            try:
                event = json.loads(line)
                kind = event["event"]
            except (ValueError, TypeError, KeyError):
                shown = one_line(line.decode("utf-8", "replace").strip()[:100])
                raise RunError(
                    f"emulation: airpath-emu sent an invalid event: {shown}. Report this as a bug."
                ) from None
            listener(event)
            if kind in ("finished", "failed"):
                last = event
    return last


def _status(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait(_LAST_WORDS_S)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def _reap(child: subprocess.Popen[bytes]) -> None:
    """Kill the program if it still runs; its child processes end with it."""
    if child.poll() is None:
        child.kill()
        child.wait()


def _outcome_of(
    status: int, last: Mapping[str, Any], errors: str, number: int | None
) -> EmulationOutcome:
    if last.get("event") == "finished" and status == 0:
        return EmulationOutcome(str(last.get("reason")), last.get("status"), number)
    if last.get("event") == "failed":
        message = str(last.get("message") or last.get("what") or "it failed")
        if status == 2:
            raise BadValueError(f"emulation: {message}")
        if last.get("what") in _OF_MACHINE:
            message = f"{message.rstrip('.')}. See airpath emulate --check."
            raise MachineError(f"emulation: {message}")
        raise RunError(f"emulation: {message}")
    if number is not None:
        raise KeyboardInterrupt
    what = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
    reason = f": {one_line(errors)}" if errors else "."
    kind = BadValueError if status == 2 else RunError
    raise kind(f"emulation: airpath-emu {what} and reported no result{reason}")


@contextlib.contextmanager
def _foreground() -> Iterator[None]:
    """Regain control of the terminal at the end of the block; a command may have taken it."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            if os.isatty(0) and os.tcgetpgrp(0) != os.getpgrp():
                # SIGTTOU would stop this process if it runs in the background.
                before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, os.getpgrp())
                signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def _interrupts(child: subprocess.Popen[bytes], *, notify: bool) -> Iterator[list[int]]:
    """Handle SIGINT and SIGTERM while the block runs; yield the list of received signals.

    SIGTERM is forwarded to the child. SIGINT is forwarded only with `notify`, because otherwise the
    terminal sends it to the child. A second signal kills the child.
    """
    found: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield found
        return

    def note(number: int, _frame: Any) -> None:
        found.append(number)
        if len(found) == 1:
            patience.start()
        with contextlib.suppress(OSError):
            if len(found) > 1 and not (number == signal.SIGINT and not notify):
                child.kill()
            elif notify or number != signal.SIGINT:
                child.send_signal(number)

    patience = threading.Timer(_PATIENCE_S, child.kill)
    patience.daemon = True
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        patience.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)

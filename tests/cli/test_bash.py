"""Completion in a real bash: a line is typed, and the tab key is pressed."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airpath.cli.bash import SCRIPT
from forked import airpath_words

BASH = shutil.which("bash")
if BASH is None:
    pytest.skip("needs bash", allow_module_level=True)
pty = pytest.importorskip("pty", reason="needs a terminal")

SCENARIO = """\
duration = "2 s"
bottleneck = {aqm = "gred", link = {kind = "fixed", rate = "5 Mbit/s"}}
flows = [{base_rtt = "40 ms"}]
"""
NAMES = {"complete_func": "_it", "prog_name": "airpath", "autocomplete_var": "_AIRPATH_COMPLETE"}
PROMPT = "(ready)"


class Shell:
    """A bash that reads from a terminal, and prints its current line on Ctrl-T."""

    def __init__(self, directory: Path, settings: str) -> None:
        (directory / "airpath.sh").write_text(SCRIPT % NAMES)
        (directory / "settings.sh").write_text(
            f"PS1='{PROMPT}'\nsource airpath.sh\n{settings}\n"
            "bind 'set enable-bracketed-paste off'\n"
            """bind -x '"\\C-t": printf "<<%s>>\\n" "$READLINE_LINE"'\n"""
        )
        program = Path(airpath_words()[0])
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            os.chdir(directory)
            # The command of this environment, not of another installation.
            path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
            words = ["bash", "--noprofile", "--rcfile", "settings.sh", "-i"]
            os.execve(str(BASH), words, {**os.environ, "PATH": path, "TERM": "dumb"})
        self._read_until(lambda read: PROMPT.encode() in read)

    def completed(self, line: str) -> str:
        """Return the line after the tab key is pressed at its end."""
        os.write(self._terminal, f"{line}\t\x14\x15".encode())
        read = self._read_until(lambda read: b">>" in read.rpartition(b"<<")[2])
        return read.rpartition(b"<<")[2].partition(b">>")[0].decode()

    def _read_until(self, there: Callable[[bytes], bool]) -> bytes:
        read = b""
        while not there(read):
            read += os.read(self._terminal, 4096)
        return read

    def end(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._terminal)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Shell]]:
    shells: dict[str, Shell] = {}

    def start(settings: str) -> Shell:
        if settings not in shells:
            directory = tmp_path_factory.mktemp("bash")
            (directory / "scenario.toml").write_text(SCENARIO)
            shells[settings] = Shell(directory, settings)
        return shells[settings]

    yield start
    for each in shells.values():
        each.end()


SPLIT = {"as bash is": "", "words end at blanks only": "COMP_WORDBREAKS=$' \\t\\n'"}


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("reprod", "reproduce "),
        # Regression: a key was followed by a space, which made the next text a separate word.
        ("run scenario.toml --set dur", "run scenario.toml --set duration="),
        ("run scenario.toml --set bottl", "run scenario.toml --set bottleneck."),
        ("run scenario.toml --capture-rep", "run scenario.toml --capture-replication "),
        ("run scenario.toml --format pa", "run scenario.toml --format parquet "),
    ],
)
def test_line_is_completed(shell: Callable[[str], Shell], line: str, becomes: str) -> None:
    assert shell("").completed(f"airpath {line}") == f"airpath {becomes}"


@pytest.mark.parametrize("settings", SPLIT.values(), ids=SPLIT)
@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        # Regression: values were not completed: bash passed KEY, = and VALUE as three words.
        ("run scenario.toml --set bottleneck.aqm=co",
         "run scenario.toml --set bottleneck.aqm=codel "),
        ("run scenario.toml --set flows.0.tcp.recovery=",
         "run scenario.toml --set flows.0.tcp.recovery="),
        ("run scenario.toml --set flows.0.tcp.recovery=s",
         "run scenario.toml --set flows.0.tcp.recovery=sack "),
        ("run scenario.toml --set=record.ss=t", "run scenario.toml --set=record.ss=true "),
        ("run scenario.toml --set=bottl", "run scenario.toml --set=bottleneck."),
        ("run scenario.toml --capture=se", "run scenario.toml --capture=sender "),
        ("run scenario.toml --capture=sender,rec", "run scenario.toml --capture=sender,receiver "),
    ],
)  # fmt: skip
def test_line_with_an_equals_sign_is_completed_for_every_word_splitting(
    shell: Callable[[str], Shell], settings: str, line: str, becomes: str
) -> None:
    assert shell(settings).completed(f"airpath {line}") == f"airpath {becomes}"


def test_key_with_one_value_is_completed_after_the_equals_sign(
    shell: Callable[[str], Shell],
) -> None:
    """After `KEY=`, the word that bash completes is the equals sign itself."""
    line = "airpath list a"
    assert shell("").completed(line) == "airpath list aqm "
    line = "airpath phy per --channel="
    assert shell("").completed(f"{line}aw") == f"{line}awgn "


def test_files_are_completed_without_other_completions(shell: Callable[[str], Shell]) -> None:
    assert shell("").completed("airpath run scen") == "airpath run scenario.toml "

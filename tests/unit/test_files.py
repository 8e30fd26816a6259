"""Reading and writing of files: special files, files that are too large, full disks."""

from __future__ import annotations

import os
import pickle
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import airpath as ap
from airpath import files, phy
from airpath.engine.resolved import ResolvedScenario
from airpath.files import (
    NewFile,
    UnreadableError,
    new_file,
    output_directory,
    output_file,
    read_bytes,
    write_file,
    write_files,
)
from airpath.results.schemes import regime_names
from airpath.trace import Trace


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def device(path: Path) -> Path:
    # A symbolic link: creating a device needs privileges, and the link must not be replaced.
    path.symlink_to("/dev/zero")
    return path


@contextmanager
def listening(path: Path) -> Iterator[Path]:
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(os.path.relpath(path))
        yield path


NO_FILES = {"a pipe": pipe, "a device": device}


@pytest.fixture(params=NO_FILES)
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    return NO_FILES[request.param](tmp_path / "odd"), request.param


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# --- reading -----------------------------------------------------------------------------------


READERS: dict[str, Callable[[Path], object]] = {
    "scenario": ap.load,
    "trace": Trace.load,
    "table": phy.load,
}


@pytest.mark.parametrize("reader", READERS)
def test_non_regular_file_is_rejected_at_once(reader: str, no_file: tuple[Path, str]) -> None:
    """Regression: a pipe blocked until a process wrote, and ``/dev/zero`` filled the memory."""
    path, what = no_file
    with pytest.raises(ap.errors.BadValueError) as caught:
        READERS[reader](path)
    assert f"cannot be read: is {what}, not a regular file." in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_socket_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with listening(Path("s")) as path, pytest.raises(UnreadableError, match="is a socket, not"):
        read_bytes(path, 1)


@pytest.mark.parametrize(("reader", "mib"), [("scenario", 16), ("trace", 1024), ("table", 64)])
def test_file_that_is_too_large_is_not_read(reader: str, mib: int, tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate((mib << 20) + 1)
    with pytest.raises(
        ap.errors.BadValueError, match=f"larger than the {mib} MiB that are accepted"
    ):
        READERS[reader](path)


def test_traces_and_tables_of_a_scenario_must_be_regular_files(no_file: tuple[Path, str]) -> None:
    path, what = no_file
    (path.parent / "small.toml").write_text(
        'duration = "1 s"\n[[flows]]\nbase_rtt = "20 ms"\n[bottleneck]\naqm = "droptail"\n'
        f'link = {{kind = "trace", file = "{path.name}"}}\n'
    )
    with pytest.raises(ap.errors.ScenarioError) as caught:
        ap.check(path.parent / "small.toml")
    assert f'bottleneck.link.file = "odd": is {what}, not a regular file.' in str(caught.value)


def test_error_can_be_pickled() -> None:
    error = UnreadableError("a\nb", "cannot be read: no such file or directory")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error) == "a\\nb: cannot be read: no such file or directory."


# --- writing -----------------------------------------------------------------------------------


def test_non_regular_file_is_not_replaced(no_file: tuple[Path, str]) -> None:
    """Regression: ``trace generate /dev/full`` as root replaced the device by a file."""
    path, what = no_file

    def identity() -> tuple[int, ...]:
        found = path.lstat()
        return (found.st_mode, found.st_ino, found.st_mtime_ns)

    before = identity()
    for write in (output_file, lambda path: write_file(path, b"x"), NewFile):
        with pytest.raises(ap.errors.BadValueError, match=rf"cannot be written \(is {what}, not a"):
            write(path)
    assert identity() == before
    assert names(path.parent) == ["odd"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_device_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "full"
    try:
        os.mknod(path, 0o20666, os.makedev(1, 7))
    except OSError as error:
        pytest.skip(f"no device can be made here: {error}")
    with pytest.raises(ap.errors.BadValueError, match="is a device, not a regular file"):
        write_file(path, b"x")
    assert path.is_char_device()


def test_link_is_kept_and_its_target_is_replaced(tmp_path: Path) -> None:
    """Regression: the link was replaced, and its target was not changed."""
    (tmp_path / "there").mkdir()
    real = tmp_path / "there" / "real"
    link = tmp_path / "link"
    link.symlink_to(real)
    for content in (b"new", b"newer"):
        write_file(link, content)
        assert (link.is_symlink(), real.read_bytes()) == (True, content)
    assert names(real.parent) == ["real"]


def test_file_is_not_accepted_as_a_directory(tmp_path: Path) -> None:
    """Regression: the message was "file exists", which is not the problem."""
    path = tmp_path / "o.txt"
    path.write_text("")
    with pytest.raises(ap.errors.BadValueError) as caught:
        output_directory(path)
    assert (
        str(caught.value) == f'directory = "{path}": is a file, not a directory. Use another name.'
    )
    with pytest.raises(ap.errors.BadValueError, match="is a device, not a directory"):
        output_directory("/dev/null")


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Reject writes of more than `size` bytes to a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_full_disk_is_reported_in_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    """Regression: the command ended with a traceback, and left a provenance file without
    its trace.
    """
    old = tmp_path / "a"
    old.write_bytes(b"old")
    with largest_file(1000), pytest.raises(ap.errors.RunError) as caught:
        write_files({old: b"new", tmp_path / "b": bytes(2000)})
    assert str(caught.value) == f"{tmp_path}/b: cannot be written: file too large."
    assert names(tmp_path) == ["a"]
    assert old.read_bytes() == b"old"


def test_failed_write_leaves_no_file(tmp_path: Path) -> None:
    def write_half() -> None:
        with new_file(tmp_path / "a") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert names(tmp_path) == []


def test_table_that_became_a_pipe_does_not_block(tmp_path: Path) -> None:
    """After the run, the names of a link's MCSs are read from the table file again."""
    os.mkfifo(tmp_path / "per.json")
    policy = {"kind": "dual-regime", "threshold": 5}
    link = {
        "kind": "adaptive",
        "table": "per",
        "snr_noise_db": 0.0,
        "policy": policy,
        "snr": {"kind": "constant", "mean_db": 20.0},
    }
    about = {"per": {"file": str(tmp_path / "per.json"), "sha256": ""}}
    result: Any = SimpleNamespace(
        resolved=ResolvedScenario({"bottleneck": {"link": link}}), provenance={"tables": about}
    )
    assert regime_names(result) == ["regime 1", "regime 2"]


@pytest.mark.parametrize("name", ["a\x00b", "x" * 300])
def test_impossible_file_name_is_rejected(name: str, tmp_path: Path) -> None:
    """Regression: each of these names caused a system error during the creation of the message."""
    for check in (files.output_directory, lambda path: files.output_file(tmp_path / path)):
        with (
            pytest.raises(ap.errors.BadValueError, match="cannot be written"),
            files.not_left_empty(name),
        ):
            check(name)

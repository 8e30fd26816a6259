"""A parser of capture files, and calls of tshark."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from required import program

__all__ = ["Capture", "Frame", "assert_checksums", "frames_matching", "tshark", "with_payload"]

# --- a parser of pcapng, TCP and UDP ------------------------------------------------------------


class Frame(NamedTuple):
    """A captured packet."""

    time_ns: int
    head: bytes
    length: int
    options: dict[int, bytes]

    @property
    def source(self) -> tuple[str, int]:
        port = struct.unpack_from(">H", self.head, 20)[0]
        return ".".join(map(str, self.head[12:16])), port

    @property
    def sequence(self) -> int:
        return int(struct.unpack_from(">I", self.head, 24)[0])

    @property
    def acknowledged(self) -> int:
        return int(struct.unpack_from(">I", self.head, 28)[0])

    @property
    def flags(self) -> int:
        return self.head[33]

    @property
    def payload(self) -> int:
        return self.length - 20 - 4 * (self.head[32] >> 4)

    @property
    def is_resent(self) -> bool:
        return self.options.get(1) == b"retransmission"


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert data[at + length - 4 : at + length] == struct.pack("<I", length)
        yield kind, data[at + 8 : at + length - 4]
        at += length
    assert at == len(data)


def options(data: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            break
        found[code] = data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return found


class Capture:
    """Capture file with one section and one interface, parsed."""

    def __init__(self, path: Path) -> None:
        found = list(blocks(path.read_bytes()))
        assert [kind for kind, _ in found[:2]] == [0x0A0D0D0A, 1]
        self.section = options(found[0][1][16:])
        self.interface = options(found[1][1][8:])
        self.frames = [self._frame(kind, body) for kind, body in found[2:]]

    @staticmethod
    def _frame(kind: int, body: bytes) -> Frame:
        assert kind == 6
        interface, high, low, stored, length = struct.unpack_from("<IIIII", body)
        assert interface == 0
        after = 20 + (stored + 3) // 4 * 4
        return Frame(high << 32 | low, body[20 : 20 + stored], length, options(body[after:]))


def ones_complement_sum(data: bytes) -> int:
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def assert_checksums(frame: Frame) -> None:
    full = frame.head + bytes(frame.length - len(frame.head))
    assert struct.unpack_from(">H", full, 2)[0] == frame.length
    assert ones_complement_sum(full[:20]) == 0xFFFF
    pseudo = full[12:20] + struct.pack(">BBH", 0, full[9], frame.length - 20)
    assert ones_complement_sum(pseudo + full[20:]) == 0xFFFF


# --- tshark -------------------------------------------------------------------------------------

FULL_PACKETS = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]


def tshark(path: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            program("tshark", package="tshark"),
            "-n",
            "-r",
            str(path),
            *FULL_PACKETS,
            "-o",
            "udp.check_checksum:TRUE",
            *arguments,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def frames_matching(path: Path, condition: str) -> list[int]:
    fields = ("-T", "fields", "-e", "frame.number")
    return [int(line) for line in tshark(path, "-Y", condition, *fields).split()]


def with_payload(capture: Capture, path: Path) -> Path:
    """Write the frames with their payload of zeros, so that tshark checks the TCP checksum."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)]
    for frame in capture.frames:
        head = struct.pack("<IIII", *divmod(frame.time_ns, 10**9), frame.length, frame.length)
        parts += [head, frame.head, bytes(frame.length - len(frame.head))]
    path.write_bytes(b"".join(parts))
    return path

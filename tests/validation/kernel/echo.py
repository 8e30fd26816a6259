"""Echo requests to the server of an emulation: `python echo.py COUNT FILE` writes their RTTs, s.

As in ping, a request is time-stamped just before it is sent. The kernel time-stamps its reply at
arrival (SO_TIMESTAMPNS), so that the wake-up of this process does not affect the RTT. The socket is
that of icmp(7) for users without privileges.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import time
from pathlib import Path

BYTES = 56
"""Size of the payload, bytes; the default of ping."""
INTERVAL_S = 0.01
LOST_S = 1.0
"""Time after which a missing reply counts as lost, s."""
SO_TIMESTAMPNS = 35
"""Constant of asm-generic/socket.h."""


def echoed(link: socket.socket, number: int) -> float | None:
    """Return the RTT of one request, s; None if there was no reply."""
    sent_ns = time.time_ns()
    link.send(struct.pack("!BBHHH", 8, 0, 0, 0, number) + bytes(BYTES))
    while True:
        try:
            reply, stamps, _, _ = link.recvmsg(2048, 256)
        except TimeoutError:
            return None
        if struct.unpack("!H", reply[6:8])[0] == number:
            seconds, nanoseconds = struct.unpack("qq", stamps[0][2])
            return float(seconds * 10**9 + nanoseconds - sent_ns) * 1e-9


def main(count: int, file: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as link:
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        link.settimeout(LOST_S)
        link.connect((os.environ["AIRPATH_SERVER"], 0))
        lines = []
        for number in range(count):
            rtt_s = echoed(link, number)
            lines.append("lost\n" if rtt_s is None else f"{rtt_s:.9f}\n")
            time.sleep(INTERVAL_S)
    file.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

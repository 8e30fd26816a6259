"""Reno of RFC 5681 with byte counting (RFC 3465 with L = 1), in the engine's integer arithmetic."""

from __future__ import annotations

import airpath as ap
from airpath.parts import Ack, CongestionControl, CongestionSetup, Loss


class Reno(CongestionControl):
    """Congestion control of the profile ``rfc``."""

    credit = 0
    grow_unused = False

    def start(self, setup: CongestionSetup) -> None:
        self.grow_unused = setup.grow_unused

    def on_ack(self, ack: Ack) -> None:
        if ack.growth is None or (ack.app_limited and not self.grow_unused):
            return
        if self.ssthresh is None or self.cwnd < self.ssthresh:
            self.cwnd += min(ack.growth, self.mss)
            return
        self.credit += ack.growth
        if self.credit >= self.cwnd:
            self.credit -= int(self.cwnd)
            self.cwnd += self.mss

    def on_loss(self, loss: Loss) -> None:
        self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)
        self.credit = 0

    def on_rto(self, loss: Loss) -> None:
        if not loss.keeps_ssthresh:
            self.ssthresh = max(loss.flight // 2, 2 * self.mss)
        self.cwnd = self.mss
        self.credit = 0

    def on_ecn(self, loss: Loss) -> None:
        self.ssthresh = max(loss.flight // 2, 2 * self.mss)
        self.cwnd = min(self.cwnd, self.ssthresh)
        self.credit = 0


@ap.congestion_control("reno-in-python")
class RenoInPython(Reno):
    recovery = "reno"


@ap.congestion_control("newreno-in-python")
class NewRenoInPython(Reno):
    recovery = "newreno"

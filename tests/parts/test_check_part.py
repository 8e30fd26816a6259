"""`airpath.testing.check_part` finds parts with hidden state, and accepts the others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import airpath as ap
from airpath.parts import Ack, CongestionControl, CongestionSetup, Loss, Scheme, User
from airpath.scenario.cc import Congestion
from airpath.scenario.part_files import load_part_file


def control(grow: Any, start: Any = None) -> Any:
    """Return a part whose window grows by ``grow(part, ack)`` bytes per ACK."""

    class Part(CongestionControl):
        def start(self, setup: CongestionSetup) -> None:
            self.rng = setup.rng
            if start is not None:
                start(self, setup)

        def on_ack(self, ack: Ack) -> None:
            self.cwnd += grow(self, ack)

        def on_loss(self, loss: Loss) -> None:
            self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)

    return ap.congestion_control("part")(Part)


def test_reno_in_python_passes() -> None:
    load_part_file(Path(__file__).with_name("reno_parts.py"))
    ap.testing.check_part(Congestion.registry["newreno-in-python"])


def test_random_numbers_of_the_setup_pass() -> None:
    ap.testing.check_part(control(lambda part, ack: part.rng.random() * ack.growth))


COUNTED: list[int] = []


@pytest.mark.parametrize(
    ("grow", "start"),
    [
        (lambda _part, ack: random.random() * ack.growth, None),
        (lambda _part, ack: COUNTED.append(1) or len(COUNTED) % 7 * ack.growth, None),
        (
            lambda part, ack: type(part).most * ack.growth,
            lambda part, _: setattr(type(part), "most", getattr(type(part), "most", 0) + 0.01),
        ),
    ],
    ids=["other random numbers", "list of the module", "attribute of the class"],
)
def test_hidden_state_is_found(grow: Any, start: Any) -> None:
    with pytest.raises(ap.testing.PartContractError, match="hidden state"):
        ap.testing.check_part(control(grow, start))


def test_exception_is_reported_with_its_path() -> None:
    with pytest.raises(ap.testing.PartContractError, match=r"long queue: .*ZeroDivisionError"):
        ap.testing.check_part(control(lambda _part, ack: ack.growth / 0))


def test_scheduler_passes() -> None:
    @ap.parts.cell_scheduler("by-slot")
    class BySlot:
        def choose(self, slot: int, users: Sequence[User]) -> int:
            return slot % len(users)

    ap.testing.check_part(BySlot)


def test_policy_passes() -> None:
    @ap.parts.link_policy("safest")
    class Safest:
        def choose(self, schemes: Sequence[Scheme], regime: int) -> int:
            return min(range(len(schemes)), key=lambda place: schemes[place].per)

    ap.testing.check_part(Safest)


@pytest.mark.parametrize("part", [ap.cc.Reno, ap.cc.Reno(), int])
def test_other_objects_are_rejected(part: Any) -> None:
    with pytest.raises(TypeError, match="not a part in Python"):
        ap.testing.check_part(part)

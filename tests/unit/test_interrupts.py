"""Ctrl-C at critical moments."""

import os
import signal
from enum import Enum
from typing import Literal

import pytest

from airpath.interrupts import interrupts_wait, stop_on_ctrl_c, until
from airpath.scenario.base import Model


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


class Presses(Enum):
    """A value that simulates Ctrl-C when it is hashed, once armed."""

    ONE = "one"

    def __hash__(self) -> int:
        if ARMED and ARMED.pop():
            ctrl_c()
        return 1


ARMED: list[bool] = []


class BuiltWhenUsed(Model):
    value: Literal[Presses.ONE]


def test_ctrl_c_while_a_scenario_class_is_built_raises_keyboard_interrupt() -> None:
    ARMED.append(True)
    with pytest.raises(KeyboardInterrupt):
        BuiltWhenUsed(value=Presses.ONE)
    assert not ARMED
    assert BuiltWhenUsed(value=Presses.ONE).value is Presses.ONE


def test_ctrl_c_is_delayed_until_the_block_ends() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_wait():  # noqa: PT012
        ctrl_c()
        done.append(1)
    assert done == [1]


@pytest.mark.parametrize(("however_often", "done"), [(False, []), (True, [1])])
def test_second_ctrl_c_interrupts_the_block_unless_ignored(
    however_often: bool, done: list[int]
) -> None:
    reached: list[int] = []
    with pytest.raises(KeyboardInterrupt), interrupts_wait(however_often=however_often):  # noqa: PT012
        ctrl_c()
        ctrl_c()
        reached.append(1)
    assert reached == done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class PressesWhenDeleted:
    """An object that simulates Ctrl-C when it is deleted."""

    def __del__(self) -> None:
        ctrl_c()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_during_a_deletion_is_not_lost() -> None:
    """Regression: Python ignores exceptions of ``__del__``; `reproduce` ran to its end."""
    read = []
    with pytest.raises(KeyboardInterrupt), stop_on_ctrl_c() as stop:  # noqa: PT012
        for item in until(stop, range(3)):
            read.append(item)
            del [PressesWhenDeleted()][0]
    assert read == [0]


def test_inner_block_sees_ctrl_c_of_the_outer_block() -> None:
    with stop_on_ctrl_c() as outer:
        assert not outer()
        ctrl_c()
        with stop_on_ctrl_c() as inner:
            assert inner()
            with pytest.raises(KeyboardInterrupt):
                ctrl_c()
        assert outer()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

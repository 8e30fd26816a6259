"""Marks of curves show their values on hover, in every SVG."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from airpath.present.figure_files import figure_bytes
from airpath.present.style import new_figure, style


def titles(draw: Callable[[Any], None]) -> list[str]:
    with style():
        figure = new_figure(6, 3)
        draw(figure.subplots())
        data = figure_bytes(figure, "svg", "A figure", "a source").decode()
    return re.findall(r"<use [^>]*><title>(.*?)</title></use>", data, re.DOTALL)


def test_each_mark_shows_its_name_and_values() -> None:
    def draw(axis: Any) -> None:
        axis.plot([1, 10, 1000], [0.25, 1 / 3, 2e-5], "o-", label="codel & pie")
        axis.set_xscale("log")
        axis.set_xlabel("buffer, packets")
        axis.set_ylabel("loss")

    assert titles(draw) == [
        "codel &amp; pie\nbuffer, packets: 1\nloss: 0.25",
        "codel &amp; pie\nbuffer, packets: 10\nloss: 0.3333",
        "codel &amp; pie\nbuffer, packets: 1000\nloss: 2e-05",
    ]


def test_intervals_have_the_name_of_their_curve_and_words_are_unchanged() -> None:
    def draw(axis: Any) -> None:
        axis.errorbar([0, 1], [3, 4], yerr=[0.1, 0.2], fmt="s", capsize=3, label="cubic")
        axis.set_xticks([0, 1], ["droptail", "codel"])
        axis.set_xlabel("aqm")
        axis.set_title("goodput, Mbit/s")

    assert titles(draw) == [
        "cubic\naqm: droptail\ngoodput, Mbit/s: 3",
        "cubic\naqm: codel\ngoodput, Mbit/s: 4",
    ]


def test_position_is_found_at_any_size_and_hidden_marks_have_no_text() -> None:
    def draw(axis: Any) -> None:
        axis.figure.set_dpi(117)
        axis.plot(range(300), [((7 * n) % 301) / 3 for n in range(300)], ".", label="many")
        axis.plot([5], [float("nan")], "o", label="none")

    found = titles(draw)
    assert len(found) == 300
    assert found[2] == "many\nx: 2\ny: 4.667"


@pytest.mark.parametrize("look", ["-", "|"])
def test_curves_without_marks_have_no_text(look: str) -> None:
    assert titles(lambda axis: axis.plot([1, 2], [3, 4], look)) == []


def test_figure_with_identifiers_is_unchanged() -> None:
    def draw(axis: Any) -> None:
        axis.plot([1], [2], "o")[0].set_gid("point-1")

    assert titles(draw) == []

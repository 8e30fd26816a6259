"""Tables as LaTeX source."""

from __future__ import annotations

import pytest

import airpath as ap
from airpath.present.latex import latex
from airpath.present.tables import Table


def rows(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.endswith(r" \\")]


def test_units_are_in_the_heading_and_numbers_in_math_mode() -> None:
    table = Table(
        "Flows",
        ["flow", "goodput", "delay", "lost"],
        [
            ["0 web", "13.909 ± 0.059 Mbit/s", "1.2 ms", "0.5 (0.0 … 1.7)"],
            ["1 bulk_1", "1.0e-05 Mbit/s", "–", "−3"],
        ],
    )
    head, *body = rows(latex(table))
    assert head == r"flow & goodput, Mbit/s & delay, ms & lost \\"
    assert body == [
        r"0 web & $13.909 \pm 0.059$ & $1.2$ & $0.5~[0.0,\,1.7]$ \\",
        r"1 bulk\_1 & $1.0 \times 10^{-5}$ & -- & $-3$ \\",
    ]
    assert r"\begin{tabular}{@{}lrrr@{}}" in latex(table)


def test_different_units_stay_next_to_their_numbers() -> None:
    source = latex(Table("", ["wait"], [["9 ± 1 µs"], ["5 ms"]]))
    assert rows(source) == [r"wait \\", r"$9 \pm 1$~\textmu{}s \\", r"$5$~ms \\"]


def test_column_with_words_is_text_and_special_characters_are_escaped() -> None:
    table = Table("", ["100 % of {x}"], [["a & b"], ["5 ms"]], notes=["Jain's index: 1"])
    source = latex(table)
    assert rows(source) == [r"100 \% of \{x\} \\", r"a \& b \\", r"$5$~ms \\"]
    assert r"\begin{tabular}{@{}l@{}}" in source
    assert source.endswith("\\end{tabular}\n% Jain's index: 1\n")


def test_numbers_with_intervals_have_the_same_form_in_text_cells() -> None:
    drops = "0.6 (0.0 … 3.4) early, 1.5 ± 0.2 limit_1"
    source = latex(Table("", ["drops"], [[drops], ["none"]]))
    assert rows(source)[1] == r"$0.6~[0.0,\,3.4]$ early, $1.5 \pm 0.2$ limit\_1 \\"


def test_column_groups_are_spanned_and_caption_adds_table_environment() -> None:
    table = Table("", ["aqm", ("goodput", "cubic"), ("goodput", "reno")], [["pie", "1", "2"]])
    lines = latex(table, caption="A_1", label="tab:a_1").splitlines()
    assert lines[:4] == [
        *(r"\begin{table}", r"\centering", r"\caption{A\_1}", r"\label{tab:a_1}"),
    ]
    assert r" & \multicolumn{2}{c}{goodput} \\" in lines
    assert r"\cmidrule(lr){2-3}" in lines
    assert lines[-1] == r"\end{table}"


def test_caption_that_is_no_text_is_rejected() -> None:
    with pytest.raises(ap.errors.BadValueError, match="caption = 3"):
        latex(Table("", ["a"], []), caption=3)  # type: ignore[arg-type]

"""`Comparison`: the answers of several engines to one scenario, as a table, figure and files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from airpath.arguments import check_all, word
from airpath.comparison import texts
from airpath.comparison.answers import Answer, Row, rows_of
from airpath.comparison.explain import facts_of, judged
from airpath.comparison.facts import Fact
from airpath.comparison.quantities import ComparedQuantity
from airpath.engine.resolved import ResolvedScenario
from airpath.files import output_directory, write_files
from airpath.present import figure_files, html
from airpath.present.drawing import FigureOptions, drawing
from airpath.present.latex import latex
from airpath.results.frames import plain
from airpath.results.provenance import as_comment, source_line
from airpath.scenario.overrides import titled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


__all__ = ["FILES", "Comparison"]

FILES = ("comparison.json", "comparison.csv")
"""Files of `Comparison.save`, in addition to figures."""

_STEM = "comparison"


class Comparison:
    """Answers of several engines to one scenario, and their differences.

    Attributes
    ----------
    provenance : dict
        Version, commit, command, seed and scenario of the comparison.
    resolved : ResolvedScenario
        The resolved scenario.
    confidence : float
        Confidence level of all intervals, in (0, 1).
    answers : mapping of str to Answer
        Maps an engine to its answer, in the order of the argument `engines`. An answer has a
        `result` (``simulate`` and ``emulate``) or a `solution` (``solve``).
    refused : mapping of str to str
        Maps an engine without an answer to the reason, in one line.
    base : str
        Engine to which differences are relative.
    interrupted : bool
        Whether Ctrl-C ended the comparison before all engines finished.
    """

    def __init__(
        self,
        *,
        provenance: dict[str, Any],
        resolved: ResolvedScenario,
        confidence: float,
        answers: Mapping[str, Answer],
        refused: Mapping[str, str],
        wanted: Sequence[ComparedQuantity],
        base: str | None = None,
        interrupted: bool = False,
        tried: Sequence[Fact] = (),
        facts: Sequence[Fact] | None = None,
    ) -> None:
        self.provenance = provenance
        self.resolved = resolved
        self.confidence = confidence
        self.answers = dict(answers)
        self.refused = dict(refused)
        self.base = next(iter(answers)) if base is None else base
        self.interrupted = interrupted
        self._wanted = wanted
        self._tried = tried
        self._facts = facts

    def __repr__(self) -> str:
        name = json.dumps(self.resolved.name, ensure_ascii=False)
        return f"<Comparison of {name}: {', '.join(self.answers)}>"

    def _repr_html_(self) -> str:
        parts = [html.heading(self.title), html.paragraph(texts.heading(self))]
        parts.append(html.table(texts.table(self)))
        return "".join([*parts, *map(html.paragraph, texts.explanation(self))])

    @property
    def title(self) -> str:
        """The scenario's name, with the overridden values."""
        return titled(self.resolved.name, self.provenance.get("overrides", ()))

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that answered."""
        return tuple(self.answers)

    @property
    def others(self) -> tuple[str, ...]:
        """The engines that are compared with the base."""
        return tuple(name for name in self.answers if name != self.base)

    def relative_to(self, engine: str) -> Comparison:
        """Return the comparison with another engine as the base.

        Parameters
        ----------
        engine : str
            Engine with an answer.

        Raises
        ------
        BadValueError
            If the engine has no answer.
        """
        check_all(word("engine", engine, self.answers))
        return Comparison(
            provenance=self.provenance,
            resolved=self.resolved,
            confidence=self.confidence,
            answers=self.answers,
            refused=self.refused,
            wanted=self._wanted,
            base=engine,
            interrupted=self.interrupted,
            tried=self._tried,
            facts=self.facts,
        )

    @cached_property
    def facts(self) -> list[Fact]:
        """The facts that the engines report and that affect differences."""
        if self._facts is not None:
            return list(self._facts)
        return facts_of(self.answers, self.resolved, self._tried)

    @cached_property
    def rows(self) -> list[Row]:
        """The quantities that at least two engines report, in the order of the table."""
        found = rows_of(self.answers, self._wanted, self.base, self.confidence)
        return judged(found, self.facts, self.base)

    def not_explained(self) -> Iterator[tuple[str, Row]]:
        """Yield the engine and the row of each difference that is not explained."""
        for engine in self.others:
            for row in self.rows:
                found = row.differences.get(engine)
                if found is not None and found.verdict == "not explained":
                    yield engine, row

    def table(self) -> pd.DataFrame:
        """Return one row per quantity and engine.

        Returns
        -------
        table : DataFrame
            `quantity` (the name of a metric), `label`, `of`, `engine`, `mean`, `low`, `high` and
            `reps` of the answer. For the difference from the base: `difference`, `difference_low`,
            `difference_high`, the same divided by the base's mean as `relative`, `relative_low` and
            `relative_high`, and `method`, `verdict` and `facts`; these are missing for the base
            itself.
        """
        import pandas as pd

        return pd.DataFrame(
            [_line(row, engine) for row in self.rows for engine in self.answers],
            columns=list(_COLUMNS),
        )

    @drawing
    def figure(self, **_options: Unpack[FigureOptions]) -> Figure:
        """Plot a panel for each quantity, with a point and an interval for each engine.

        It has the arguments of all figures; see `Plot`.
        """
        from airpath.comparison.figure import figure_of

        return figure_of(self)

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """Return the answers and their differences as LaTeX source.

        Parameters
        ----------
        caption, label : str, optional
            If one of them is set, the ``tabular`` is placed in a ``table`` environment.

        Returns
        -------
        source : str
            LaTeX source, for the package ``booktabs``, of the table that ``airpath compare``
            prints.
        """
        return latex(texts.table(self), caption=caption, label=label)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of ``compare --json``; it contains no NaN and no infinity."""
        return {
            "provenance": self.provenance,
            "complete": not self.interrupted,
            "base": self.base,
            "engines": [
                {
                    "engine": name,
                    "answered": True,
                    **texts.about(answer),
                    "advisories": [advisory.to_dict() for advisory in answer.advisories],
                    "values": plain(answer.quantities),
                    "execution": answer.execution and answer.execution.to_dict(),
                }
                for name, answer in self.answers.items()
            ]
            + [
                {"engine": name, "answered": False, "reason": reason}
                for name, reason in self.refused.items()
            ],
            "rows": [row.to_dict() for row in self.rows],
            "facts": [fact.to_dict() for fact in self.facts],
            "not_explained": [
                {"engine": engine, "quantity": row.quantity.name}
                for engine, row in self.not_explained()
            ],
        }

    def to_json(self) -> str:
        """Return `to_dict` as a JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def save(
        self,
        directory: str | Path,
        *,
        figure_formats: str | Sequence[str] | None = "png",
    ) -> list[Path]:
        """Write the comparison into a directory, each file with its provenance.

        Parameters
        ----------
        directory : path
            Directory; created if it does not exist. Results of single engines are written by their
            `save`.
        figure_formats : str or sequence of str, optional
            ``png``, ``pdf``, ``svg``, or several; None for no figure. Default ``png``.

        Returns
        -------
        paths : list of Path
            ``comparison.json``, ``comparison.csv`` and the figure.

        Raises
        ------
        BadValueError
            If the directory is not writable, or a format is unknown.
        """
        kinds = [] if figure_formats is None else figure_files.checked_formats(figure_formats)
        where = output_directory(directory)
        table = self.table().to_csv(index=False, lineterminator="\n")
        contents = (self.to_json() + "\n", as_comment(self.provenance) + table)
        paths = [where / name for name in FILES]
        write_files(
            {path: text.encode("utf-8") for path, text in zip(paths, contents, strict=True)}
        )
        return [*paths, *(self.save_figure(where, kinds) if kinds else ())]

    def save_figure(
        self, directory: str | Path, figure_formats: str | Sequence[str] = "png"
    ) -> list[Path]:
        """Write the figure into a directory.

        Parameters
        ----------
        directory : path
            Directory; created if it does not exist.
        figure_formats : str or sequence of str
            ``png``, ``pdf``, ``svg``, or several. Default ``png``.

        Returns
        -------
        paths : list of Path
            ``comparison.png`` and so on.

        Raises
        ------
        BadValueError
            If the directory is not writable, or a format is unknown.
        """
        from airpath.comparison.figure import figure_of

        kinds = figure_files.checked_formats(figure_formats)
        where = output_directory(directory)
        drawn = figure_of(self)
        name = f"{self.title}: {_STEM}"
        return figure_files.save(drawn, where, _STEM, name, source_line(self.provenance), kinds)


_COLUMNS = (
    *("quantity", "label", "of", "engine", "mean", "low", "high", "reps", "difference"),
    *("difference_low", "difference_high", "relative", "relative_low", "relative_high"),
    *("method", "verdict", "facts"),
)


def _line(row: Row, engine: str) -> dict[str, Any]:
    mean = row.answers[engine]
    found: dict[str, Any] = {
        "quantity": row.quantity.name,
        "label": row.quantity.label,
        "of": row.quantity.of,
        "engine": engine,
        "mean": mean.mean,
        "low": mean.low,
        "high": mean.high,
        "reps": mean.reps,
    }
    judged = row.differences.get(engine)
    if judged is not None:
        absolute, relative = judged.difference.absolute, judged.difference.relative
        found |= {
            "difference": absolute.mean,
            "difference_low": absolute.low,
            "difference_high": absolute.high,
            "relative": relative.mean,
            "relative_low": relative.low,
            "relative_high": relative.high,
            "method": judged.difference.method,
            "verdict": judged.verdict,
            "facts": " ".join(judged.facts),
        }
    return found

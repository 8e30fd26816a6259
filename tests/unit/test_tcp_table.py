"""The table of TCP parameters: it is consistent, and invalid entries are rejected."""

from __future__ import annotations

from typing import Any

import pytest

from airpath.scenario import TcpConfig, profiles
from airpath.scenario.tcp import table
from airpath.scenario.tcp.table import Condition, Parameter, model_groups, parameters

ROWS = list(parameters().values())
BOOLEANS = (False, True)


def words(row: Parameter) -> tuple[Any, ...]:
    """Return the accepted values of a parameter with a fixed set of values, else an empty tuple."""
    return BOOLEANS if row.type == "bool" else tuple(row.values)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_values_of_a_parameter_are_accepted_and_have_sources(row: Parameter) -> None:
    assert list(row.profiles) == list(profiles())
    for option in row.profiles.values():
        assert list(TcpConfig(**{row.name: option.value}).document()) == [row.name]
        assert option.source
    for value in row.kernel.same:
        TcpConfig(**{row.name: value})
    assert (row.type == "choice") == bool(row.values)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_conditions_name_values_of_other_parameters(row: Parameter) -> None:
    conditions: list[Condition] = [row.kernel.when, row.kernel.unless]
    if row.needs is not None:
        assert {row.needs.value, row.needs.otherwise} <= set(words(row))
        conditions += row.needs.any_of
    # DCTCP's echo is a value of a resolved scenario only, and `cc` is no parameter of the table.
    more: dict[str, tuple[Any, ...]] = {"ecn": ("dctcp",), "cc": ("reno", "dctcp")}
    for condition in conditions:
        for name, values in condition.items():
            known = words(parameters()[name]) if name in parameters() else ()
            assert set(values) <= {*known, *more.get(name, ())} or known == (), name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_kernel_setting_has_a_text_for_each_value(row: Parameter) -> None:
    for texts in row.kernel.sysctls.values():
        assert list(texts) == [str(word).lower() for word in words(row)]


def test_missing_or_additional_key_of_a_parameter_is_rejected() -> None:
    given: dict[str, Any] = {"type": "bool", "meaning": "A parameter"}
    given |= {name: [True, "a source"] for name in profiles()}
    assert table._parameter("trial", given).profiles["rfc"].value is True
    with pytest.raises(TypeError, match="unexpected keyword argument 'meanings'"):
        table._parameter("trial", given | {"meanings": "?"})
    with pytest.raises(KeyError, match="linux"):
        table._parameter("trial", {key: given[key] for key in given if key != "linux"})


def test_group_missing_in_a_model_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    row = parameters()["mss"]._replace(models={"fixed-point": "packets"})
    monkeypatch.setattr(table, "parameters", lambda: {"mss": row})
    with pytest.raises(ValueError, match=r"mss: models\.fixed-point = 'packets': no such group"):
        model_groups("fixed-point")

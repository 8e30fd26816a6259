"""Scenario files: round trip, random changes, and their reference pages."""

from __future__ import annotations

import copy
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import airpath as ap
from airpath.errors import dotted
from airpath.scenario import FAMILIES, loads
from airpath.scenario.base import Component, Model
from airpath.scenario.toml_text import write_table
from random_examples import examples

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"

FULL = """
name = "all of it"
duration = "300 s"
warmup = "30 s"

[bottleneck.aqm]
kind = "droptail"
limit = "150 kB"

[bottleneck.link]
kind = "fixed"
rate = "26.88 Mbit/s"
delay = "2.5 ms"
loss = 0.001
frame_overhead = "2 B"
errors = {kind = "burst", frame_error_rate = 0.1, doppler = 0.01}

[ack_path]
kind = "link"
link = {kind = "multi-regime", thresholds = [10, 20], regimes = [
    {rate = "1 Mbit/s"}, {rate = "2 Mbit/s", per = 0.1}, {rate = "3 Mbit/s", per = 1}
    ], errors = {kind = "independent", loss = 0.1}}
aqm = {kind = "gred", min_th = "5 packets"}

[backhaul]
rate = "100 Mbit/s"
delay = "5 ms"

[[flows]]
count = 2
cc = "newreno"
base_rtt = ["40 ms", "50 ms"]
start = {uniform = ["0 s", "1 s"]}
tcp = {min_rto = "200 ms", initial_ssthresh = "unlimited", limited_transmit = false}
access = {rate = "1 Gbit/s"}

[[flows]]
profile = "ns3-2014"
access = {rate = "1 Gbit/s", delay = "1 ms"}
egress = {delay = "2 ms"}
return = {delay = "3 ms"}
size = "10 MB"
stop = "20 s"

[[flows]]
source = "poisson"
rate = "1 Mbit/s"

[[control]]
at = "50 s"
rate = "128 kbit/s"

[record]
series = ["cwnd", "queue"]
interval = "10 ms"
"""


# --- round trip --------------------------------------------------------------------------------


def test_scenario_is_read_back_from_its_toml() -> None:
    scenario = loads(FULL)
    again = loads(scenario.to_toml())
    assert again.document() == scenario.document()
    assert again.resolve() == scenario.resolve()
    assert again.to_toml() == scenario.to_toml()


def test_scenario_made_in_python_is_read_back() -> None:
    scenario = ap.Scenario(
        name='a "b" \\ c\nd \x7f \U0001f4f6',
        flows=ap.flows(4, cc="reno", base_rtt=0.04),
        bottleneck=ap.Bottleneck(
            aqm=ap.aqm.Gred(),
            link=ap.link.DualRegime(rates=(1e6, 2e6), pers=(0, 0.1), threshold=20),
        ),
        duration=300,
    )
    assert loads(scenario.to_toml()).document() == scenario.document()


def test_written_toml_is_easy_to_read() -> None:
    scenario = ap.Scenario(
        flows=ap.flows(4, cc="reno", base_rtt="40 ms"),
        bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="5 Mbit/s")),
        duration="300 s",
    )
    assert scenario.to_toml() == (
        'name = "scenario"\nduration = "300 s"\nwarmup = "0 s"\ncontrol = []\n'
        '\n[bottleneck.aqm]\nkind = "gred"\nmin_th = 30\nmax_th = 90\nmax_p = 0.1\necn = false\n'
        '\n[bottleneck.link]\nkind = "fixed"\nrate = "5 Mbit/s"\ndelay = "0 s"\n'
        'frame_overhead = "0 B"\nloss = 0.0\n'
        '\n[ack_path]\nkind = "ideal"\n'
        '\n[record]\nseries = []\ninterval = "0 s"\ndistributions = []\nss = false\n'
        'ss_interval = "100 ms"\n'
        "flow_monitor = false\ndelay_parts = false\n"
        "\n[capture]\npoints = []\nreplication = 0\n"
        '\n[[flows]]\nsource = "tcp"\ncount = 4\nbase_rtt = "40 ms"\nstart = "0 s"\n'
        'direction = "forward"\n'
        'cc = {kind = "reno", beta_ecn = 0.5, hystart = "off"}\nprofile = "rfc"\ntcp = {}\n'
    )


def test_trace_paths_remain_valid_in_another_directory(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "a.down").write_text("1\n")
    file = tmp_path / "in" / "lte.toml"
    file.write_text(
        'duration = "1 s"\n[[flows]]\nbase_rtt = "40 ms"\n'
        '[bottleneck]\naqm = "droptail"\nlink = {kind = "trace", file = "a.down"}\n'
    )
    scenario = ap.load(file)
    moved = tmp_path / "out" / "again.toml"
    for text, written in (
        (scenario.to_toml(), f"{tmp_path}/in/a.down"),
        (scenario.to_toml(relative_to=moved.parent), "../in/a.down"),
    ):
        assert f'file = "{written}"' in text
        moved.write_text(text)
        (path,) = ap.load(moved).resolve()[1].values()
        assert path.samefile(tmp_path / "in" / "a.down")


# --- overrides ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_overrides_replace_values() -> None:
    scenario = loads(
        FULL,
        overrides=[
            ("bottleneck.link.rate", "5 Mbit/s"),
            ("bottleneck.aqm", "gred"),
            ("bottleneck.aqm", '{kind = "gred"}'),
            ("bottleneck.aqm.min_th", "7"),
            ("flows.0.base_rtt.1", '"45 ms"'),
            ("flows.2.count", "8"),
            ("flows.2.packet", "2e2 B"),
            ("flows.1.tcp.handshake", "false"),
            ("name", "2024-01-01"),
        ],
    )
    assert scenario.name == "2024-01-01"
    assert str(scenario.bottleneck.link.rate) == "5 Mbit/s"  # type: ignore[attr-defined]
    assert scenario.bottleneck.aqm == ap.aqm.Gred(min_th=7)
    assert scenario.flows[0].base_rtts() == [(40_000_000, 1), (45_000_000, 1)]
    assert scenario.flows[2].count == 8
    assert scenario.flows[2].packet == 200  # type: ignore[attr-defined]
    assert scenario.flows[1].tcp.handshake is False  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", ["1\nname = 2", "1 # x", "'", '"', "", "[", "inf", "\x00"])
def test_override_changes_its_own_key_only(value: str) -> None:
    assert loads(FULL, overrides=[("control", "[]")]).duration == 300 * 10**9
    try:
        scenario = loads(FULL, overrides=[("bottleneck.link.loss", value)])
    except ap.errors.ScenarioError as error:
        assert [problem.field_name for problem in error.problems] == ["bottleneck.link.loss"]
    else:
        assert scenario.name == "all of it"


# --- random changes ----------------------------------------------------------------------------

DOCUMENT = tomllib.loads(FULL)


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    items = list(value.items()) if isinstance(value, dict) else []
    for key, item in enumerate(value) if isinstance(value, list) else items:
        yield from paths(item, (*path, key))


def plain_values() -> st.SearchStrategy[Any]:
    words = ["5 Mbit/s", "1 ms", "0 s", "-1 s", "1e999999999 s", "64 kB", "99 packets", "gred"]
    words += ["reverse", "multi-regime", "trace", "reno", "cbr", "unlimited", "traces:", "ns3-2014"]
    leaves = (
        st.none().map(lambda _: "")
        | st.booleans()
        | st.integers(-5, 100)
        | st.integers()
        | st.sampled_from([10**18, 2**63, 2**64, 10**400])
        | st.floats()
        | st.sampled_from(words)
        | st.text(max_size=20)
    )
    keys = st.sampled_from(
        sorted({str(component) for path in paths(DOCUMENT) for component in path})
    )
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    )


ALL_PATHS = list(paths(DOCUMENT))[1:]


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    for _ in range(draw(st.integers(1, 3))):
        *parents, last = draw(st.sampled_from(ALL_PATHS))
        table: Any = document
        try:
            for component in parents:
                table = table[component]
            if draw(st.booleans()):
                table[last] = draw(plain_values())
            elif draw(st.booleans()):
                del table[last]
            else:
                table[draw(st.text(max_size=8))] = draw(plain_values())
        except (KeyError, IndexError, TypeError):
            continue  # An earlier change removed the target of this one.
    return document


def check_survives(text: str) -> None:
    """Load and resolve: both succeed or raise a `ScenarioError` with one line per problem."""
    try:
        scenario = loads(text, place="x.toml")
        assert loads(scenario.to_toml()).document() == scenario.document()
        resolved = json.loads(scenario.resolve()[0])
    except ap.errors.ScenarioError as error:
        assert error.problems
        assert len(str(error).splitlines()) == len(error.problems)
    else:
        counts = [group.count for group in scenario.flows]
        assert sum(entry["count"] for entry in resolved["flows"]) == sum(counts)


def as_toml(document: dict[str, Any]) -> str:
    def value(item: Any) -> str:
        if isinstance(item, dict):
            return "{" + ", ".join(f"{dotted((k,))} = {value(v)}" for k, v in item.items()) + "}"
        if isinstance(item, list):
            return "[" + ", ".join(map(value, item)) + "]"
        if isinstance(item, int) and not isinstance(item, bool) and abs(item) >= 10**60:
            return hex(item) if item > 0 else "-1"
        if isinstance(item, float):
            return repr(item)
        return "\n".join(write_table({"x": item})).removeprefix("x = ")

    return "\n".join(f"{dotted((key,))} = {value(item)}" for key, item in document.items())


@given(mutated())
@examples(100)
def test_changed_file_is_read_or_rejected(document: dict[str, Any]) -> None:
    text = as_toml(document)
    tomllib.loads(text)
    check_survives(text)


@given(st.data())
@examples(100)
def test_garbled_file_is_read_or_rejected(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(FULL) - 1))
    length = data.draw(st.integers(0, 30))
    text = FULL[:at] + data.draw(st.text(max_size=10)) + FULL[at + length :]
    check_survives(text)


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
@example("a = 0x" + "f" * 5000)
@example("[" * 5000)
@example('name = "\\ud800"')
def test_any_text_is_rejected(text: str) -> None:
    with pytest.raises(ap.errors.ScenarioError):
        loads(text)


@given(st.text(max_size=30), st.text(max_size=30))
@example("a" * 10, "[" * 5000)
@examples(100)
@pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")
def test_any_override_is_accepted_or_rejected(key: str, value: str) -> None:
    try:
        loads(FULL, overrides=[(key, value)])
    except ap.errors.ScenarioError as error:
        assert len(str(error).splitlines()) == len(error.problems)


@given(plain_values() | st.none() | st.binary() | st.dates())
@examples(100)
def test_any_python_value_is_accepted_or_rejected(value: Any) -> None:
    for make in (
        ap.aqm.Gred,
        ap.link.Fixed,
        ap.link.MultiRegime,
        ap.Record,
        ap.TcpConfig,
        ap.aqm.DropTail,
    ):
        for key in make.model_fields:
            try:
                make(**{key: value})
            except ap.errors.ScenarioError as error:
                assert len(str(error).splitlines()) == len(error.problems)


# --- the reference -----------------------------------------------------------------------------


def models(base: type[Model] = Model) -> Iterator[type[Model]]:
    for model in base.__subclasses__():
        if model.__module__.startswith("airpath.scenario."):
            yield model
        yield from models(model)


COMPONENTS = {model.public_name(): model for model in models()}


def tables(page: str, marker: str) -> dict[str, dict[str, list[str]]]:
    """Return the rows of each marked table, as a mapping from the first cell to the other cells."""
    found: dict[str, dict[str, list[str]]] = {}
    text = (REFERENCE / page).read_text("utf-8")
    for name, body in re.findall(rf"<!-- {marker}: (\S+) -->\n(.*?)(?=\n<!--|\Z)", text, re.DOTALL):
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in body.splitlines()
            if line.startswith("| `")
        ]
        found[name] = {row[0].strip("`"): row[1:] for row in rows}
    return found


SCENARIO_TABLES = tables("scenario.md", "class")


def test_every_component_is_in_the_reference() -> None:
    families = {"Component", "ack_path.AckPath", "link.SlotRate"} | {
        family.public_name() for family in FAMILIES.values()
    }
    elsewhere = {"TcpConfig", "TcpParameters", "traffic.Uniform"}
    text = (REFERENCE / "scenario.md").read_text("utf-8")
    # The tables of a family's members are generated from the classes:
    # tests/docs/test_parameters.py.
    made = re.findall(r"<!-- components: (\w+) -->", text)
    members = {
        component.public_name() for name in made for component in FAMILIES[name].registry.values()
    }
    links = {"CellUser", "TddUser", "Regime", "Framing", "Harq", "AttemptErrors", "Arq", "Radio"}
    links |= {"ReedSolomon", "SmallPackets"}
    rows = {"aqm.SbdRow", "aqm.RlcRedRow", *(f"link.{name}" for name in links)}
    public = {name for name, model in COMPONENTS.items() if not model.__name__.startswith("_")}
    assert set(SCENARIO_TABLES) == public - families - elsewhere - members - rows


@pytest.mark.parametrize("name", sorted(SCENARIO_TABLES))
def test_keys_and_defaults_of_the_reference_match_the_code(name: str) -> None:
    model, rows = COMPONENTS[name], SCENARIO_TABLES[name]
    fields = {info.alias or key: info for key, info in model.model_fields.items()}
    if name != "traffic.Source" and issubclass(model, ap.traffic.Source):
        fields = {
            key: info
            for key, info in fields.items()
            if key not in SCENARIO_TABLES["traffic.Source"]
        }
    assert set(rows) == set(fields)
    for key, info in fields.items():
        default = rows[key][2]
        if info.is_required():
            assert default == "*required*", key
        elif info.get_default(call_default_factory=True, validated_data={}) is None:
            assert default == "—", key
        else:
            value = info.get_default(call_default_factory=True, validated_data={})
            shown = value.document() if isinstance(value, Model) else value
            shown = (
                str(value)
                if isinstance(value, (ap.units.Duration, ap.units.Size, ap.units.Packets))
                else shown
            )
            assert tomllib.loads(f"value = {default.strip('`')}")["value"] == shown, key


@pytest.mark.parametrize("name", sorted(COMPONENTS))
def test_every_parameter_is_documented(name: str) -> None:
    model = COMPONENTS[name]
    text = inspect.cleandoc(model.__doc__ or "")  # Python 3.13 dedents docstrings itself
    own = set(model.model_fields) - set(
        ap.traffic.Source.model_fields if name != "traffic.Source" else ()
    )
    if issubclass(model, Component):
        own.discard(model.chosen_by)
    undocumented = {
        key for key in own if not re.search(rf"^(\w+, )*{key}(, \w+)* : ", text, re.MULTILINE)
    }
    if model.__name__.startswith("_") or name in ("Component", "link.Link"):
        return
    assert not undocumented


@pytest.mark.parametrize(
    "unit", [ap.units.Duration, ap.units.Rate, ap.units.Size, ap.units.Packets, ap.units.Segments]
)
def test_units_of_the_reference_match_the_code(unit: type[ap.units.Duration]) -> None:
    text = (REFERENCE / "units.md").read_text("utf-8")
    (row,) = [
        line
        for line in text.splitlines()
        if line.startswith("|") and f"`{unit(unit.largest)}`" in line
    ]
    listed = set(re.findall(r"`([^`0-9]+)`", row))
    assert listed == {name for name in unit.units if name != "μs"}


def test_examples_of_the_reference_give_the_same_scenario() -> None:
    text = (REFERENCE / "scenario.md").read_text("utf-8")
    toml, python = (
        re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("toml", "python")
    )
    assert toml
    assert python
    names: dict[str, Any] = {}
    exec(python[1], names)
    assert loads(toml[1]).resolve() == names["scenario"].resolve()

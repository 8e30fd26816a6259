"""The class `Scenario`: flows, path, duration and recordings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from airpath import _airpath
from airpath.scenario import rules
from airpath.scenario.ack_path import AckPath, Ideal
from airpath.scenario.base import (
    ABSENT,
    Context,
    ListOf,
    Maybe,
    Model,
    Path,
    as_missing,
    fault,
    faults_at,
    usual,
)
from airpath.scenario.capture_points import (
    CAPTURE_POINTS,
    capture_faults,
    capture_list,
    capture_point,
)
from airpath.scenario.checking import NO_FILES
from airpath.scenario.control import Control
from airpath.scenario.engine_problems import EngineProblem, name_groups
from airpath.scenario.hops import Bottleneck, Hop
from airpath.scenario.part_files import LoadedParts, load_part_file
from airpath.scenario.sections import sections_of
from airpath.scenario.traffic.source import Source
from airpath.scenario.typed import Either, MaybeList
from airpath.scenario.units import Duration
from airpath.scenario.values import Number, Text, Truth, choice
from airpath.scenario.wires import Wire

if TYPE_CHECKING:
    from airpath.scenario.path import PathTables

__all__ = [
    "CAPTURE_POINTS",
    "DISTRIBUTIONS",
    "MOST_GROUPS",
    "MOST_HOPS",
    "SERIES",
    "Capture",
    "Record",
    "Scenario",
]

SERIES = (
    "cwnd",
    "ssthresh",
    "rtt",
    "queue",
    "sojourn",
    "drop",
    "mark",
    "regime",
    "mcs",
    "price",
    "average_queue",
    "snr",
    "awnd",
    "load_factor",
    "bbr_state",
    "bbr_bandwidth",
    "bbr_min_rtt",
    "bbr_inflight_hi",
    "delivered",
    "seq_sent",
    "seq_received",
    "seq_dropped",
    "capacity",
)
"""Names of the time series that can be recorded."""

DISTRIBUTIONS = ("sojourn", "delay", "ack_delay")
"""Packet times whose distribution can be recorded: sojourn time, one-way delays."""

T = TypeVar("T")

MOST_GROUPS = 10_000
"""Largest number of groups of flows; files and results list each group separately."""

MOST_HOPS = 64
"""Largest number of hops of a path."""


class Record(Model):
    """Recordings of a run: time series, distributions, TCP states and flow statistics.

    Parameters
    ----------
    series : list of str
        Recorded time series, any of `SERIES`. Default: none.
    interval : Duration
        Sampling interval of levels (``cwnd``, ``ssthresh``, ``rtt``, ``queue``, ``snr``): the last
        value in each interval is recorded. 0 s records every change. Series of events are always
        recorded completely. Default 0 s.
    distributions : list of str
        Packet times whose distribution is recorded, any of `DISTRIBUTIONS`. Default: none.
    ss : bool
        True: sample the state of every TCP sender, with the values of ``ss -ti``. Default False.
    ss_interval : Duration
        Time between two ``ss`` samples, above 0. Default 100 ms.
    flow_monitor : bool
        True: record the statistics of ns-3's FlowMonitor. Default False.
    delay_parts : bool
        True: record the parts of the delay of each packet, by hop: propagation, queueing, service,
        retransmission and resequencing. Default False.
    """

    series: list[Annotated[str, choice(*SERIES)]] = Field(
        default=[], examples=['["cwnd", "queue"]']
    )
    interval: Duration = Duration(0)
    distributions: list[Annotated[str, choice(*DISTRIBUTIONS)]] = Field(
        default=[], examples=['["sojourn"]']
    )
    ss: Truth = False
    ss_interval: Duration = Duration.parse("100 ms")
    flow_monitor: Truth = False
    delay_parts: Truth = False

    def resolved(self, context: Context, path: Path) -> dict[str, Any]:
        """Return the resolved form; without distributions or parts, their key is omitted."""
        found = super().resolved(context, path)
        optional = ("distributions", "delay_parts")
        return {key: value for key, value in found.items() if value or key not in optional}


class Capture(Model):
    """Packet captures, which are written if the results are saved in a directory.

    Parameters
    ----------
    points : list of str
        Capture points: any of `CAPTURE_POINTS`, and of each hop, ``NAME.in`` before its queue and
        ``NAME`` after its link. Default: none.
    replication : int
        Index of the captured replication, from 0. Default 0.
    """

    points: Annotated[list[Annotated[str, capture_point]], capture_list] = Field(
        default=[], examples=['["sender"]']
    )
    replication: Number = 0


def _as_list(value: Any) -> Any:
    if isinstance(value, list) and len(value) > MOST_GROUPS:
        # Check the number before each group is validated.
        accepted = f"Use at most {MOST_GROUPS}; `count` sets the size of a group"
        raise fault(f"{len(value)} groups of flows", accepted)
    return [value] if isinstance(value, (Source, Mapping)) else value


def _of_short_form(value: T, info: ValidationInfo) -> T:
    """Return the value of a key of the short form; it must be absent if the path has hops."""
    if value is not None and info.data.get("hops"):
        raise fault("given together with hops", "Make it one of the hops")
    return value


def _validated_path(tables: Mapping[str, Any]) -> PathTables | None:
    """Return the tables of the path that were validated earlier; None if one was rejected."""
    keys = ("hops", "bottleneck", "ack_path", "backhaul")
    is_complete = tables.keys() >= set(keys) and (tables["hops"] or tables["bottleneck"])
    return cast("PathTables", SimpleNamespace(**tables)) if is_complete else None


_ONE_LINK = '{aqm = "gred", link = {kind = "fixed", rate = "5 Mbit/s"}}'
_ONE_HOP = '[{name = "dsl", link = {kind = "fixed", rate = "5 Mbit/s"}}]'

_USER_KEYS = {"controls": "control", "queue": "aqm"}
"""Maps names in the engine to keys of a scenario file."""


class Scenario(Model):
    """The complete input of a simulation, an emulation or an analysis.

    In Python, values may be strings with units (``"40 ms"``) or numbers in SI units (``0.04``). The
    attributes are integers in base units, with a type for each quantity (`Duration` in ns, ...).

    Parameters
    ----------
    name : str
        Name in titles and file names. Default ``"scenario"``, or the name of the scenario file.
    parts : list of str
        Python files with parts that the scenario uses. Relative paths start from the directory of
        the scenario file. Default: none.
    duration : Duration
        Simulated time, above 0.
    warmup : Duration
        Time at the start of the run that is excluded from statistics, below `duration`. Default 0
        s.
    hops : list of Hop, optional
        The hops of the path, in order from the servers to the users. Either `hops` or `bottleneck`
        is required.
    bottleneck : Bottleneck, optional
        The queue and the link that all flows share: the short form of a path with one hop of this
        name, in forward direction.
    ack_path : AckPath
        In the short form, the path of the ACKs back to the senders. Default ideal.
    backhaul : Wire, optional
        In the short form, a wired hop in front of the bottleneck that all flows share. ACKs
        traverse a hop with the same rate and delay after the ACK path. Default: none.
    control : list of Control
        Scheduled changes of the links of hops. Default: none.
    record : Record
        Recordings of the run. Default: none.
    capture : Capture
        Points at which packets are captured. Default: none.
    flows : list of Source
        1 to 10 000 groups of equal flows, with at most 100 000 flows in total.

    Raises
    ------
    ScenarioError
        With every problem found.

    Examples
    --------
    >>> import airpath as ap
    >>> scenario = ap.Scenario(
    ...     flows=ap.flows(4, cc="reno", base_rtt="40 ms"),
    ...     bottleneck=ap.Bottleneck(aqm=ap.aqm.Gred(), link=ap.link.Fixed(rate="5 Mbit/s")),
    ...     duration="300 s", warmup="30 s")
    >>> print(scenario.bottleneck.link.rate)
    5 Mbit/s
    """

    _directory: FilePath | None = PrivateAttr(default=None)
    _file: str | None = PrivateAttr(default=None)
    _overrides: tuple[str, ...] = PrivateAttr(default=())

    key_labels = {"ack_path": "ACK path", "backhaul": "backhaul", "warmup": "warm-up"}

    name: Text = "scenario"
    parts: ListOf[Text] = usual([])
    duration: Duration = Field(examples=['"300 s"'])
    warmup: Duration = Duration(0)
    hops: MaybeList[Hop] = Field(default=ABSENT, examples=[_ONE_HOP])
    bottleneck: Either[Bottleneck] = Field(default=ABSENT, examples=[_ONE_LINK])
    ack_path: AckPath = Ideal()
    backhaul: Maybe[Wire] = ABSENT
    control: ListOf[Control] = usual([])
    record: Record = Field(default_factory=Record)
    capture: Capture = Field(default_factory=Capture)
    flows: Annotated[ListOf[Source], BeforeValidator(_as_list)] = Field(
        examples=['[{count = 4, base_rtt = "40 ms"}]']
    )

    @property
    def directory(self) -> FilePath | None:
        """Directory from which relative trace paths start; None is the working directory."""
        return self._directory

    @property
    def file(self) -> str | None:
        """Path of the scenario file, as passed to `load`; None without a file."""
        return self._file

    @property
    def overrides(self) -> tuple[str, ...]:
        """Overrides as short texts for titles."""
        return self._overrides

    @property
    def title(self) -> str:
        """Name of the scenario and the overridden values."""
        from airpath.scenario.overrides import titled

        return titled(self.name, self._overrides)

    @field_validator("parts", mode="wrap")
    @classmethod
    def _load_parts(
        cls, given: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> list[str]:
        if isinstance(given, LoadedParts):
            return given
        parts = handler(given)
        directory = (info.context or {}).get("directory") or FilePath()
        wrong = []
        for number, name in enumerate(parts):
            try:
                load_part_file(directory / name)
            except PydanticCustomError as error:
                wrong.append(((number,), name, error))
        if wrong:
            raise faults_at(*wrong)
        return LoadedParts(parts)

    @field_validator("hops")
    @classmethod
    def _check_hops(cls, hops: list[Hop] | None) -> list[Hop] | None:
        if hops is not None and not hops:
            raise fault("no hops", "Use at least one hop")
        if hops and len(hops) > MOST_HOPS:
            raise fault(f"{len(hops)} hops", f"Use at most {MOST_HOPS}")
        if wrong := rules.hop_faults(hops or []):
            raise faults_at(*wrong)
        return hops

    @field_validator("bottleneck")
    @classmethod
    def _check_bottleneck(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None and info.data.get("hops", True) is None:
            raise as_missing(fault("missing", "Set bottleneck or hops", _ONE_LINK))
        return _of_short_form(value, info)

    @field_validator("backhaul")
    @classmethod
    def _check_backhaul(cls, value: Any, info: ValidationInfo) -> Any:
        return _of_short_form(value, info)

    @field_validator("ack_path")
    @classmethod
    def _check_ack_path(cls, ack_path: AckPath, info: ValidationInfo) -> AckPath:
        if info.data.get("hops"):
            return _of_short_form(ack_path, info) if ack_path != Ideal() else ack_path
        if wrong := rules.ack_path_faults(ack_path, info.data.get("bottleneck")):
            raise faults_at(*wrong)
        return ack_path

    @field_validator("control")
    @classmethod
    def _check_control(cls, control: list[Control], info: ValidationInfo) -> list[Control]:
        path = _validated_path(info.data)
        duration = info.data.get("duration")
        if path is not None and (wrong := rules.control_faults(control, path, duration)):
            raise faults_at(*wrong)
        return control

    @field_validator("flows")
    @classmethod
    def _check_flows(cls, groups: list[Source], info: ValidationInfo) -> list[Source]:
        path = _validated_path(info.data)
        wrong = rules.same_names(groups) if path is None else rules.flow_faults(groups, path)
        if wrong:
            raise faults_at(*wrong)
        return groups

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        wrong = rules.faults_of_users(self) or capture_faults(self)
        if wrong:
            raise faults_at(*wrong)
        return self

    def _engine_problems(self) -> list[EngineProblem]:
        document = self.resolved(NO_FILES)
        document["record"]["series"] = []  # Already validated; the engine does not know all names.
        groups = [flow["group"] for flow in document["flows"]]
        text = json.dumps(document, allow_nan=False)
        return name_groups(_airpath.scenario_problems(text), groups)

    def _user_path(self, engine_path: str) -> list[str]:
        """Return the user's keys of an engine field; for a flow, the keys of its group."""
        first, _, rest = engine_path.partition(".")
        number, _, field = rest.partition(".")
        if first == "flows" and field:
            return [first, number, *self.flows[int(number)]._user_path(field)]
        if first == "controls" and field:
            return ["control", str(self._control_entry(int(number))), field.split(".")[-1]]
        keys = [_USER_KEYS.get(key, key) for key in engine_path.split(".")]
        place = rules.place_of(self, *keys[:2])
        return [*map(str, place), *keys[2:]] if place is not None else keys

    def _control_entry(self, number: int) -> int:
        """Return the entry of `control` from which an action of the resolved form comes."""
        counts = [len(change.resolved_actions(NO_FILES, ())) for change in self.control]
        owners = [index for index, count in enumerate(counts) for _ in range(count)]
        return owners[number]

    def document(self) -> dict[str, Any]:
        """Return the table as plain values, without parts if there are none.

        The default ACK path of a list of hops is omitted.
        """
        found = super().document()
        if not self.parts:
            del found["parts"]
        if self.hops:
            del found["ack_path"]
        return found

    def resolved(self, context: Context, path: Path = ()) -> dict[str, Any]:
        """Return the resolved form; equal flows of a group become one entry with a count."""
        assert not path  # A scenario is the root table.
        return {key: section.make(self, context) for key, section in sections_of(self).items()}

    def resolve(self) -> tuple[str, dict[str, FilePath]]:
        """Return the resolved scenario as JSON, and the trace and table files that it uses.

        Returns
        -------
        scenario : str
            JSON in base units, with all groups of flows and all TCP parameters.
        files : dict of str to pathlib.Path
            Maps the name of each trace and error-rate table in the JSON to its file. All files
            exist.

        Raises
        ------
        ScenarioError
            If a file does not exist, or `policy.Optimum` is used and no model matches.
        """
        from airpath.scenario.resolve import resolve

        return resolve(self)

    def replace(
        self, key: str | Mapping[str, Any] | Iterable[tuple[str, Any]], *value: Any
    ) -> Scenario:
        """Return a validated copy of this scenario with some values changed.

        Parameters
        ----------
        key : str, mapping or iterable of (key, value)
            A dotted key with list indices from 0, such as ``"flows.0.cc"``, or keys with their
            values. A mapping may be nested.
        value
            The new value, if `key` is one key. A table changes only the keys that it contains. If a
            string or a table changes the kind of a component, keys that both kinds have keep their
            values, and an `OverrideWarning` lists the removed keys. An object replaces the complete
            component. None removes the key.

        Returns
        -------
        scenario : Scenario
            The new scenario. This scenario does not change.

        Raises
        ------
        ScenarioError
            If keys are unknown or values are rejected. The error lists all problems found.

        Examples
        --------
        >>> from airpath.scenario import loads
        >>> scenario = loads('''
        ... duration = "30 s"
        ... bottleneck = {aqm = {kind = "droptail", limit = "500 packets"}, link = {kind = "fixed",
        ...     rate = "5 Mbit/s"}}
        ... flows = [{base_rtt = "40 ms"}]''')
        >>> other = scenario.replace({"bottleneck.aqm": "codel", "flows.0.cc": "cubic"})
        >>> other.bottleneck.aqm.limit, other.title
        (500, 'scenario (bottleneck.aqm = codel, flows.0.cc = cubic)')
        """
        from airpath.scenario.overrides import replaced

        return replaced(self, key, value)

    def to_toml(self, relative_to: str | FilePath | None = None) -> str:
        """Return the text of a TOML file that defines the same scenario.

        The text contains all keys, including keys with default values.

        Parameters
        ----------
        relative_to : path, optional
            Directory of the file. Paths of traces and tables are written relative to this
            directory. Default: absolute paths.
        """
        from airpath.arguments import check_all, path_like
        from airpath.scenario.toml_text import to_toml

        check_all(None if relative_to is None else path_like("relative_to", relative_to))
        return to_toml(self, relative_to)

"""Computes the metrics of a replication, given their names.

A name without a scope is looked up in this order: quantities of all flows together, `jain`,
quantities of the first queue, quantities of the first link. Other names start with a scope:
``groups.0``,
``flows.3``, ``queues.bottleneck``, ``links.bottleneck``, ``users.bottleneck.2``,
``stations.bottleneck.1``, ``jain_of_users.bottleneck``, ``phases.1``, ``transfers.0``,
``voice.0``. A group can also be referred to by its name: ``groups.web``, ``transfers.web``. The
transfers of a size class are ``transfers.web.10kB-100kB``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airpath.engine.resolved import ResolvedScenario
from airpath.engine.vocabulary import DROP_REASONS
from airpath.errors import show
from airpath.results.applications import APPLICATIONS, application_groups, group_quality
from airpath.results.cells import USER_QUANTITIES, jain_of_users
from airpath.results.fairness import comparable, jain, jain_of
from airpath.results.phases import PHASE_QUANTITIES, phase_rows
from airpath.results.quantities import (
    DELAY_QUANTILES,
    FLOW_QUANTITIES,
    LINK_QUANTITIES,
    QUEUE_QUANTITIES,
    together,
)
from airpath.results.stations import STATION_QUANTITIES
from airpath.results.transfers import (
    ALL_SIZES,
    TRANSFER_QUANTITIES,
    SizeClass,
    completions,
    transfer_groups,
)
from airpath.scenario.faults import nearest

if TYPE_CHECKING:
    from airpath.solutions import Solution

__all__ = [
    "Metric",
    "UnknownMetricError",
    "as_number",
    "evaluate",
    "known_names",
    "solve_metrics",
]

_NUMBERED = ("flows", "groups", "phases", "transfers", *APPLICATIONS)
_NAMED = ("queues", "links", "jain_of_users")
_BOTH = ("users", "stations")
_DROPS = ("drops", "drop_share", *(f"drops_{reason}" for reason in DROP_REASONS))
"""Metrics of queues: all drops, their share of the arrivals, and the drops for each reason."""

Document = Mapping[str, Any]
"""Measurements of a replication: `Run.measured()`."""


class UnknownMetricError(KeyError):
    """Raised for the name of a metric that a scenario does not have."""


@dataclass(frozen=True)
class Metric:
    """Parsed name of a metric.

    Parameters
    ----------
    name : str
        Full name.
    scope : str
        ``bare``, or the type of the measured object: ``flows``, ``queues``, ...
    of : str
        The measured object: an index, the name of a queue or link, or such a name and an index.
    quantity : str
        Measured quantity.
    """

    name: str
    scope: str
    of: str
    quantity: str

    @staticmethod
    def parse(name: str) -> Metric:
        """Parse a name; a name without a known scope becomes a bare name."""
        scope, _, rest = name.partition(".")
        of, _, quantity = rest.rpartition(".")
        if scope == "jain_of_users" and rest:
            return Metric(name, scope, rest, scope)
        if scope in (*_NUMBERED, *_NAMED, *_BOTH) and of and quantity:
            return Metric(name, scope, of, quantity)
        return Metric(name, "bare", "", name)

    def value(self, run: Document, resolved: ResolvedScenario) -> float | None:
        """Return the value in a replication; None if it was not measured.

        Parameters
        ----------
        run : mapping
            Measurements of the replication.
        resolved : mapping
            The resolved scenario.

        Raises
        ------
        UnknownMetricError
            If this replication has no such metric.
        """
        found = _OF[self.scope](self, run, resolved)
        if found is None or math.isnan(found):
            return None
        return float(found)


def as_number(value: Any) -> float | None:
    """Return the value of a user-defined metric as a float; None stays None.

    Raises
    ------
    TypeError
        If the value is not a number.
    """
    if value is None:
        return None
    if not isinstance(value, (str, bytes)):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    raise TypeError(f"returned {show(value)}, not a number")


def evaluate(
    names: Iterable[str], run: Document, resolved: ResolvedScenario
) -> dict[str, float | None]:
    """Return metrics of a replication. They equal the values in the tables of its `Result`.

    Parameters
    ----------
    names : iterable of str
        Names of the metrics.
    run : mapping
        Measurements of the replication, as `Run.measured` returns them.
    resolved : ResolvedScenario
        The resolved scenario, as `Job.resolved` returns it.

    Returns
    -------
    values : dict of str to float or None
        Values by name. None if the metric was not measured or does not exist in this scenario.
    """
    values: dict[str, float | None] = {}
    for name in names:
        try:
            values[name] = Metric.parse(name).value(run, resolved)
        except UnknownMetricError:
            values[name] = None
    return values


def solve_metrics(
    names: Iterable[str], solution: Solution, resolved: ResolvedScenario | None = None
) -> dict[str, float | None]:
    """Return the solution of an analytic model under the metric names of a simulation.

    Parameters
    ----------
    names : iterable of str
        Names of the metrics.
    solution : Solution
        Solution of the model.
    resolved : ResolvedScenario, optional
        The resolved scenario, which determines the payload share of a packet. Default: the scenario
        in the solution's provenance; without a scenario, goodput is None.

    Returns
    -------
    values : dict of str to float or None
        Values by name; None if the model does not compute the metric. Goodput is the payload rate
        of the packets that arrive; the models have no retransmissions.
    """
    found = solution.metrics()
    stored = solution.provenance.get("scenario")
    about = resolved if resolved is not None or stored is None else ResolvedScenario(stored)
    if about is not None and "ip_throughput_bps" in found and solution.flows:
        found |= _goodputs(found, about)
    values: dict[str, float | None] = {}
    for name in names:
        bare = (name, f"queues.bottleneck.{name}", f"links.bottleneck.{name}")
        first = next((found[key] for key in bare if key in found), None)
        values[name] = None if first is None else float(first)
    return values


def _goodputs(found: Mapping[str, float], resolved: ResolvedScenario) -> dict[str, float]:
    goodputs = []
    for number, flow in enumerate(resolved.flows):
        share = flow.source.payload_bytes / flow.source.packet_bytes
        goodputs.append(found[f"flows.{number}.ip_throughput_bps"] * share)
    by_flow = {f"flows.{number}.goodput_bps": value for number, value in enumerate(goodputs)}
    found_all = {**by_flow, "goodput_bps": math.fsum(goodputs)}
    fair = [goodputs[number] for number in comparable(resolved, range(len(goodputs)))]
    return found_all | ({"jain": jain_of(fair)} if fair else {})


# --- of what -----------------------------------------------------------------------------------


def _bare(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    name = metric.quantity
    if name in FLOW_QUANTITIES:
        merged = {key: run["together"]["all"][key] for key in DELAY_QUANTILES}
        return together(run["flows"], name, merged)
    if name == "jain":
        return jain(run, comparable(resolved, range(len(run["flows"]))))
    for table, quantity_of in (("queues", _queue_value), ("links", _link_value)):
        if run[table]:
            try:
                return quantity_of(run[table][0], name)
            except UnknownMetricError:
                continue
    raise UnknownMetricError(name)


def _flow(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    number = _number(metric.of, len(run["flows"]))
    if metric.quantity not in _flow_quantities(resolved):
        raise UnknownMetricError(metric.name)
    value: float | None = run["flows"][number].get(metric.quantity)
    return value


def _flow_quantities(resolved: ResolvedScenario) -> tuple[str, ...]:
    """Return the names of the quantities that each flow of a scenario has."""
    return (*FLOW_QUANTITIES, "start_s", *resolved.flows.optional_quantities())


def _group(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    number = resolved.flows.group_of(metric.of)
    if number is None:
        raise UnknownMetricError(metric.name)
    members = resolved.flows.groups[number]
    if metric.quantity == "jain":
        return jain(run, comparable(resolved, members))
    if metric.quantity == "flows":
        return float(len(members))
    if metric.quantity not in FLOW_QUANTITIES:
        raise UnknownMetricError(metric.name)
    of_group = next(one for one in run["together"]["groups"] if one["group"] == number)
    merged = {key: of_group[key] for key in DELAY_QUANTILES}
    flows = run["flows"]
    return together([flows[member] for member in members], metric.quantity, merged)


def _queue(metric: Metric, run: Document, _resolved: ResolvedScenario) -> float | None:
    return _queue_value(_entry_of_metric(run["queues"], metric), metric.quantity)


def _link(metric: Metric, run: Document, _resolved: ResolvedScenario) -> float | None:
    return _link_value(_entry_of_metric(run["links"], metric), metric.quantity)


def _user(metric: Metric, run: Document, _resolved: ResolvedScenario) -> float | None:
    return _one_of(metric, run.get("users", ()), "user", USER_QUANTITIES)


def _station(metric: Metric, run: Document, _resolved: ResolvedScenario) -> float | None:
    return _one_of(metric, run.get("stations", ()), "station", STATION_QUANTITIES)


def _jain_of_users(metric: Metric, run: Document, _resolved: ResolvedScenario) -> float | None:
    if not any(user["link"] == metric.of for user in run.get("users", ())):
        raise UnknownMetricError(metric.name)
    return jain_of_users(run, metric.of)


def _phase(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    if metric.quantity not in (*PHASE_QUANTITIES, "from_s", "until_s"):
        raise UnknownMetricError(metric.name)
    rows = phase_rows(run, resolved.bottleneck.name)
    value: float | None = rows[_number(metric.of, len(rows))][metric.quantity]
    return value


def _transfer(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    key, _, name = metric.of.partition(".")
    groups, number = transfer_groups(resolved), resolved.flows.group_of(key)
    which = SizeClass.named(name) if name else ALL_SIZES
    members = None if number is None else groups.get(number)
    if metric.quantity not in TRANSFER_QUANTITIES or members is None or which is None:
        raise UnknownMetricError(metric.name)
    found: float | None = completions(resolved, run, members, which)[metric.quantity]
    return found


def _application(metric: Metric, run: Document, resolved: ResolvedScenario) -> float | None:
    number = resolved.flows.group_of(metric.of)
    groups = application_groups(resolved, metric.scope)
    members = None if number is None else groups.get(number)
    if metric.quantity not in APPLICATIONS[metric.scope].quantities or members is None:
        raise UnknownMetricError(metric.name)
    return group_quality(run, metric.scope, members)[metric.quantity]


_OF = {
    "bare": _bare,
    "flows": _flow,
    "groups": _group,
    "queues": _queue,
    "links": _link,
    "users": _user,
    "stations": _station,
    "jain_of_users": _jain_of_users,
    "phases": _phase,
    "transfers": _transfer,
    **dict.fromkeys(APPLICATIONS, _application),
}


def _queue_value(queue: Mapping[str, Any], name: str) -> float | None:
    drops = queue["drops"]
    if name in QUEUE_QUANTITIES:
        value: float | None = queue[name]
        return value
    if name == "drops":
        return float(sum(drops.values()))
    if name == "drop_share":
        return sum(drops.values()) / queue["arrived"] if queue["arrived"] else None
    if name in _DROPS:
        return float(drops.get(name.removeprefix("drops_"), 0))
    return _own(queue.get("measured", {}), name)


def _link_value(link: Mapping[str, Any], name: str) -> float | None:
    if name in LINK_QUANTITIES:
        value: float | None = link[name]
        return value
    regimes = {f"regime_{j}_packets": n for j, n in enumerate(link["regime_packets"], start=1)}
    return _own({**regimes, **link.get("counters", {})}, name)


def _own(found: Mapping[str, float | None], name: str) -> float | None:
    if name not in found:
        raise UnknownMetricError(name)
    return found[name]


def _one_of(
    metric: Metric, rows: Sequence[Mapping[str, Any]], key: str, quantities: Sequence[str]
) -> float | None:
    link, _, number = metric.of.rpartition(".")
    for row in rows:
        if row["link"] == link and str(row[key]) == number and metric.quantity in quantities:
            value: float | None = row[metric.quantity]
            return value
    raise UnknownMetricError(metric.name)


def _entry_of_metric(entries: Sequence[Mapping[str, Any]], metric: Metric) -> Mapping[str, Any]:
    for entry in entries:
        if entry["name"] == metric.of:
            return entry
    raise UnknownMetricError(metric.name)


def _number(text: str, count: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < count):
        raise UnknownMetricError(text)
    return int(text)


# --- what there is -----------------------------------------------------------------------------


def is_known(name: str, run: Document, resolved: ResolvedScenario) -> bool:
    """Return whether a scenario has a metric, given a replication of any length.

    Parameters
    ----------
    name : str
        Name of the metric.
    run : mapping
        Measurements of a replication; its phases are ignored.
    resolved : ResolvedScenario
        The resolved scenario.
    """
    metric = Metric.parse(name)
    if metric.scope == "phases":
        number = metric.of.isdecimal() and int(metric.of) <= len(resolved.phase_starts_s)
        quantity = metric.quantity in (*PHASE_QUANTITIES, "from_s", "until_s")
        return bool(number and quantity and resolved.changes)
    try:
        metric.value(run, resolved)
    except UnknownMetricError:
        return False
    return True


def advice(name: str, run: Document, resolved: ResolvedScenario) -> str:
    """Return similar names for an unknown metric; else all names without a scope."""
    names = known_names(run, resolved)
    text = nearest(name, names)
    if text.startswith("The nearest"):
        return text.partition(";")[0]
    bare = [each for each in names if "." not in each]
    return f"Expected one of: {', '.join(bare)}, and those of one flow, group, queue or link"


def known_names(run: Document, resolved: ResolvedScenario) -> list[str]:
    """Return the names of the metrics of a scenario, with only the first flow, user and station.

    Parameters
    ----------
    run : mapping
        Measurements of a replication.
    resolved : ResolvedScenario
        The resolved scenario.
    """
    queues = {queue["name"]: _queue_names(queue) for queue in run["queues"]}
    links = {link["name"]: _link_names(link) for link in run["links"]}
    first_queue, first_link = (next(iter(of.values()), []) for of in (queues, links))
    names = dict.fromkeys([*FLOW_QUANTITIES, "jain", *first_queue, *first_link])
    found = list(names)
    found += [f"queues.{quantity}" for quantity in _within(queues)]
    found += [f"links.{quantity}" for quantity in _within(links)]
    found += [f"flows.0.{name}" for name in _flow_quantities(resolved)]
    found += [
        f"groups.{resolved.flows.group_key(number)}.{name}"
        for number in resolved.flows.groups
        for name in (*FLOW_QUANTITIES, "flows", "jain")
    ]
    found += [
        f"transfers.{resolved.flows.group_key(number)}.{name}"
        for number in transfer_groups(resolved)
        for name in TRANSFER_QUANTITIES
    ]
    found += [
        f"{of}.{resolved.flows.group_key(number)}.{name}"
        for of, application in APPLICATIONS.items()
        for number in application_groups(resolved, of)
        for name in application.quantities
    ]
    phases = range(len(phase_rows(run, resolved.bottleneck.name)))
    found += [f"phases.{number}.{name}" for number in phases for name in _phase_metrics()]
    for of, key, quantities in (
        ("users", "user", USER_QUANTITIES),
        ("stations", "station", STATION_QUANTITIES),
    ):
        rows = run.get(of, [])[:1]
        found += [f"{of}.{row['link']}.{row[key]}.{name}" for row in rows for name in quantities]
    cells = dict.fromkeys(user["link"] for user in run.get("users", ()))
    return [*found, *(f"jain_of_users.{cell}" for cell in cells)]


def _within(tables: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{name}.{quantity}" for name, table in tables.items() for quantity in table]


def _phase_metrics() -> tuple[str, ...]:
    return (*PHASE_QUANTITIES, "from_s", "until_s")


def _queue_names(queue: Mapping[str, Any]) -> list[str]:
    return [*QUEUE_QUANTITIES, *_DROPS, *queue.get("measured", {})]


def _link_names(link: Mapping[str, Any]) -> list[str]:
    regimes = (f"regime_{j}_packets" for j in range(1, 1 + len(link["regime_packets"])))
    return [*LINK_QUANTITIES, *regimes, *link.get("counters", {})]

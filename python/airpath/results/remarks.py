"""What a reader of the tables should know and the tables do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

ALL_THE_SAME = (
    "Every replication gave the same, for nothing that is random changed the flows: the intervals "
    'of 0 mean nothing. Random starts do, start = {uniform = ["0 s", "1 s"]}.'
)
NOBODY_MARKS = (
    "{who}: ECN is on, but nothing marks at the bottleneck, so it does nothing. "
    "Write ecn = true in [bottleneck.aqm], for a discipline that has the key."
)

OUTSIDE_TABLE = (
    "{link}: {share:.3g} % of the packets were sent while the SNR or its estimate was outside "
    "the error-rate table {table}, which then says what it has at its end."
)

UNFINISHED_TABLE = (
    "{table}: points of this error-rate table are missing; its measurement was not finished"
)


def remarks(
    resolved: Mapping[str, Any],
    replications: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """Return the remarks on replications of a resolved scenario, each a text of one line.

    `tables` are the error-rate tables of its provenance.
    """
    said = [f"{remark}." for remark in unfinished_tables(tables or {})]
    first, *others = [replication["flows"] for replication in replications] or [None]
    if others and all(flows == first for flows in others):
        said.append(ALL_THE_SAME)
    with_ecn = [
        f"flows.{number}"
        for number, flow in enumerate(resolved["flows"])
        if flow["source"].get("options", {}).get("ecn", "off") != "off"
    ]
    if with_ecn and not resolved["bottleneck"]["queue"].get("ecn", False):
        who = with_ecn[0] if len(with_ecn) == 1 else f"{with_ecn[0]} and others"
        said.append(NOBODY_MARKS.format(who=who))
    link, ack_path = resolved["bottleneck"]["link"], resolved["ack_path"]
    said += _outside_table("bottleneck", link, replications)
    if ack_path["kind"] == "reverse":
        said += _outside_table("reverse", ack_path["link"] or link, replications)
    elif ack_path["kind"] == "link":
        said += _outside_table("ack_path", ack_path["link"], replications)
    return said


def unfinished_tables(tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a remark on each table of a provenance that is not complete, without a full stop."""
    return [
        UNFINISHED_TABLE.format(table=name)
        for name, about in tables.items()
        if not about.get("complete", True)
    ]


def _outside_table(
    name: str, link: Mapping[str, Any], replications: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the remark on an adaptive link whose table was asked beyond its ends."""
    of_link = [run for each in replications for run in each["links"] if run["name"] == name]
    outside = sum(run.get("counters", {}).get("outside_table_packets", 0) for run in of_link)
    if not outside:
        return []
    share = 100 * outside / sum(sum(run["regime_packets"]) for run in of_link)
    return [OUTSIDE_TABLE.format(link=name, share=share, table=link["table"])]

"""Distributions over packets and transfers, of results and per point of a sweep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import airpath as ap
from airpath.results.distributions import Counts
from airpath.scenario import loads
from airpath.sweeps.plot import choice

TEXT = """
duration = "6 s"
warmup = "1 s"
bottleneck = {aqm = "codel", link = {kind = "fixed", rate = "10 Mbit/s"}}
record = {series = ["sojourn"], distributions = ["sojourn", "delay", "ack_delay"]}
[[flows]]
name = "bulk"
count = 2
base_rtt = ["40 ms", "55 ms"]
start = {uniform = ["0 s", "0.5 s"]}
[[flows]]
name = "web"
count = 90
base_rtt = "40 ms"
size = {exponential = "30 kB"}
arrivals = {poisson = "8 /s"}
"""


@pytest.fixture(scope="module")
def result() -> ap.Result:
    return ap.simulate(loads(TEXT), reps=5)


@pytest.mark.parametrize(
    ("quantity", "of", "table", "column"),
    [
        ("sojourn", None, "queues", "sojourn_s"),
        ("sojourn", "bottleneck", "queues", "sojourn_s"),
        ("delay", "web", "groups", "delay_s"),
        ("ack_delay", "0", "groups", "ack_delay_s"),
        ("delay", None, "all", "delay_s"),
    ],
)
def test_quantiles_of_one_replication_are_those_of_the_tables(
    quantity: str, of: str | None, table: str, column: str
) -> None:
    one = ap.simulate(loads(TEXT), reps=1)
    found = one.distribution(quantity, of)
    rows = one.summary() if table == "all" else one.table(table)
    place = 1 if of == "web" else 0
    for level in (50, 95, 99):
        name = f"p{level}_{column}"
        expected = rows.loc["all"][(name, "mean")] if table == "all" else rows[name].iloc[place]
        assert found.quantile(level / 100) == pytest.approx(expected, rel=1e-12), name


def test_packets_of_all_replications_are_pooled(result: ap.Result) -> None:
    recorded = np.sort(
        np.concatenate(
            [
                series[series["time_s"] > 1.0]["value"]
                for series in (result.series("sojourn", replication=n) for n in range(5))
            ]
        )
    )
    found = result.distribution("sojourn")
    assert (found.total, found.reps) == (len(recorded), 5)
    rows = found.quantiles([0.5, 0.9])
    # The width of a bucket is 1/64 of its values.
    assert rows["pooled"].tolist() == pytest.approx(np.quantile(recorded, [0.5, 0.9]), rel=1 / 64)
    assert (rows["low"] < rows["mean"]).all()
    cdf = found.cdf()
    assert cdf["cdf"].is_monotonic_increasing
    # At the end of a bucket all of its values are counted.
    ends = cdf[cdf["value"].isin(found.pooled.greatest)]
    shares = [np.mean(recorded <= value + 1e-9) for value in ends["value"]]
    assert ends["cdf"].tolist() == pytest.approx(shares, abs=1e-12)
    assert ends["cdf"].iloc[-1] == 1.0
    assert ((cdf["low"] <= cdf["cdf"]) & (cdf["cdf"] <= cdf["high"])).mean() > 0.99


def test_distribution_of_transfers_needs_no_recording(result: ap.Result) -> None:
    flows = result.table("flows").query("name == 'web' and start_s >= 1")
    times = (flows["completed_at_s"] - flows["start_s"]).dropna()
    small = times[flows["transfer_bytes"].loc[times.index] <= 10_000]
    found = result.distribution("completion_time", "web.0B-10kB")
    assert found.total == len(small) > 5
    assert found.quantile(0.5) == pytest.approx(np.quantile(small, 0.5, method="inverted_cdf"))
    assert result.distribution("slowdown").total == len(times)


def test_distribution_of_discrete_values_has_steps() -> None:
    one, two = (Counts.of_values(np.array(of)) for of in ([1.0, 1.0, 2.0, np.nan], [2.0, 4.0]))
    pooled = Counts.pooled([one, two])
    assert pooled.cdf([0.5, 1.0, 1.5, 2.0, 4.0]).tolist() == pytest.approx([0, 0.4, 0.4, 0.8, 1])
    assert [pooled.quantile(level) for level in (0.4, 0.41, 1.0)] == [1.0, 2.0, 4.0]
    assert np.isnan(Counts.pooled([]).quantile(0.5))


@pytest.mark.parametrize(
    ("quantity", "of", "line"),
    [
        ("sojourns", None, "sojourn"),
        ("sojourn", "ack_path", 'of = "ack_path": does not exist. Use bottleneck.'),
        ("delay", "wep", 'of = "wep": does not exist. Use bulk or web.'),
        ("slowdown", "bulk", 'of = "bulk": does not exist. Use web.'),
        ("slowdown", "web.10", 'of = "web.10": does not exist.'),
        ("delay", 3, "of = 3"),
    ],
)
def test_missing_quantity_is_reported_in_one_line(
    result: ap.Result, quantity: str, of: Any, line: str
) -> None:
    with pytest.raises(ap.errors.BadValueError) as caught:
        result.distribution(quantity, of)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_resolved_form_without_the_key_contains_no_distributions() -> None:
    plain = loads(TEXT).replace({"record.distributions": None, "record.series": None})
    result = ap.simulate(plain, reps=1)
    assert "distributions" not in result.replications[0]
    assert "distributions" not in json.loads(plain.resolve()[0])["record"]
    with pytest.raises(ap.errors.BadValueError, match="not recorded"):
        result.distribution("sojourn")


def test_distributions_of_an_axis_and_of_a_function_are_plotted_by_default() -> None:
    plain = loads(TEXT).replace({"record.distributions": None, "record.series": None})
    recorded = plain.replace("record.distributions", ["delay"])
    common = {"reps": 1, "metrics": ["goodput_bps"]}
    axis = {"record.distributions": [["delay"], ["delay", "sojourn"]]}
    of_axis = ap.sweep(plain, grid=axis, **common)
    of_function = ap.sweep(lambda n: recorded.replace("name", str(n)), grid={"n": [1]}, **common)
    assert {"distribution-delay", "distribution-sojourn"} <= choice.wanted(of_axis.plot).keys()
    assert "distribution-delay" in choice.wanted(of_function.plot)
    assert of_axis.distribution("delay")[0].total


def test_sweep_keeps_distributions_of_each_point(tmp_path: Path, result: ap.Result) -> None:
    grid = {"bottleneck.aqm.target": ["20 ms", "5 ms"]}
    base = loads(TEXT).replace("record.series", None)
    sweep = ap.sweep(base, grid=grid, reps=5, metrics=["goodput_bps"], out=tmp_path)
    found = sweep.distribution("sojourn")
    expected = result.distribution("sojourn")
    assert list(found) == [0, 1]
    assert found[1].total == expected.total
    assert found[1].quantile(0.95) == expected.quantile(0.95) < found[0].quantile(0.95)
    assert "distribution-delay" in choice.wanted(sweep.plot)
    figure = sweep.plot.distribution("sojourn")
    names = {line.get_gid() for axis in figure.axes for line in axis.lines}
    assert {"point-0", "point-1"} <= names
    rows = sweep.quantiles("completion_time", "web", levels=[0.5])
    assert list(rows.columns) == [
        *("point", "bottleneck.aqm.target", "level", "pooled", "mean", "low", "high")
    ]
    assert rows["pooled"].tolist()[1] == result.distribution("completion_time").quantile(0.5)


# --- figures -------------------------------------------------------------------------------------


def test_each_group_has_a_curve_of_its_distribution_function(result: ap.Result) -> None:
    axis = result.plot.distribution("delay").axes[0]
    assert [line.get_label() for line in axis.lines] == ["bulk", "web"]
    table = result.distribution("delay", "bulk").cdf()
    x, y = axis.lines[0].get_data()
    assert np.allclose(x[1:], 1e3 * table["value"])
    assert np.allclose(y[1:], table["cdf"])
    assert axis.get_xlabel() == "one-way delay, ms"
    (tail,) = result.plot.distribution("delay", "web", complementary=True).axes[0].lines
    share = 1 - result.distribution("delay", "web").cdf()["cdf"].to_numpy()
    assert np.allclose(tail.get_ydata()[1:-1], share[:-1])


def test_single_group_of_transfers_has_a_curve_per_size_class(result: ap.Result) -> None:
    axis = result.plot.distribution("completion_time").axes[0]
    labels = [line.get_label() for line in axis.lines]
    assert labels == ["web, up to 10 kB", "web, 10 kB to 100 kB"]
    names = {f"distribution-{quantity}" for quantity in ("sojourn", "delay", "ack_delay")}
    assert {"completion-times", *names} <= result.plot.defaults().keys()


def test_too_many_curves_and_missing_values_are_rejected(result: ap.Result) -> None:
    with pytest.raises(ap.errors.BadValueError, match="9 curves are more than the 8"):
        result.plot.distribution("delay", ["web"] * 9)
    with pytest.raises(ap.errors.BadValueError, match="has no values"):
        result.plot.distribution("slowdown", "web.1MB-")


CELL = """
duration = "3 s"
warmup = "1 s"
[bottleneck]
aqm = "droptail"
link.kind = "cell"
link.slot = "1 ms"
link.delay = "2 ms"
link.rate = {kind = "shannon", bandwidth = "4 MHz", cap = "10 Mbit/s"}
link.snr = {kind = "constant", mean = "15 dB"}
[[flows]]
count = 4
user = "0-1"
base_rtt = "40 ms"
start = {uniform = ["0 s", "0.2 s"]}
"""


def test_users_have_distributions_of_throughput_and_delay_components() -> None:
    result = ap.simulate(loads(CELL), reps=2)
    rates, delays = result.plot.users().axes
    rows = result.intervals("users")
    bars = [bar.get_height() for bar in rates.patches]
    assert bars == pytest.approx([row["throughput_bps"].mean / 1e6 for row in rows])
    queues = result.intervals("queues")
    tops = [bar.get_y() + bar.get_height() for bar in delays.patches[-2:]]
    # The base RTT is 40 ms, of which 2 ms belong to the cell. Half of the remaining 38 ms is on the
    # path to the user.
    assert tops == pytest.approx([21 + 1e3 * queue["mean_delay_s"].mean for queue in queues])
    assert [bar.get_height() for bar in delays.patches[:2]] == pytest.approx([21, 21])

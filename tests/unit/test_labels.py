"""Labels of keys and metrics in figures: they consist of words, and no two are equal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airpath.engine.vocabulary import names
from airpath.results.labels import effort_text, label_of_quantity, short_label
from airpath.results.phases import PHASE_QUANTITIES
from airpath.results.transfers import TRANSFER_QUANTITIES
from airpath.scenario import Scenario
from airpath.scenario.key_tree import nodes_at
from airpath.scenario.labels import labels_of_keys

ONE_GROUP = '[[flows]]\nbase_rtt = "40 ms"\n'
WORDS = re.compile(r"[^_.]+")


def keys(before: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the keys of a scenario, up to four levels deep."""
    for node in nodes_at(Scenario, {}, before):
        for name in node.names():
            yield ".".join((*before, name))
            if len(before) < 3:
                yield from keys((*before, name))


def test_every_scenario_key_has_a_label_in_words() -> None:
    every = sorted(set(keys()))
    assert {"bottleneck.aqm.target", "bottleneck.link.rate", "flows.0.tcp.min_rto"} <= set(every)
    for key in every:
        [label] = labels_of_keys([key], ONE_GROUP).values()
        assert WORDS.fullmatch(label), (key, label)


def test_key_labels_contain_component_and_group() -> None:
    named = {
        "bottleneck.aqm": "queue discipline",
        "bottleneck.link.file": "trace",
        "bottleneck.link.snr_db": "SNR of the link, dB",
        "bottleneck.link.policy.threshold": "threshold of the link adaptation",
        "bottleneck.aqm.interval": "interval of the queue discipline",
        "ack_path.link.rate": "link rate of the ACK path",
        "backhaul.rate": "rate of the backhaul",
        "flows.0.cc": "congestion control",
        "flows.0.tcp.min_rto": "minimum RTO",
        "flows.1.cc": "congestion control of group 1",
        "buffer": "buffer",
    }
    assert labels_of_keys(list(named), ONE_GROUP) == named
    two = f'{ONE_GROUP}{ONE_GROUP}name = "web"\n'
    assert list(labels_of_keys(["flows.0.cc", "flows.1.cc"], two).values()) == [
        "congestion control of group 0",
        "congestion control of web",
    ]


def test_axes_with_equal_labels_are_labelled_with_their_keys() -> None:
    found = labels_of_keys(["bottleneck.link.snr.speed", "bottleneck.link.snr.inner.speed"], "")
    assert list(found.values()) == [f"speed of the SNR process ({key})" for key in found]


def test_every_metric_has_a_label_in_words() -> None:
    of = (*names("flow"), *names("queue"), *names("link"), *names("user"), *names("station"))
    for name in (*of, *PHASE_QUANTITIES, *TRANSFER_QUANTITIES, "jain", "drops", "drop_share"):
        for metric in (name, f"flows.3.{name}"):
            assert WORDS.fullmatch(label_of_quantity(metric)), metric
    assert label_of_quantity("transfers.web.0B-10kB.mean_s") == (
        "mean completion time of group web, up to 10 kB"
    )
    assert (
        label_of_quantity("transfers.0.p95_s") == "95th percentile of completion times of group 0"
    )
    assert label_of_quantity("mac_delay_p50_s") == "median MAC delay"
    assert label_of_quantity("jain_of_users.cell") == "Jain's index of the users of cell"
    assert short_label("95th percentile of RTTs, ms") == "p95 of RTTs, ms"


def test_effort_names_runs_duration_warmup_and_intervals() -> None:
    assert effort_text(1, 60.0) == "1 run of 60 s"
    assert effort_text(5, 70.0, 10.0, 0.95) == (
        "5 runs of 70 s, first 10 s not counted · 95 % intervals"
    )

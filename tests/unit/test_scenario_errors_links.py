"""The exact messages for all possible errors of a link in a scenario file."""

from __future__ import annotations

import pytest
from scenario_errors import GOOD, LINKS, RATE, REGIMES, SIZE, lines, problem_after_setting

import airpath as ap
from airpath.scenario import FAMILIES, loads, shipped_tables

THREE = REGIMES.replace("]", ', {rate = "3 Mbit/s"}]')
POLICIES = ", ".join(FAMILIES["policy"].registry)
FRACTION = "Use a number above 0 and at most 1, for example 0.1."
pytestmark = pytest.mark.filterwarnings("ignore::airpath.errors.OverrideWarning")


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("bottleneck.link.rate", "5 Mb", f'bottleneck.link.rate = "5 Mb": not a rate. {RATE}'),
        ("bottleneck.link.rate", "5e6", f"bottleneck.link.rate = 5000000.0: no unit. {RATE}"),
        (
            "bottleneck.link.rate",
            "-5 Mbit/s",
            'bottleneck.link.rate = "-5 Mbit/s": below 0. Use a rate from 0 on, '
            'for example "5 Mbit/s".',
        ),
        (
            "bottleneck.link.rate",
            "0 bit/s",
            'bottleneck.link.rate = "0 bit/s": not above 0. Use a rate above 0, '
            'for example "5 Mbit/s".',
        ),
        (
            "bottleneck.link.loss",
            "1.5",
            "bottleneck.link.loss = 1.5: above 1. Use a number from 0 to 1, for example 0.",
        ),
        (
            "bottleneck.link.loss",
            "nan",
            "bottleneck.link.loss = nan: not a number. Use a number, for example 0.",
        ),
        (
            "bottleneck.link.loss",
            '"1 %"',
            'bottleneck.link.loss = "1 %": not a number. Did you mean 0.01? Use a number, '
            "for example 0.",
        ),
        (
            "bottleneck.link.frame_overhead",
            "2",
            f"bottleneck.link.frame_overhead = 2: no unit. {SIZE}",
        ),
        (
            "bottleneck.link.kind",
            "fixd",
            'bottleneck.link.kind = "fixd": not a link. The nearest is fixed; '
            f"expected one of: {LINKS}.",
        ),
        (
            "bottleneck.link",
            '{kind = "fixed", rate = "1 Mbit/s", frame_overhead = "70 kB"}',
            'bottleneck.link.frame_overhead = "70 kB": above 65535 B. Use a size from 0 to '
            '"65535 B", for example "0 B".',
        ),
        (
            "bottleneck.link",
            "5",
            f'bottleneck.link = 5: not a link. Expected one of: {LINKS}, for example "fixed".',
        ),
        (
            "bottleneck.link.harq",
            '{attempts = 0, round_trip = "30 ms"}',
            "bottleneck.link.harq.attempts = 0: below 1. Use an integer from 1 on, for example 4.",
        ),
        (
            "bottleneck.link.harq",
            '{attempts = 4, error = 1, round_trip = "30 ms"}',
            "bottleneck.link.harq.error = 1: not below 1. Use a number from 0 to below 1, for "
            "example 0.",
        ),
        (
            "bottleneck.link.harq",
            '{attempts = 4, round_trip = "30 ms", processes = 0}',
            "bottleneck.link.harq.processes = 0: below 1. Use an integer from 1 on.",
        ),
        (
            "bottleneck.link.harq",
            "{attempts = 4}",
            'bottleneck.link.harq.round_trip: missing. Set round_trip = "30 ms".',
        ),
        (
            "bottleneck.link.arq",
            '{delay = "0 s"}',
            'bottleneck.link.arq.delay = "0 s": not above 0. Use a duration above 0 and at '
            'most "3600 s", for example "100 ms".',
        ),
        (
            "bottleneck.link.arq",
            '{delay = "2 h"}',
            'bottleneck.link.arq.delay = "2 h": above 3600 s. Use a duration above 0 and at '
            'most "3600 s", for example "100 ms".',
        ),
        (
            "bottleneck.link.in_order",
            "true",
            "bottleneck.link.in_order = true: has no effect without harq or arq. "
            "Remove it, or set one of them.",
        ),
        (
            "bottleneck.link",
            '{kind = "trace"}',
            'bottleneck.link.file: missing. Set file = "traces:Verizon-LTE-short.down".',
        ),
        (
            "bottleneck.link",
            '{kind = "trace", file = "traces:"}',
            'bottleneck.link.file = "traces:": names no file. Use a path from the scenario file, '
            'or traces: and a name, for example "traces:Verizon-LTE-short.down".',
        ),
        (
            "bottleneck.link",
            f'{{kind = "multi-regime", thresholds = [10, 10], regimes = {THREE}}}',
            "bottleneck.link.thresholds.1 = 10: not above the threshold before it. "
            "Use an integer above 10.",
        ),
        (
            "bottleneck.link",
            f'{{kind = "multi-regime", thresholds = [0], regimes = {REGIMES}}}',
            "bottleneck.link.thresholds.0 = 0: below 1. Use an integer from 1 on.",
        ),
        (
            "bottleneck.link",
            f'{{kind = "multi-regime", thresholds = 10, regimes = {REGIMES}}}',
            "bottleneck.link.thresholds = 10: not a list. Use a list in square brackets, "
            "for example [20].",
        ),
        (
            "bottleneck.link",
            f'{{kind = "multi-regime", thresholds = [10, 20], regimes = {REGIMES}}}',
            'bottleneck.link.regimes = [{rate = "1 Mbit/s"}, {rate = "2 Mbit/s"}]: 2 regimes for '
            "2 thresholds. Set one regime more than there are thresholds.",
        ),
        (
            "bottleneck.link",
            '{kind = "multi-regime", thresholds = [], regimes = [{rate = "1 Mbit/s", per = 2}]}',
            "bottleneck.link.regimes.0.per = 2: above 1. Use a number from 0 to 1, for example 0.",
        ),
    ],
)
def test_invalid_value_is_reported(key: str, value: str, line: str) -> None:
    place, _, rest = problem_after_setting(key, value).partition(": ")
    assert rest == line
    assert place in ("overrides", "wimax.toml")


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ("{}", f'kind: missing. Expected one of: {LINKS}, for example "fixed".'),
        ('"fixed"', 'rate: missing. Set rate = "5 Mbit/s".'),
    ],
)
def test_missing_keys_of_a_link_are_reported(link: str, line: str) -> None:
    text = GOOD.replace('{kind = "fixed", rate = "5 Mbit/s", delay = "2.5 ms"}', link)
    assert lines(text) == [f"wimax.toml: bottleneck.link.{line}"]


def adaptive(policy: str = '{kind = "tagla", th_per = 0.01}', more: str = "snr_db = 22") -> str:
    """Return the TOML text of an adaptive link."""
    return f'{{kind = "adaptive", table = "a.json", policy = {policy}, {more}}}'


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        ("5", f' = 5: not a link-adaptation policy. Expected one of: {POLICIES}, '
         'for example "fixed".'),
        ('"tagla"', ".th_per: missing. Set th_per = 0.0032."),
        ('{kind = "qawl"}', '.kind = "qawl": not a link-adaptation policy. '
         f"The nearest is qawla; expected one of: {POLICIES}."),
        ('{kind = "fixed"}', '.mcs: missing. Set mcs = "mcs3".'),
        ('{kind = "fixed", mcs = -1}', ".mcs = -1: not an MCS. Use its name in the table, "
         'or its index there from 0, for example "mcs3".'),
        ('{kind = "fixed", mcs = ""}', '.mcs = "": not an MCS. Use its name in the table, '
         'or its index there from 0, for example "mcs3".'),
        ('{kind = "tagla", th_per = 0}', ".th_per = 0: not above 0. Use a number above 0 and "
         "at most 1, for example 0.0032."),
        ('{kind = "tagla", th_per = 1.5}', ".th_per = 1.5: above 1. Use a number above 0 and "
         "at most 1, for example 0.0032."),
        ('{kind = "tfer", th_fer = nan}', ".th_fer = nan: not a number. Use a number, for "
         "example 0.00013."),
        ('{kind = "qawla", th_per = 0.05, h = 0.5, threshold = 20}', ".h = 0.5: below 1. Use "
         "a number from 1 on, for example 100."),
        ('{kind = "qawla", th_per = 0.05, h = 100, threshold = 0}', ".threshold = 0: below 1. "
         "Use an integer from 1 on, for example 20."),
        ('{kind = "dual-regime", mcs_below = "mcs0", mcs_above = "mcs1"}',
         ".threshold: missing. Set threshold = 20."),
        ('{kind = "max-phy-throughput", error_rate = "ber"}', '.error_rate = "ber": not one of '
         "the accepted words. The nearest is per; expected one of: per, fer."),
        ('{kind = "optimum", threshold = "many"}', '.threshold = "many": not an integer. Use '
         "an integer from 0 to 1000000000, for example 30."),
    ],
)  # fmt: skip
def test_invalid_policy_is_reported(policy: str, line: str) -> None:
    problem = problem_after_setting("bottleneck.link", adaptive(policy))
    assert problem == f"overrides: bottleneck.link.policy{line}"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ("delay = '1 ms'", "snr_db: missing. Set snr_db = 22."),
        ("snr_db = inf", "snr_db = inf: not a number that can be used. Use a number, "
         "for example 22."),
        ("snr_db = nan", "snr_db = nan: not a number. Use a number, for example 22."),
        ('snr_db = "22 dB"', 'snr_db = "22 dB": not a number. Use a number, for example 22.'),
        ("snr_db = 22, snr_bias_db = 201", "snr_bias_db = 201: above 200. Use a number from "
         "-200 to 200, for example 0."),
        ("snr_db = 22, snr_noise_db = -1", "snr_noise_db = -1: below 0. Use a number from 0 "
         "to 200, for example 0."),
        ('snr_db = 22, estimate_interval = "0 s"', 'estimate_interval = "0 s": not above 0. '
         'Use a duration above 0, for example "5 ms".'),
        ('snr_db = 22, packet = "0 B"', 'packet = "0 B": not above 0. Use a size above 0 and '
         'at most "65535 B", for example "1500 B".'),
        ("snr_db = 22, snr_d = 22", "snr_d = 22: unknown key. The nearest is snr_db; "
         "expected one of: kind, table, policy, delay, errors, harq, arq, in_order, snr_db, snr, "
         "snr_bias_db, snr_noise_db, estimate_interval, packet, frame_overhead."),
    ],
)  # fmt: skip
def test_invalid_adaptive_link_is_reported(more: str, line: str) -> None:
    problem = problem_after_setting("bottleneck.link", adaptive(more=more))
    assert problem == f"overrides: bottleneck.link.{line}"


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            "airpath:802.16-ctc-agwn",
            '"airpath:802.16-ctc-agwn": not a table that comes with Airpath. '
            "The nearest is airpath:802.16-ctc-awgn; "
            f"expected one of: {', '.join(shipped_tables())}.",
        ),
        (
            "none/a.json",
            '"none/a.json": no such file: none/a.json. Use a path from the scenario file, '
            f"or a table that comes with Airpath: {', '.join(shipped_tables())}.",
        ),
    ],
)
def test_missing_table_file_is_reported(table: str, line: str) -> None:
    link = f'{{kind = "adaptive", table = "{table}", policy = "max-phy-throughput", snr_db = 22}}'
    with pytest.raises(ap.errors.ScenarioError) as caught:
        loads(GOOD, place="wimax.toml", overrides=[("bottleneck.link", link)]).resolve()
    assert str(caught.value) == f"wimax.toml: bottleneck.link.table = {line}"


def test_shipped_table_without_a_name_is_reported() -> None:
    link = '{kind = "adaptive", table = "airpath:", policy = "max-phy-throughput", snr_db = 22}'
    assert problem_after_setting("bottleneck.link", link) == (
        'overrides: bottleneck.link.table = "airpath:": names no table. Use a path from the '
        'scenario file, or airpath: and a name, for example "airpath:802.16-ctc-vehicular-a".'
    )


@pytest.mark.parametrize(
    "link",
    [
        '{kind = "fixed", rate = "5 Mbit/s"}',
        '{kind = "multi-regime", thresholds = [5], regimes = [{rate = "1 Mbit/s"}, '
        '{rate = "2 Mbit/s"}]}',
        '{kind = "trace", file = "a.down"}',
        '{kind = "rate-trace", file = "a.csv"}',
        '{kind = "rlc-am", rate = "384 kbit/s"}',
        '{kind = "adaptive", table = "a.json", snr_db = 22, policy = "max-phy-throughput"}',
    ],
)
def test_every_link_has_a_rate_to_change(link: str) -> None:
    text = GOOD + '[[control]]\nat = "5 s"\nrate = "1 Mbit/s"\n'
    late = text + '[[control]]\nat = "301 s"\nrate = "0 bit/s"\n'
    assert loads(text, overrides=[("bottleneck.link", link)]).control[0].rate == 10**6
    assert lines(late, [("bottleneck.link", link)]) == [
        'wimax.toml: control.1.at = "301 s": after duration. Use a duration up to "300 s".'
    ]

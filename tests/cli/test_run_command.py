"""`airpath run`: output, files and rejected input."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_run_prints_flows_queues_and_links(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("run", scenario, "--reps", 5)
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "small"
    assert lines[1] == (
        "5 replications of 4 s, the first 1 s not counted; seed 1; ± is the 99 % interval"
    )
    assert [line for line in lines if line.strip() in ("Flows", "Queues", "Links")]
    assert any(line.startswith("0 newreno ") and "Mbit/s" in line for line in lines)
    assert any(line.startswith("all 2 ") for line in lines)


def test_advisory_is_a_line_on_standard_error(airpath_command: Command, scenario: Path) -> None:
    """Regression: only equal replications were reported, and not in the JSON."""
    answer = airpath_command("run", scenario, "--reps", 2, "--json", "--set", "flows.0.tcp.ecn=on")
    reported = json.loads(answer.out)["advisories"]
    assert [advisory["code"] for advisory in reported] == ["ecn-without-marks", "few-replications"]
    printed = [f"{one['place']}: {one['text']}".removeprefix(": ") for one in reported]
    assert answer.err.splitlines() == printed
    checked = airpath_command("check", scenario, "--set", "flows.0.tcp.ecn=on")
    assert (checked.status, checked.err) == (0, f"{printed[0]}\n")


def test_groups_of_flows_have_rows(airpath_command: Command, scenario: Path) -> None:
    """Regression: thirty flows of one group and a bulk flow were printed as one row."""
    more = Path("groups.toml")
    group = '\n[[flows]]\nsource = "cbr"\nrate = "1 Mbit/s"\n'
    more.write_text(scenario.read_text() + group)
    answer = airpath_command("run", more, "--reps", 1, "--set", "flows.0.count=30")
    rows = [line.split("  ")[0] for line in answer.out.splitlines()]
    assert {"group 0: 30 newreno", "group 1: 1 cbr", "all 31"} <= set(rows)


def test_one_replication_has_no_intervals(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("run", scenario, "--reps", 1)
    assert "1 replication of 4 s" in answer.out
    assert "no intervals" in answer.out
    assert "nan" not in answer.out


def test_json_is_one_document_and_nothing_else(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("run", scenario, "--reps", 5, "--json")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.count("\n") == 1
    document = json.loads(answer.out)
    parts = ["provenance", "complete", "advisories", "summary", "flows", "groups"]
    assert list(document) == [*parts, "queues", "links"]
    assert document["provenance"]["command"] == "airpath run small.toml --reps 5 --json"
    assert document["flows"][1]["goodput_bps"]["reps"] == 5
    assert document["queues"][0]["name"] == "bottleneck"


def numbers(answer: Any) -> Any:
    document = json.loads(answer.out)
    return {key: value for key, value in document.items() if key != "provenance"}


def test_number_of_threads_changes_nothing(airpath_command: Command, scenario: Path) -> None:
    one, two = (
        airpath_command("run", scenario, "--reps", 5, "--json", "--threads", n) for n in (1, 2)
    )
    assert numbers(one) == numbers(two)
    replaced = one.out.replace("--threads 1", "--threads 2")
    assert replaced == two.out


def test_seed_changes_the_results(airpath_command: Command, scenario: Path) -> None:
    one, two = (airpath_command("run", scenario, "--json", "--seed", n) for n in (1, 2))
    assert numbers(one) != numbers(two)


def test_set_replaces_values_of_the_file(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command(
        "run", scenario, "--reps", 1, "--json",
        "--set", "flows.0.count=3", "--set", "bottleneck.link.rate=5 Mbit/s",
    )  # fmt: skip
    resolved = json.loads(answer.out)["provenance"]["scenario"]
    assert [flow["count"] for flow in resolved["flows"]] == [3]
    assert resolved["bottleneck"]["link"]["rate_bps"] == 5_000_000


def test_out_has_tables_and_figures(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command(
        "run", scenario, "--reps", 5, "--out", "results", "--set", 'record.series=["queue"]'
    )
    assert answer.status == 0
    names = sorted(path.name for path in Path("results").iterdir())
    assert names == [
        "flows.csv",
        "groups.csv",
        "links.csv",
        "queue-lengths.csv",
        "queue-lengths.png",
        "queues.csv",
        "result.json",
        "scenario.toml",
        "series-queue.csv",
        "summary.csv",
        "timeline.png",
    ]
    assert sorted(answer.err.splitlines()) == [f"written: results/{name}" for name in names]
    assert "# command: airpath run small.toml" in Path("results/flows.csv").read_text()


def test_figures_are_written_in_other_formats(airpath_command: Command, scenario: Path) -> None:
    options = ["--figure-format", "pdf,svg", "--window", "1s..2s", "--out", "results"]
    options += ["--set", 'record.series=["queue"]']
    assert airpath_command("run", scenario, "--reps", 1, *options).status == 0
    made = {path.name for path in Path("results").iterdir() if "." in path.name}
    figures = {
        f"{stem}.{kind}" for stem in ("queue-lengths", "timeline") for kind in ("pdf", "svg")
    }
    assert figures <= made
    assert not [name for name in made if name.endswith(".png")]


def test_no_plot_writes_no_figures(airpath_command: Command, scenario: Path) -> None:
    airpath_command("run", scenario, "--reps", 1, "--out", "results", "--no-plot")
    assert not list(Path("results").glob("*.png"))


def test_scenario_in_out_gives_the_same_run(airpath_command: Command, scenario: Path) -> None:
    airpath_command("run", scenario, "--reps", 2, "--seed", 5, "--out", "first", "--no-plot")
    head = Path("first/scenario.toml").read_text().splitlines()[1]
    words = head.removeprefix("# The same run again: airpath ").split()
    assert words == ["run", "scenario.toml", "--seed", "5", "--reps", "2"]
    words[1] = "first/scenario.toml"
    airpath_command(*words, "--out", "second", "--no-plot")
    first, second = (json.loads(Path(f"{n}/result.json").read_text()) for n in ("first", "second"))
    assert first["replications"] == second["replications"]


# --- invalid input: one line for each problem, status 2, nothing written --------------------------


BAD = [
    (
        ["--set", "bottleneck.link.rate=5 Mb"],
        '--set: bottleneck.link.rate = "5 Mb": not a rate. '
        'Use a number with bit/s, kbit/s, Mbit/s or Gbit/s, for example "5 Mbit/s".',
    ),
    (
        ["--set", "bottleneck.link.rate=5"],
        "--set: bottleneck.link.rate = 5: no unit. "
        'Use a number with bit/s, kbit/s, Mbit/s or Gbit/s, for example "5 Mbit/s".',
    ),
    (
        ["--set", "bottleneck.link.loss=1.5"],
        "--set: bottleneck.link.loss = 1.5: above 1. Use a number from 0 to 1, for example 0.",
    ),
    (
        ["--set", "speed"],
        "--set speed: no value. Use --set key=value, for example flows.0.count=8.",
    ),
    (["--reps", "0"], "--reps: 0: below 1. Use an integer from 1 on."),
    (["--seed", "-1"], "--seed: -1: not accepted. Use an integer from 0 to 2^64 - 1."),
    (["--threads", "0"], "--threads: 0: below 1. Use an integer from 1 on."),
    (["--plot"], "--plot: needs a directory. Use --out DIR as well."),
    (["--window", "1s..2s"], "--window: needs a directory. Use --out DIR as well."),
    (
        ["--figure-format", "png", "--format", "csv"],
        "--figure-format: needs a directory. Use --out DIR as well.\n"
        "--format: needs a directory. Use --out DIR as well.",
    ),
    (
        ["--window", "1s..2s", "--out", "out"],
        "--window: nothing is recorded that is drawn over time. "
        "Add at least one of delivered, queue, sojourn, cwnd to record.series.",
    ),
    (
        ["--window", "1s..2s", "--out", "out", "--no-plot", "--set", 'record.series=["queue"]'],
        "--window and --no-plot: contradict each other. Use one of them.",
    ),
    (
        ["--figure-format", "pdf", "--out", "out", "--no-plot"],
        "--figure-format and --no-plot: contradict each other. Use one of them.",
    ),
    (
        ["--capture-replication", "1", "--out", "out"],
        "--capture-replication: nothing is captured. Use --capture POINT as well.",
    ),
    (
        ["--window", "1s-2s", "--out", "out"],
        '--window: "1s-2s": not two instants. Use its begin and end, '
        'for example ("1 s", "2 s") or "1s..2s".',
    ),
    (
        ["--figure-format", "gif", "--out", "out"],
        '--figure-format: "gif": not a format of figures. Expected one of: png, svg, pdf.',
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_invalid_values_are_reported_in_one_line(
    airpath_command: Command, scenario: Path, options: list[str], message: str
) -> None:
    before = files()
    answer = airpath_command("run", scenario, *options)
    assert answer == (2, "", message + "\n")
    assert files() == before


def test_every_problem_of_a_file_is_reported_at_once(
    airpath_command: Command, scenario: Path
) -> None:
    text = scenario.read_text().replace('"10 Mbit/s"', '"-1 Mbit/s"').replace("count", "cuont")
    scenario.write_text(text)
    answer = airpath_command("run", scenario, "--json")
    assert (answer.status, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 2
    assert 'small.toml: bottleneck.link.rate = "-1 Mbit/s": below 0.' in answer.err
    assert "small.toml: flows.0.cuont = 2: unknown key. The nearest is count;" in answer.err


def test_missing_file_is_reported_in_one_line(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("run", "other.toml")
    assert answer == (2, "", "other.toml: cannot be read: no such file or directory.\n")


def test_missing_trace_is_reported_with_the_searched_directories(
    airpath_command: Command, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRPATH_TRACES", "nowhere")
    link = 'bottleneck.link={kind = "trace", file = "traces:X.down"}'
    answer = airpath_command("run", scenario, "--set", link)
    assert (answer.status, answer.out) == (2, "")
    *_, line = answer.err.splitlines()
    assert 'bottleneck.link.file = "traces:X.down": no file X.down in nowhere' in line
    assert "ravinet/mahimahi" in line


def test_directory_that_is_not_writable_stops_before_the_run(
    airpath_command: Command, scenario: Path
) -> None:
    Path("taken").write_text("")
    # The scenario has ten hours of simulated time: if it ran first, the test would not end.
    answer = airpath_command("run", scenario, "--out", "taken", "--set", "duration=10 h")
    assert answer == (
        2,
        "",
        '--out: "taken": is a file, not a directory. Use another name.\n',
    )
    assert files() == ["small.toml", "taken"]


def test_invalid_scenario_leaves_no_directory(airpath_command: Command, scenario: Path) -> None:
    answer = airpath_command("run", scenario, "--out", "new", "--set", "duration=1")
    assert answer.status == 2
    assert not Path("new").exists()


def test_captures_are_written_into_the_directory(airpath_command: Command, scenario: Path) -> None:
    out = Path("out")
    answer = airpath_command(
        "run", scenario, "--reps", 2, "--no-plot", "--out", out,
        "--capture", "receiver,sender", "--capture-replication", 1,
    )  # fmt: skip
    assert answer.status == 0
    files = sorted(path.name for path in out.glob("*.pcapng"))
    assert files == ["receiver.pcapng", "sender.pcapng"]
    assert f"written: {out / 'sender.pcapng'}" in answer.err
    assert not list(out.glob(".*"))


def test_captures_of_the_scenario_require_a_directory(
    airpath_command: Command, scenario: Path
) -> None:
    answer = airpath_command("run", scenario, "--reps", 1, "--set", 'capture.points=["acks"]')
    assert answer.status == 0
    assert answer.err == (
        "capture: nothing is written without a directory. Use --out DIR as well.\n"
    )


def test_non_regular_file_in_the_directory_stops_before_the_run(
    airpath_command: Command, scenario: Path
) -> None:
    """Regression: a regular file replaced the special file at the end of the run."""
    out = Path("out")
    (out / "series-queue.csv").mkdir(parents=True)
    os.mkfifo(out / "result.json")
    words = ["--set", "duration=10 h", "--set", 'record.series=["queue"]']
    answer = airpath_command("run", scenario, "--out", "out", *words)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        f"out/{name}: cannot be written (is {what}, not a regular file). "
        "Remove it, or write another directory."
        for name, what in [("result.json", "a pipe"), ("series-queue.csv", "a directory")]
    ]
    assert (out / "result.json").is_fifo()


def test_files_of_an_earlier_run_are_removed_and_reported(
    airpath_command: Command, scenario: Path
) -> None:
    words = ["run", scenario, "--reps", 1, "--out", "out"]
    assert airpath_command(*words, "--set", 'record.series=["queue"]').status == 0
    answer = airpath_command(*words, "--no-plot")
    removed = [line for line in answer.err.splitlines() if line.startswith("removed: ")]
    gone = ("queue-lengths.png", "series-queue.csv", "timeline.png")
    assert removed == [f"removed: out/{name} (of an earlier run)" for name in gone]
    assert not any(Path("out", name).exists() for name in gone)


def test_tables_are_written_as_parquet(airpath_command: Command, scenario: Path) -> None:
    words = ["--reps", 1, "--no-plot", "--out", "out", "--format", "parquet"]
    assert airpath_command("run", scenario, *words).status == 0
    assert {path.suffix for path in Path("out").iterdir()} == {".json", ".toml", ".parquet"}


def test_empty_directory_name_is_rejected(airpath_command: Command, scenario: Path) -> None:
    before = files()
    answer = airpath_command("run", scenario, "--reps", 1, "--out", "")
    line = '--out: "": not a directory. Use its name, or . for the working directory.'
    assert (answer.status, answer.out, answer.err) == (2, "", f"{line}\n")
    assert files() == before


def test_rejected_run_leaves_no_directory(airpath_command: Command, scenario: Path) -> None:
    before = files()
    assert airpath_command("run", scenario, "--reps", 0, "--out", "new/directory").status == 2
    assert files() == before
    Path("old").mkdir()
    assert airpath_command("run", scenario, "--reps", 0, "--out", "old/directory").status == 2
    assert list(Path("old").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--format", "feather"],
            '--format: "feather": not a format of tables. '
            "Expected one of: csv, csv.gz, parquet, latex.",
        ),
        (
            ["--capture", "sender"],
            "--capture: needs a directory. Use --out DIR as well.",
        ),
        (
            ["--capture", "sender,queue", "--out", "out"],
            '--capture: "queue": not one of the accepted words. '
            "Expected one of: sender, ingress, bottleneck, receiver, acks, bottleneck.in.",
        ),
        (
            ["--capture", "sender", "--capture-replication", "10", "--out", "out"],
            "--capture-replication: 10: is not run. Use an integer from 0 to 9, below --reps.",
        ),
    ],
)
def test_invalid_captures_are_rejected(
    airpath_command: Command, scenario: Path, words: list[str], line: str
) -> None:
    answer = airpath_command("run", scenario, *words)
    assert (answer.status, answer.out, answer.err) == (2, "", f"{line}\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--reps", "10^20"], "airpath run: invalid value for '--reps': not an integer. "
         "See airpath run --help."),
        (["--seed", "1.5"], "airpath run: invalid value for '--seed': not an integer. "
         "See airpath run --help."),
        (["--confidence", "x"], "airpath run: invalid value for '--confidence': not a number. "
         "See airpath run --help."),
        (["--reps", str(10**20)], "--reps: 100000000000000000000: above 1000000. "
         "Use an integer from 1 to 1000000."),
        (["--threads", "0"], "--threads: 0: below 1. Use an integer from 1 on."),
    ],
)  # fmt: skip
def test_invalid_numbers_have_a_message_of_airpath(
    airpath_command: Command, scenario: Path, words: list[str], line: str
) -> None:
    assert airpath_command("run", scenario, *words) == (2, "", f"{line}\n")


def test_run_that_exceeds_the_memory_is_rejected(airpath_command: Command, scenario: Path) -> None:
    # Regression: the command ran until the kernel killed it.
    often = ["--set", "record.ss=true", "--set", "record.ss_interval=1 ns"]
    answer = airpath_command("run", scenario, *often, "--out", "new")
    assert (answer.status, answer.out) == (2, "")
    (line,) = answer.err.splitlines()
    assert line.startswith('small.toml: record.ss_interval = "1 ns": about 8e+09 samples in 1 ')
    assert not Path("new").exists()

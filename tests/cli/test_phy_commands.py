"""`airpath phy per`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import AT_ONCE_S, Running

from airpath.phy import components
from forked import airpath_words

Command = Callable[..., Any]

SMALL = ("--channel", "vehicular-a", "--mcs", "0,3", "--snr", "10,26", "--errors", 50)
FEW = (*SMALL, "--blocks", 2000)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def per(*arguments: object) -> tuple[object, ...]:
    return ("phy", "per", *arguments)


def test_output_is_a_table_of_every_point(airpath_command: Command) -> None:
    answer = airpath_command(*per(*FEW))
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[:2] == [
        "Error rates on vehicular-a",
        "50 errors or 2000 blocks a point; max-log, 10 iterations; seed 1; intervals of 95 %",
    ]
    assert "mcs0, qpsk-1/2: blocks of 60 bytes, packets of 1500 bytes" in lines
    assert "mcs3, 16qam-3/4: blocks of 54 bytes, packets of 1500 bytes" in lines
    rows = [line.split() for line in lines if " dB " in line]
    assert [row[:2] for row in rows] == [["10", "dB"], ["26", "dB"]] * 2
    assert len({len(row) for row in rows}) == 1


def test_json_is_one_document_that_begins_with_its_provenance(airpath_command: Command) -> None:
    answer = airpath_command(*per(*FEW, "--packet", "500 B", "--json"))
    assert (answer.status, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert next(iter(document)) == "provenance"
    assert document["provenance"]["command"].startswith("airpath phy per --channel vehicular-a")
    assert document["provenance"]["seed"] == 1
    assert (document["packet_bytes"], document["complete"]) == (500, True)
    for curve in document["curves"]:
        blocks = -(-500 // curve["mcs"]["block_bytes"])
        for point in curve["points"]:
            fer = point["errors"] / point["blocks"]
            assert point["fer"]["mean"] == fer
            assert point["fer"]["low"] <= fer <= point["fer"]["high"]
            assert point["per"]["mean"] == pytest.approx(1 - (1 - fer) ** blocks, abs=1e-12)
            assert point["per"]["low"] <= point["per"]["mean"] <= point["per"]["high"]


def test_json_document_can_be_loaded_as_a_table(airpath_command: Command) -> None:
    import airpath.phy

    Path("t.json").write_text(airpath_command(*per(*FEW, "--json")).out)
    assert airpath.phy.load("t.json").mcss == ["mcs0", "mcs3"]


def test_out_is_a_file_or_a_directory(airpath_command: Command) -> None:
    answer = airpath_command(*per(*FEW, "--out", "new/curve.json"))
    assert answer.err == "written: new/curve.json\nwritten: new/curve.png\n"
    assert Path("new/curve.png").read_bytes().startswith(b"\x89PNG")
    answer = airpath_command(*per(*FEW, "--out", "directory"))
    assert answer.err == "written: directory/per.json\nwritten: directory/per.png\n"
    assert Path("directory/per.json").read_bytes() == Path("new/curve.json").read_bytes()


def test_ctrl_c_after_the_last_point_reports_that_all_are_finished(
    airpath_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: after Ctrl-C during the plot, the command printed only "Interrupted."."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as while_drawing:
        while_drawing.setattr("airpath.phy.figure.per_figure", interrupted)
        answer = airpath_command(*per(*FEW, "--out", "a.json"))
    assert answer.status == 130
    assert answer.err == (
        "written: a.json\nNo figure was drawn; the same command draws it.\n"
        "Interrupted: all 4 points were finished.\n"
    )
    again = airpath_command(*per(*FEW, "--out", "a.json"))
    assert (again.status, Path("a.png").exists()) == (0, True)


def test_command_in_the_file_reproduces_the_file(airpath_command: Command) -> None:
    airpath_command(*per(*FEW, "--stop-at-zero-errors", "--out", "a.json", "--threads", 1))
    command = json.loads(Path("a.json").read_text())["provenance"]["command"].split()
    assert command[0] == "airpath"
    assert airpath_command(*command[1:], "--out", "b.json", "--threads", 3).status == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


def test_stop_at_zero_errors_ends_a_curve(airpath_command: Command) -> None:
    arguments = ("--channel", "awgn", "--mcs", "qpsk-1/2", "--snr", "1:9:2", "--blocks", 9000)
    answer = airpath_command(*per(*arguments, "--stop-at-zero-errors", "--json"))
    points = json.loads(answer.out)["curves"][0]["points"]
    assert [point["errors"] == 0 for point in points] == [False, True]


def test_second_run_keeps_finished_points(airpath_command: Command) -> None:
    airpath_command(*per(*FEW, "--out", "whole.json"))
    full = json.loads(Path("whole.json").read_text())
    # Change the count of the existing point: a second run must keep it, not measure it again.
    part = {**full, "complete": False, "curves": [dict(full["curves"][0])]}
    kept = {**full["curves"][0]["points"][0], "errors": 1234}
    part["curves"][0]["points"] = [kept]
    Path("part.json").write_text(json.dumps(part))
    answer = airpath_command(*per(*FEW, "--out", "part.json"))
    assert (answer.status, answer.err.splitlines()[0]) == (
        0,
        "part.json: 1 of 4 points were finished before, and are kept.",
    )
    found = json.loads(Path("part.json").read_text())
    assert found["complete"] is True
    assert found["curves"][0]["points"][0] == kept
    assert found["curves"][0]["points"][1:] == full["curves"][0]["points"][1:]
    assert found["curves"][1] == full["curves"][1]
    again = airpath_command(*per(*FEW, "--out", "part.json"))
    assert again.err.splitlines()[0] == (
        "part.json: 4 of 4 points were finished before; nothing is left to measure."
    )


def test_different_settings_are_not_mixed(airpath_command: Command) -> None:
    Path("a.json").write_text(airpath_command(*per(*FEW, "--json")).out)
    before = Path("a.json").read_bytes()
    answer = airpath_command(*per(*FEW, "--iterations", 4, "--seed", 2, "--out", "a.json"))
    assert answer == (
        2,
        "",
        "a.json: exists with other settings: iterations 10, not 4; seed 1, not 2. "
        "Use the same ones, use another name, or remove it.\n",
    )
    assert Path("a.json").read_bytes() == before


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"curves": 3}', "5 Mbit/s\n"])
def test_other_file_is_not_overwritten(airpath_command: Command, text: str) -> None:
    Path("a.json").write_text(text)
    answer = airpath_command(*per(*FEW, "--out", "a.json"))
    assert answer == (
        2,
        "",
        "a.json: exists and is not an error-rate table of this command. Use another file name.\n",
    )
    assert Path("a.json").read_text() == text


@pytest.mark.parametrize(
    ("place", "key"),
    [
        ((), "complete"),
        (("curves", 0, "mcs"), "label"),
        (("curves", 0, "points", 0), "iterations"),
    ],
)
def test_incomplete_table_is_not_continued(
    airpath_command: Command, place: tuple[str | int, ...], key: str
) -> None:
    Path("a.json").write_text(airpath_command(*per(*FEW, "--json")).out)
    document = json.loads(Path("a.json").read_text())
    part = document
    for step in place:
        part = part[step]
    del part[key]
    Path("a.json").write_text(json.dumps(document))
    answer = airpath_command(*per(*FEW, "--out", "a.json"))
    assert answer == (
        2,
        "",
        "a.json: exists and is not an error-rate table of this command. Use another file name.\n",
    )
    assert json.loads(Path("a.json").read_text()) == document


CHANNELS = ", ".join(components().channels)
COUNT = "Use an integer from 1 to 1e+15, for example"
WORD = "not one of the accepted words"
SNR_EXAMPLE = 'for example "14:40:2" or "10,12.5".'


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--channel",
            "vehicular-z",
            f'--channel: "vehicular-z": not a channel. Expected one of: {CHANNELS}; '
            "NS is a delay spread in ns, for example tdl-a-300.",
        ),
        (
            "--mcs",
            "0,8",
            '--mcs: "0,8": no such scheme: 8. Expected one of: all, numbers, and mcs0 ',
        ),
        ("--mcs", "", '--mcs: "": no scheme. Expected one of: all, '),
        ("--snr", "", '--snr: "": empty. Use numbers of dB, or FIRST:LAST:STEP, '),
        ("--snr", "1,,2", '--snr: "1,,2": empty. Use numbers of dB, or FIRST:LAST:STEP, '),
        ("--snr", "nan", f'--snr: "nan": not finite. Use numbers of dB, {SNR_EXAMPLE}'),
        ("--snr", "0:inf:1", f'--snr: "0:inf:1": not finite. Use numbers of dB, {SNR_EXAMPLE}'),
        ("--snr", "x", f'--snr: "x": not a number of dB. Use numbers, {SNR_EXAMPLE}'),
        ("--snr", "1:2", f'--snr: "1:2": not FIRST:LAST:STEP. Use three numbers, {SNR_EXAMPLE}'),
        ("--snr", "4:2:1", '--snr: "4:2:1": the last is below the first. '),
        ("--snr", "2:4:-1", '--snr: "2:4:-1": a step that is not above 0. '),
        ("--snr", "0:1e300:1", '--snr: "0:1e300:1": too many values. '),
        ("--snr", "1000", '--snr: "1000": above 100. Use a number from -50 to 100.'),
        ("--errors", "0", f'--errors: "0": below 1. {COUNT} 400.'),
        (
            "--errors",
            "1.5",
            '--errors: "1.5": not an integer. Use an integer, for example 400.',
        ),
        ("--blocks", "-1", '--blocks: "-1": below 0. Use an integer from 0, for example 1e7.'),
        ("--blocks", "1e16", f'--blocks: "1e16": above 1e+15. {COUNT} 10000000.'),
        ("--blocks", "inf", '--blocks: "inf": not an integer. Use an integer, '),
        (
            "--iterations",
            "0",
            "--iterations: 0: below 1. Use an integer from 1 to 1000, for example 10.",
        ),
        ("--algorithm", "log", f'--algorithm: "log": {WORD}. The nearest is max-log; expected '),
        ("--mapping", "none", f'--mapping: "none": {WORD}. Expected one of: random, comb, '),
        ("--demapper", "x", f'--demapper: "x": {WORD}. Expected one of: max-log, linear-log.'),
        ("--packet", "5", '--packet: "5": no unit. '),
        ("--packet", "0 B", '--packet = "0 B": empty. Use a size from 1 B on.'),
        ("--seed", "-1", "--seed: -1: not accepted. Use an integer from 0 to 2^64 - 1."),
        ("--threads", "0", "--threads: 0: below 1. Use an integer from 1 on."),
        ("--threads", f"{10**20}", f"--threads: {10**20}: above 10000. Use an integer "),
        ("--out", "", '--out: "": not a file. Use NAME.json, or a directory.'),
    ],
)
def test_invalid_values_are_reported_in_one_line(
    airpath_command: Command, option: str, value: str, message: str
) -> None:
    answer = airpath_command(*per(*FEW, "--out", "new", f"{option}={value}"))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(message), answer.err
    assert len(answer.err.splitlines()) == 1
    assert not list(Path().iterdir())


def test_all_invalid_values_are_reported_at_once(airpath_command: Command) -> None:
    answer = airpath_command(*per("--channel", "x", "--snr", "", "--errors", "0", "--mcs", "9"))
    heads = [line.split(":")[0] for line in answer.err.splitlines()]
    assert heads == ["--channel", "--mcs", "--snr", "--errors"]


def test_skip_rule_is_rejected_for_untested_channels(airpath_command: Command) -> None:
    for channel, mapping in (("awgn", "random"), ("vehicular-a", "fusc")):
        answer = airpath_command(
            *per("--channel", channel, "--mapping", mapping, "--snr", 1, "--skip-rule")
        )
        full = channel if channel == "awgn" else f"{channel}/{mapping}"
        assert answer == (
            2,
            "",
            f"--skip-rule: true: has no thresholds for {full}. "
            "Remove it, or measure vehicular-a.\n",
        )


def test_channel_without_subcarriers_has_no_mapping(airpath_command: Command) -> None:
    answer = airpath_command(*per("--channel", "awgn", "--snr", 1, "--mapping", "fusc"))
    assert answer == (
        2,
        "",
        '--channel: "awgn": has no subcarriers to be mapped as fusc. Leave the mapping out.\n',
    )


def test_channel_has_one_mapping(airpath_command: Command) -> None:
    channel = ("--channel", "vehicular-a/fusc", "--snr", 1)
    answer = airpath_command(*per(*channel, "--mapping", "pusc"))
    assert answer == (
        2,
        "",
        '--channel: "vehicular-a/fusc": has the mapping fusc already. Use one of the two.\n',
    )


# --- as a separate process ---------------------------------------------------------------------

LONG = per("--channel", "awgn", "--mcs", "0,7", "--snr", "1,2:30:1", "--errors", "1e9")


def test_ctrl_c_keeps_finished_points(airpath_process: Command) -> None:
    arguments = (*LONG, "--blocks", "6e4", "--threads", 2)
    with Running(*arguments, "--out", "a.json", "--json") as process:
        process.wait_for(r"mcs0, (?!1 dB)")
        ended = process.interrupt()
    assert ended.status == 130
    assert ended.cpu_s < AT_ONCE_S
    document = json.loads(ended.out)
    assert document["complete"] is False
    kept = sum(len(curve["points"]) for curve in document["curves"])
    assert ended.err == f"Interrupted: {kept} of 60 points were finished.\nwritten: a.json\n"
    counts = json.loads(Path("a.json").read_text())["curves"][0]["points"]
    first = counts[0]
    alone = airpath_process(
        *per("--channel", "awgn", "--mcs", 0, "--snr", 1, "--errors", "1e9", "--blocks", "6e4"),
        "--json",
        "--threads",
        1,
    )
    again = json.loads(alone.out)["curves"][0]["points"][0]
    assert {key: again[key] for key in first} == first


def test_ctrl_c_before_the_first_result_leaves_nothing() -> None:
    with Running(*LONG, "--blocks", "1e12", "--out", "new/out") as process:
        process.wait_for("mcs0, 1 dB")
        ended = process.interrupt()
    assert (ended.status, ended.err) == (130, "Interrupted: 0 of 60 points were finished.\n")
    assert ended.cpu_s < AT_ONCE_S
    assert not list(Path().iterdir())


def test_progress_bar_with_estimate_is_on_a_terminal_only(airpath_process: Command) -> None:
    assert airpath_process(*per(*FEW, "--json")).err == ""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        airpath_words(*per(*SMALL, "--blocks", 2000, "--threads", 1)),
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        stdout=subprocess.DEVNULL,
        stderr=child,
    )
    os.close(child)
    shown = b""
    while True:
        try:
            more = os.read(parent, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(parent)
    assert process.wait() == 0
    assert b"26 dB: FER " in shown
    assert b" errors" in shown

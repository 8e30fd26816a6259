"""`airpath phy ser`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airpath.phy import symbol_error_rate

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ser(*arguments: object) -> tuple[object, ...]:
    return ("phy", "ser", *arguments)


def test_output_is_a_table_of_every_point(airpath_command: Command) -> None:
    answer = airpath_command(*ser("--modulation", "bpsk", "--tx", 2, "--rx", 2, "--snr", "0:30:10"))
    assert (answer.status, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "Symbol error rates: bpsk, 2×2 antennas, rayleigh"
    rows = [line.split() for line in lines if " dB " in line]
    assert rows == [
        ["0", "dB", "4.0258e-02"],
        ["10", "dB", "1.1336e-04"],
        ["20", "dB", "2.0370e-08"],
        ["30", "dB", "2.1718e-12"],
    ]


def test_json_is_one_document_that_begins_with_its_provenance(airpath_command: Command) -> None:
    words = ("--snr", "0:30:2", "--modulation", "16qam", "--fading", "nakagami", "--m", 2.5)
    answer = airpath_command(*ser(*words, "--json"))
    assert (answer.status, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert next(iter(document)) == "provenance"
    assert document["provenance"]["command"].startswith("airpath phy ser --snr 0:30:2")
    assert document["settings"] == {
        "modulation": "16qam",
        "tx": 1,
        "rx": 1,
        "fading": "nakagami",
        "m": 2.5,
        "method": "exact",
    }
    snrs_db = [2.0 * place for place in range(16)]
    rates = symbol_error_rate(snrs_db, "16qam", fading="nakagami", m=2.5)
    assert document["points"] == [
        {"snr_db": snr_db, "ser": rate}
        for snr_db, rate in zip(snrs_db, list(map(float, rates)), strict=True)  # type: ignore[arg-type]
    ]


def test_out_is_a_file_or_a_directory(airpath_command: Command) -> None:
    words = ser("--snr", "0:40:5", "--rx", 2)
    answer = airpath_command(*words, "--out", "new/mrc.json", "--figure-format", "svg")
    assert (answer.status, answer.err) == (0, "written: new/mrc.json\nwritten: new/mrc.svg\n")
    answer = airpath_command(*words, "--out", "directory", "--json")
    assert answer.err == "written: directory/ser.json\nwritten: directory/ser.png\n"
    assert json.loads(Path("directory/ser.json").read_text()) == json.loads(answer.out)
    assert Path("directory/ser.png").read_bytes().startswith(b"\x89PNG")


def test_rates_below_the_number_format_are_not_plotted(airpath_command: Command) -> None:
    words = ser("--snr", "150,200", "--tx", 2, "--rx", 8, "--modulation", "bpsk")
    answer = airpath_command(*words, "--out", "new", "--json")
    assert answer.status == 0
    assert all(0 <= point["ser"] < 1e-200 for point in json.loads(answer.out)["points"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--snr",
            "201",
            '--snr: "201": out of range. Use dB from -200 to 200, for example "14:40:2" or '
            '"10,12.5".',
        ),
        (
            "--snr",
            "1e9",
            '--snr: "1e9": out of range. Use dB from -200 to 200, for example "14:40:2" or '
            '"10,12.5".',
        ),
        (
            "--tx",
            "3",
            "--tx: 3: beyond two transmitters no complex space-time block code has the full rate. "
            "Use 1 or 2.",
        ),
        ("--tx", "0", "--tx: 0: below 1. Use 1 or 2."),
        ("--rx", "9", "--rx: 9: above 8. Use an integer from 1 to 8."),
        ("--rx", "0", "--rx: 0: below 1. Use an integer from 1 to 8."),
        (
            "--modulation",
            "8qam",
            '--modulation: "8qam": not one of the accepted words. Use bpsk or qpsk or 8psk or '
            "16psk or 32psk or 64psk or 16qam or 64qam.",
        ),
        (
            "--fading",
            "rice",
            '--fading: "rice": not one of the accepted words. Use rayleigh or rician or nakagami.',
        ),
        (
            "--fading",
            "nakagami",
            "--m: missing, of nakagami fading. Use a number from 0.5 to 1000.",
        ),
        ("--k-factor-db", "3", "--k-factor-db: 3.0: of rician fading alone. Remove it."),
        (
            "--method",
            "sum",
            '--method: "sum": not one of the accepted words. Use exact or closed-form or integral.',
        ),
        ("--figure-format", "svg", "--figure-format: needs a file. Use --out FILE.json as well."),
    ],
)
def test_invalid_values_are_reported_in_one_line(
    airpath_command: Command, option: str, value: str, message: str
) -> None:
    answer = airpath_command(*ser("--snr", "10", f"{option}={value}"))
    assert answer == (2, "", f"{message}\n")
    assert not list(Path().iterdir())


def test_all_invalid_values_are_reported_at_once(airpath_command: Command) -> None:
    answer = airpath_command(*ser("--snr", "loud", "--tx", 3, "--rx", 9, "--m", 2))
    heads = [line.split(":")[0] for line in answer.err.splitlines()]
    assert heads == ["--snr", "--tx", "--rx", "--m"]

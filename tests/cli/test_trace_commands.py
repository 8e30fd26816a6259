"""`airpath trace info | convert | generate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import airpath as ap

Command = Callable[..., Any]


def files() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


@pytest.fixture(autouse=True)
def some_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("some.trace").write_text("".join(f"{5 * n}\n" for n in range(1, 401)))


def test_info_describes_a_trace(airpath_command: Command) -> None:
    answer = airpath_command("trace", "info", "some.trace")
    assert answer == (
        0,
        "some.trace: opportunities, 2 s\n"
        "  opportunities   400 of 1504 bytes\n"
        "  mean rate       2.406 Mbit/s\n"
        "   5 % of 100 ms  2.406 Mbit/s\n"
        "  25 % of 100 ms  2.406 Mbit/s\n"
        "  50 % of 100 ms  2.406 Mbit/s\n"
        "  75 % of 100 ms  2.406 Mbit/s\n"
        "  95 % of 100 ms  2.406 Mbit/s\n"
        "  longest outage  0.005 s, from 0 s on\n"
        "  empty           0.00 % of all 100 ms\n",
        "",
    )


def test_info_json_is_one_document(airpath_command: Command) -> None:
    answer = airpath_command("trace", "info", "some.trace", "--json", "--plot", "some.png")
    document = json.loads(answer.out)
    assert document["file"] == "some.trace"
    assert document["opportunities"] == 400
    assert document["provenance"]["command"].startswith("airpath trace info some.trace")
    assert answer.err == "written: some.png\n"
    assert Path("some.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("kind", ["svg", "pdf"])
def test_info_plots_traces_of_other_formats(airpath_command: Command, kind: str) -> None:
    assert airpath_command("trace", "info", "some.trace", "--plot", f"x.{kind}").status == 0
    assert Path(f"x.{kind}").stat().st_size > 1000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5\n4\n", "bad.trace:2: 4 is before the previous 5. Delivery times must not decrease."),
        (
            "5\nx y\n",
            'bad.trace:2: "x y" is not a delivery time. Use whole milliseconds, for example 1204.',
        ),
    ],
)
def test_invalid_trace_is_reported_in_one_line(
    airpath_command: Command, content: str, message: str
) -> None:
    Path("bad.trace").write_text(content)
    for command in (["info"], ["info", "--json"]):
        assert airpath_command("trace", *command, "bad.trace") == (2, "", message + "\n")
    assert airpath_command("trace", "convert", "bad.trace", "x.csv") == (2, "", message + "\n")
    assert not Path("x.csv").exists()


def test_plot_requires_a_figure_format(airpath_command: Command) -> None:
    answer = airpath_command("trace", "info", "some.trace", "--plot", "x.txt")
    assert answer == (
        2,
        "",
        "--plot: x.txt: not a figure. Use a name in .png, .svg or .pdf.\n",
    )


def test_conversion_to_csv_and_back_gives_the_same_trace(airpath_command: Command) -> None:
    assert (
        airpath_command("trace", "convert", "some.trace", "x.csv", "--bin-width", "1 ms").status
        == 0
    )
    text = Path("x.csv").read_text()
    assert text.startswith("# airpath ")
    assert "# command: airpath trace convert some.trace x.csv --bin-width '1 ms'" in text
    assert airpath_command("trace", "convert", "x.csv", "y.trace").status == 0
    assert Path("y.trace").read_text() == Path("some.trace").read_text()


def test_convert_selects_the_format_by_file_name(airpath_command: Command) -> None:
    assert airpath_command("trace", "convert", "some.trace", "x.txt", "--to", "csv").status == 0
    assert "time_s,rate_bps" in Path("x.txt").read_text()
    answer = airpath_command("trace", "convert", "some.trace", "x", "--to", "pcap")
    assert answer == (2, "", '--to: "pcap": not a format. Expected one of: mahimahi, csv.\n')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--bin-width", "10"],
            '--bin-width: "10": no unit. '
            'Use a number with ns, us, ms, s, min or h, for example "40 ms".',
        ),
        (["--bin-width", "0 s"], '--bin-width: "0 s": not above 0. Use a duration above 0.'),
    ],
)
def test_convert_rejects_invalid_options(
    airpath_command: Command, options: list[str], message: str
) -> None:
    answer = airpath_command("trace", "convert", "some.trace", "x.csv", *options)
    assert answer == (2, "", message + "\n")
    assert files() == ["some.trace"]


@pytest.mark.parametrize("target", ["some.trace", "./some.trace", "link.trace"])
def test_convert_does_not_overwrite_its_input(airpath_command: Command, target: str) -> None:
    before = Path("some.trace").read_bytes()
    Path("link.trace").symlink_to("some.trace")
    answer = airpath_command("trace", "convert", "some.trace", target)
    line = f'OUT = "{Path(target)}": is the file that is read. Use another name.'
    assert (answer.status, answer.out, answer.err) == (2, "", f"{line}\n")
    assert Path("some.trace").read_bytes() == before


def test_convert_rejects_an_unknown_file_extension(airpath_command: Command) -> None:
    answer = airpath_command("trace", "convert", "some.trace", "x.xlsx")
    line = (
        'OUT = "x.xlsx": ".xlsx" is not the ending of a trace. Expected one of: '
        ".csv, .trace, .up, .down or none; or name the format, for example --to mahimahi."
    )
    assert (answer.status, answer.out, answer.err) == (2, "", f"{line}\n")
    assert not Path("x.xlsx").exists()
    assert (
        airpath_command("trace", "convert", "some.trace", "x.txt", "--to", "mahimahi").status == 0
    )


def test_convert_into_a_missing_directory_is_rejected(airpath_command: Command) -> None:
    answer = airpath_command("trace", "convert", "some.trace", "no/x.csv")
    assert answer == (
        2,
        "",
        "no/x.csv: cannot be written (no such file or directory). "
        "Use a file in a directory that can.\n",
    )


def test_generate_writes_a_provenance_file(airpath_command: Command) -> None:
    words = ["trace", "generate", "x.trace", "--duration", "3 s", "--seed", "9"]
    answer = airpath_command(*words)
    assert (answer.status, answer.out) == (0, "")
    provenance = Path("x.trace.provenance.txt").read_text().splitlines()
    assert provenance[0].startswith(f"airpath {ap.__version__} (")
    assert provenance[1] == "command: airpath trace generate x.trace --duration '3 s' --seed 9"
    assert provenance[2] == "seed: 9"
    first = Path("x.trace").read_bytes()
    airpath_command(*words)
    assert Path("x.trace").read_bytes() == first
    assert ap.Trace.load("x.trace").duration_s == 3


def test_generate_csv_has_its_provenance_inside(airpath_command: Command) -> None:
    airpath_command("trace", "generate", "x.csv", "--duration", "1 s")
    assert "# seed: 1\n" in Path("x.csv").read_text()
    assert files() == ["some.trace", "x.csv"]


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (
            "--mean-snr",
            "15",
            '--mean-snr: "15": no unit. Use a number with dB, for example "15 dB".',
        ),
        (
            "--speed",
            "3 mph",
            '--speed: "3 mph": not a speed. Use a number with m/s or km/h, for example "10 m/s".',
        ),
        (
            "--carrier",
            "-2 GHz",
            '--carrier: "-2 GHz": below 0. Use a frequency from 0 on, for example "10 Hz".',
        ),
        (
            "--cap",
            "50 MHz",
            '--cap: "50 MHz": not a rate. '
            'Use a number with bit/s, kbit/s, Mbit/s or Gbit/s, for example "5 Mbit/s".',
        ),
    ],
)
def test_generate_rejects_invalid_options(
    airpath_command: Command, option: str, value: str, message: str
) -> None:
    answer = airpath_command("trace", "generate", "x.trace", f"{option}={value}")
    assert answer == (2, "", message + "\n")
    assert files() == ["some.trace"]


def test_generate_limits_are_those_of_the_engine(airpath_command: Command) -> None:
    answer = airpath_command("trace", "generate", "x.trace", "--duration", "2 h")
    assert (answer.status, answer.out) == (2, "")
    assert len(answer.err.splitlines()) == 1
    assert files() == ["some.trace"]


def test_iperf3_measurements_are_converted(airpath_command: Command) -> None:
    row = {"start": 0, "end": 1, "bits_per_second": 20e6}
    Path("measured.json").write_text(json.dumps({"intervals": [{"sum": row}]}))
    convert = ("trace", "convert", "measured.json", "made.csv", "--from")
    assert airpath_command(*convert, "iperf3").status == 0
    assert ap.Trace.load("made.csv").info().mean_bps == pytest.approx(20e6, rel=1e-3)
    answer = airpath_command(*convert, "pcap")
    assert answer.status == 2
    assert answer.err.startswith('--from: "pcap": not one of the accepted words. ')

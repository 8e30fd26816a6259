"""The tables of error rates that Airpath includes."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import airpath.phy
import studies.qawla
from airpath.phy import PerTable
from airpath.phy.settings import MeasurementSettings
from conformance import Law

SHIPPED = {
    "802.16-ctc-awgn": ("awgn", np.arange(0, 22.25, 0.5)),
    "802.16-ctc-vehicular-a": ("vehicular-a/fusc", np.arange(0, 41, 2)),
}


BLOCKS = 5_000_000
"""Minimum number of blocks of a point with fewer than 400 errors."""

OF_TEN_ITERATIONS = Path(studies.qawla.__file__).parent / "decoders"
"""Tables measured with ten iterations, as in the implementation used for comparison."""


def test_shipped_tables_are_listed() -> None:
    assert list(airpath.phy.shipped()) == list(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_table_has_the_requested_settings(name: str) -> None:
    table = airpath.phy.load(name)
    channel, grid = SHIPPED[name]
    about = table.document["settings"]
    assert table.complete
    assert table.channel == channel
    assert about["snr_db"] == grid.tolist()
    assert table.mcss == [f"mcs{number}" for number in range(8)]
    for curve in table.document["curves"]:
        points = curve["points"]
        assert [point["snr_db"] for point in points] == grid[: len(points)].tolist()
        assert all(point["errors"] >= 400 or point["blocks"] == BLOCKS for point in points)
        # A curve ends with its first point without an error, or with the grid.
        assert all(point["errors"] > 0 for point in points[:-1])
        assert points[-1]["errors"] == 0 or len(points) == len(grid)


@pytest.mark.parametrize("name", SHIPPED)
def test_command_in_a_shipped_table_has_its_settings(name: str) -> None:
    document = airpath.phy.load(name).document
    about = document["settings"]
    usual = {"mapping": "random", "demapper": "max-log", "skip_rule": False}
    given = {**usual, **about, "channel": document["channel"]}
    chosen = MeasurementSettings.checked({**given, "seed": document["provenance"]["seed"]})
    assert chosen.command() == document["provenance"]["command"]
    assert chosen.to_dict() == about


@pytest.mark.parametrize("name", SHIPPED)
def test_recount_of_two_points_confirms_a_shipped_table(name: str) -> None:
    document = airpath.phy.load(name).document
    about = document["settings"]
    cheap = [
        (curve["mcs"]["name"], point)
        for curve in document["curves"]
        for point in curve["points"]
        if point["blocks"] <= 40_000 and point["errors"] / point["blocks"] < 0.2
    ]
    # The two points are from the most different schemes.
    for mcs, expected in (cheap[0], cheap[-1]):
        again = airpath.phy.measure(
            document["channel"],
            expected["snr_db"],
            mcs,
            **{key: about[key] for key in ("errors", "blocks", "iterations", "algorithm")},
            seed=document["provenance"]["seed"],
        )
        assert again.document["curves"][0]["points"] == [expected]


@pytest.mark.parametrize("name", SHIPPED)
def test_error_rate_decreases_with_snr(name: str) -> None:
    """Between neighbouring points, with a tolerance of five standard deviations of the two
    counts.
    """
    for curve in airpath.phy.load(name).document["curves"]:
        for left, right in zip(curve["points"], curve["points"][1:], strict=False):
            shares = [point["errors"] / point["blocks"] for point in (left, right)]
            pooled = (left["errors"] + right["errors"]) / (left["blocks"] + right["blocks"])
            variance = pooled * (1 - pooled) * (1 / left["blocks"] + 1 / right["blocks"])
            assert shares[1] - shares[0] <= 5 * math.sqrt(variance)


def test_shipped_tables_are_found_from_any_directory(tmp_path: Path) -> None:
    code = "import airpath; print(airpath.phy.load('airpath:802.16-ctc-awgn').per('mcs0', 0.0))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert float(done.stdout) == 1.0


# --- compared with another implementation ------------------------------------------------------

VEHICULAR_A = Law(
    area="802.16 packet error rates",
    source="Vehicular A, random subcarriers, 10 iterations, FER: another's (phy-802.16-ctc §6)",
    allows="3.5 standard deviations of both counts, and half a unit of the digits given",
)
AWGN = Law(
    area="802.16 packet error rates",
    source="AWGN, 10 iterations, SNR at an error rate: another's (phy-802.16-ctc §7.1)",
    allows="0.03 dB of the published ones, and interpolation between points 0.5 dB apart",
)

# SNR, scheme, frame error rate, number of errors if below 600.
GRID = [
    (8, 0, "5.2e-2", 600), (10, 0, "1.50e-2", 600), (12, 0, "3.04e-3", 600),
    (12, 1, "8.06e-2", 600), (14, 0, "4.95e-4", 600), (14, 1, "2.59e-2", 600),
    (14, 2, "4.14e-2", 600), (16, 0, "6.7e-5", 134), (16, 1, "6.74e-3", 600),
    (16, 2, "9.92e-3", 600), (18, 0, "8e-6", 16), (18, 1, "1.31e-3", 600),
    (18, 2, "2.00e-3", 600), (18, 3, "7.13e-2", 600), (18, 4, "5.59e-2", 600),
    (20, 1, "2.20e-4", 439), (20, 2, "3.28e-4", 600), (20, 3, "2.39e-2", 600),
    (20, 4, "1.45e-2", 600), (22, 1, "2.59e-5", 259), (22, 2, "3.75e-5", 375),
    (22, 3, "5.83e-3", 8000), (22, 4, "3.26e-3", 8000), (22, 5, "5.47e-2", 600),
    (22, 6, "1.32e-1", 600), (24, 3, "1.05e-3", 600), (24, 4, "5.88e-4", 600),
    (24, 5, "1.45e-2", 600), (24, 6, "4.73e-2", 600), (24, 7, "1.47e-1", 600),
    (26, 1, "1e-7", 1), (26, 2, "9e-7", 9), (26, 3, "1.86e-4", 1857), (26, 4, "7.52e-5", 752),
    (26, 5, "3.30e-3", 8000), (26, 6, "1.22e-2", 8000), (26, 7, "5.89e-2", 600),
    (28, 5, "6.36e-4", 600), (28, 6, "2.90e-3", 600), (28, 7, "1.92e-2", 600),
    (30, 3, "1.5e-6", 15), (30, 4, "7e-7", 7), (30, 5, "8.24e-5", 824), (30, 6, "4.91e-4", 4000),
    (30, 7, "4.74e-3", 8000), (32, 7, "9.63e-4", 600), (34, 7, "1.83e-4", 365),
]  # fmt: skip


# The same columns, for the FUSC mapping of that implementation with six iterations.
FUSC = [
    (22, 4, "3.31e-3", 1500), (22, 3, "6.17e-3", 1500), (26, 5, "3.21e-3", 1500),
    (26, 6, "1.23e-2", 1500), (30, 7, "4.47e-3", 1500),
]  # fmt: skip

SHIPPED_VEHICULAR_A = Law(
    area="802.16 packet error rates",
    source="Shipped table on Vehicular A, FUSC, 6 iterations, FER: another's (phy-802.16-ctc §6)",
    allows="3.5 standard deviations of both counts, and half a unit of the digits given",
)


@pytest.mark.parametrize(("snr_db", "number", "given", "errors"), GRID)
def test_vehicular_a_matches_the_grid_of_the_reference_model(
    snr_db: float, number: int, given: str, errors: int
) -> None:
    table = airpath.phy.load(OF_TEN_ITERATIONS / "itu-a-random-10.json")
    compare_with_another(VEHICULAR_A, table, (snr_db, number, given, errors))


@pytest.mark.parametrize(("snr_db", "number", "given", "errors"), FUSC)
def test_shipped_vehicular_a_matches_another_implementation_of_fusc(
    snr_db: float, number: int, given: str, errors: int
) -> None:
    table = airpath.phy.load("802.16-ctc-vehicular-a")
    compare_with_another(SHIPPED_VEHICULAR_A, table, (snr_db, number, given, errors))


def compare_with_another(law: Law, table: PerTable, crossing: tuple[float, int, str, int]) -> None:
    snr_db, number, given, errors = crossing
    digits, _, exponent = given.partition("e")
    rounding = 0.5 * 10.0 ** (int(exponent) - len(digits.partition(".")[2]))
    points = table.document["curves"][number]["points"]
    point = next(point for point in points if point["snr_db"] == snr_db)
    measured_fer = point["errors"] / point["blocks"]
    # Both counts are Poisson variables; the variance is that of their common rate.
    blocks = errors / float(given)
    pooled = (point["errors"] + errors) / (point["blocks"] + blocks)
    deviation = math.sqrt(pooled * (1 / point["blocks"] + 1 / blocks))
    law.close(
        f"mcs{number}, {snr_db} dB", "", measured_fer, float(given), 3.5 * deviation + rounding
    )


# SNR in dB at FER 1e-2, at FER 1e-3, and at PER 0.1.
CROSSINGS = [
    (1.75, 2.04, 1.86), (5.04, 5.40, 5.19), (7.21, 7.57, 7.36), (11.17, 11.62, 11.36),
    (11.93, 12.47, 12.15), (15.54, 16.08, 15.81), (16.60, 17.05, 16.80), (18.37, 18.97, 18.58),
]  # fmt: skip


@pytest.mark.parametrize(("number", "crossing"), list(enumerate(CROSSINGS)))
def test_awgn_snr_matches_the_reference_at_its_error_rates(
    number: int, crossing: tuple[float, float, float]
) -> None:
    table = airpath.phy.load(OF_TEN_ITERATIONS / "awgn-10.json")
    snrs_db = np.arange(crossing[0] - 0.3, crossing[1] + 0.3, 0.001)
    fer, per = table.fer(number, snrs_db), table.per(number, snrs_db)
    for expected, rate, level in zip(crossing, (fer, fer, per), (1e-2, 1e-3, 0.1), strict=True):
        found = float(snrs_db[np.argmax(np.asarray(rate) <= level)])
        quantity = "PER" if level == 0.1 else "FER"
        AWGN.close(f"mcs{number}, {quantity} {level:g}", "dB", found, expected, 0.05)

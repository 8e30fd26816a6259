"""Error chains and packet codes in Python."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from airpath.errors import BadValueError
from airpath.phy import Block, ErrorChain, ReedSolomon, symbol_error_rate

CHAIN = ErrorChain(0.00125, 0.125, 0.01, 0.3)


def test_error_chain_has_the_expected_shares() -> None:
    assert CHAIN.shares == pytest.approx((0.990099, 0.009901), abs=1e-6)
    assert CHAIN.mean_runs == pytest.approx((800, 8))
    assert CHAIN.error_rate == pytest.approx((0.01 * 800 + 0.3 * 8) / 808)
    assert ErrorChain(0, 1, 0, 0).mean_runs == (math.inf, 1)
    phi = CHAIN.received(10)
    assert phi.shape == (11,)
    assert CHAIN.received_by_state(10).sum(axis=1) == pytest.approx(phi)
    assert CHAIN.packet_failure(10) == pytest.approx(1 - phi[10], abs=1e-14)
    assert CHAIN.block_failure(10, 3, 1) == pytest.approx(phi[:7].sum(), abs=1e-14)
    assert CHAIN.received(0).tolist() == [1]


def test_reed_solomon_code_has_the_expected_blocks() -> None:
    code = ReedSolomon(0.9)
    assert code.blocks("1040 B") == [Block(1040, 1156, 58)]
    assert (code.on_air(1040), code.on_air("40 B")) == (1156, 44)
    assert CHAIN.coded_failure(40, code) == CHAIN.block_failure(44, 2)
    assert CHAIN.coded_failure(40, code, 2) == CHAIN.block_failure(44, 2, 4)
    short = ReedSolomon(0.9, max_block=255).blocks(1040)
    assert [block.symbols for block in short] == [232, 231, 231, 231, 231]
    alone = ErrorChain(1, 1, 0.01, 0.01)  # no memory: blocks fail independently
    blocks = [alone.block_failure(block.symbols, block.correctable) for block in short]
    assert alone.coded_failure(1040, ReedSolomon(0.9, max_block=255)) == pytest.approx(
        1 - np.prod([1 - failure for failure in blocks]), rel=1e-9
    )


def test_chain_from_doppler_has_the_expected_values() -> None:
    chain = ErrorChain.from_doppler(10, 0, 100, 1e6, "8psk", tx=2, rx=2)
    assert chain.error_rate == pytest.approx(symbol_error_rate(10, "8psk", 2, 2), rel=1e-10)
    assert chain.error_bad > chain.error_good
    slower = ErrorChain.from_doppler(10, 0, 10, 1e6, "8psk", tx=2, rx=2)
    assert np.array(slower.mean_runs) == pytest.approx(10 * np.array(chain.mean_runs))
    assert (slower.shares, slower.error_bad) == (pytest.approx(chain.shares), chain.error_bad)


@pytest.mark.parametrize("part", [CHAIN, ReedSolomon(0.7, 4, 15)], ids=repr)
def test_chains_and_codes_can_be_pickled_and_compared(part: object) -> None:
    again = pickle.loads(pickle.dumps(part))
    assert again == part
    assert hash(again) == hash(part)
    assert part != 1
    assert repr(ReedSolomon(0.7, 4, 15)) == "ReedSolomon(0.7, symbol_bits=4, max_block=15)"
    assert repr(CHAIN) == "ErrorChain(0.00125, 0.125, 0.01, 0.3)"


@pytest.mark.parametrize(
    ("call", "arguments", "lines"),
    [
        (
            ErrorChain,
            (-0.1, 1.1, 0, "x"),
            [
                "p_good_to_bad = -0.1: not in [0, 1]. Use a number in [0, 1].",
                "p_bad_to_good = 1.1: not in [0, 1]. Use a number in [0, 1].",
                'error_bad = "x": not a finite number. Use one, for example 0.5.',
            ],
        ),
        (
            ErrorChain,
            (0, 0, 0.1, 0.2),
            [
                "p_good_to_bad = 0: neither state is ever left. Use a probability above 0, or "
                "one for p_bad_to_good."
            ],
        ),
        (
            ReedSolomon,
            (0, 17),
            [
                "code_rate = 0: not in (0, 1]. Use a number in (0, 1].",
                "symbol_bits = 17: above 16. Use an integer from 1 to 16.",
            ],
        ),
        (
            ReedSolomon,
            (0.9, 8, 256),
            ["max_block = 256: above 255. Use an integer from 1 to 255."],
        ),
        (
            ReedSolomon,
            (0.1, 8, 9),
            ["max_block = 9: too short for a symbol of data at code_rate = 0.1. Use a larger one."],
        ),
        (
            ReedSolomon(0.1).blocks,
            ("9000 B",),
            [
                'packet = "9000 B": makes a block of more than 65535 symbols. Use a smaller '
                "size, or set max_block of the code."
            ],
        ),
        (
            ReedSolomon(0.1).on_air,
            (0,),
            ["packet = 0: out of range. Use a size from 1 B to 65535 B."],
        ),
        (
            CHAIN.block_failure,
            (0, -1, 0),
            [
                "b = 0: below 1. Use an integer from 1 to 65535.",
                "correctable = -1: not accepted. Use an integer from 0 to 65535.",
                "symbol_units = 0: below 1. Use an integer from 1 to 65535.",
            ],
        ),
        (CHAIN.received, (-1,), ["t = -1: not accepted. Use an integer from 0 to 65535."]),
        (
            ErrorChain.from_doppler,
            (10, 0, 5e7, 1e7, "bpsk", 2, 2),
            [
                "doppler_hz = 50000000: fades last 9.29e-3 symbols on average, less than one. "
                "Use a lower shift, or a higher symbol rate."
            ],
        ),
        (
            ErrorChain.from_doppler,
            (10, 100, 50, 1e7),
            ["threshold_db = 100: the combined SNR is never above it. Use another threshold."],
        ),
        (
            ErrorChain.from_doppler,
            ("a", 201, 0, -1, "x", 3, 0),
            [
                'snr_db = "a": not a finite number. Use one, for example 10.',
                "threshold_db = 201: out of range. Use a number from -200 to 200.",
                "doppler_hz = 0: not above 0. Use a number above 0.",
                "symbol_rate_hz = -1: not above 0. Use a number above 0.",
                'modulation = "x": not one of the accepted words. Use bpsk or qpsk or 8psk or '
                "16psk or 32psk or 64psk or 16qam or 64qam.",
                "tx = 3: beyond two transmitters no complex space-time block code has the full "
                "rate. Use 1 or 2.",
                "rx = 0: below 1. Use an integer from 1 to 8.",
            ],
        ),
        (
            CHAIN.coded_failure,
            (40, 0.9),
            ["code = 0.9: not a code. Use a ReedSolomon."],
        ),
        (
            CHAIN.coded_failure,
            (40, ReedSolomon(0.9), 3),
            ["bits_per_symbol = 3: does not divide the 8 bits of a code symbol. Use a divisor."],
        ),
    ],
)
def test_invalid_values_are_rejected(
    call: Callable[..., Any], arguments: tuple[Any, ...], lines: list[str]
) -> None:
    with pytest.raises(BadValueError) as raised:
        call(*arguments)
    assert str(raised.value).splitlines() == lines


@pytest.mark.parametrize("leave", [0, 1e-300, 0.5, 1])
@pytest.mark.parametrize("back", [1e-300, 0.125, 1])
def test_extreme_chains_have_valid_probabilities(leave: float, back: float) -> None:
    for error_good in (0, 1e-300, 1e-9, 0.3, 1):
        for error_bad in (0, 1e-300, 1):
            chain = ErrorChain(leave, back, error_good, error_bad)
            found = [
                chain.error_rate,
                chain.packet_failure(72_000),
                chain.packet_failure(2**53),
                chain.block_failure(300, 0, 1),
                chain.block_failure(44, 2),
                chain.block_failure(255, 255, 65_535),
                chain.coded_failure(1, ReedSolomon(0.1)),
            ]
            assert all(0 <= failure <= 1 for failure in found), chain
            assert chain.received(50).sum() == pytest.approx(1, abs=1e-12)

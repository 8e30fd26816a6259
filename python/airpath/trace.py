"""Traces: recorded or generated capacity of a link over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from airpath import _airpath
from airpath.arguments import (
    check_all,
    error_prefix,
    master_seed,
    path_like,
    quantity,
    whole,
    word,
)
from airpath.arguments import text as is_text
from airpath.errors import BadValueError, one_line
from airpath.files import LARGEST, read_text
from airpath.foreign_traces import csv_of_iperf3, identify_text
from airpath.present import html
from airpath.present.tables import Table
from airpath.scenario.decibels import Decibels
from airpath.scenario.units import LARGEST as QUANTITY_LARGEST
from airpath.scenario.units import Duration, Frequency, Rate, Speed

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Format", "Trace", "TraceInfo"]

Format = Literal["mahimahi", "csv"]
"""``mahimahi``: delivery times in ms, one per line; ``csv``: ``time_s,rate_bps``."""

_BIN = Duration(100_000_000)


@dataclass(frozen=True)
class TraceInfo:
    """Statistics of one period of a trace. Each delivery opportunity counts as 1504 bytes.

    Parameters
    ----------
    kind : str
        ``opportunities`` (Mahimahi) or ``rate`` (CSV).
    duration_s : float
        The period, s.
    opportunities : int or None
        Number of delivery opportunities in one period; None for a rate.
    mean_bps : float
        Mean rate, bit/s.
    percentiles_bps : mapping of int to float
        Percentiles 5, 25, 50, 75 and 95 of the mean rates in bins of 100 ms, bit/s.
    longest_outage_s, longest_outage_start_s : float
        Duration and start of the longest time without capacity, s.
    zero_bins_fraction : float
        Share of the bins without capacity, in [0, 1].
    """

    kind: str
    duration_s: float
    opportunities: int | None
    mean_bps: float
    percentiles_bps: Mapping[int, float]
    longest_outage_s: float
    longest_outage_start_s: float
    zero_bins_fraction: float

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a JSON object."""
        percentiles = {str(percent): rate for percent, rate in self.percentiles_bps.items()}
        return {**vars(self), "percentiles_bps": percentiles}


class Trace:
    """One period of a link's capacity over time.

    Create traces with `Trace.load`, `Trace.parse` and `Trace.generate`.

    Parameters
    ----------
    compiled : airpath._airpath.Trace
        Trace in the engine's form.
    name : str
        Name for messages and titles.
    """

    def __init__(self, compiled: _airpath.Trace, name: str) -> None:
        self.compiled = compiled
        self.name = name

    @classmethod
    def load(
        cls,
        path: str | Path,
        format: Format | Literal["iperf3"] | None = None,  # noqa: A002
    ) -> Trace:
        """Read a trace file.

        Parameters
        ----------
        path : path
            The file.
        format : {"mahimahi", "csv", "iperf3"}, optional
            ``iperf3``: output of ``iperf3 --json``, the rate of each interval. Default: CSV if the
            name ends in ``.csv``, else Mahimahi.

        Raises
        ------
        BadValueError
            If it cannot be read or is not a trace; one line with the file, the line and the reason.
        """
        formats = ("mahimahi", "csv", "iperf3")
        check_all(
            path_like("path", path), None if format is None else word("format", format, formats)
        )
        place = str(path)
        text = read_text(path, LARGEST)
        if format == "iperf3":
            return cls.parse(csv_of_iperf3(text, place), place, "csv")
        return cls.parse(text, place, format or format_of(place))

    @classmethod
    def parse(cls, text: str, name: str = "trace", format: Format = "mahimahi") -> Trace:  # noqa: A002
        """Read a trace from the text of a file.

        Parameters
        ----------
        text : str
            The file's content.
        name : str
            Prefix of each message.
        format : {"mahimahi", "csv"}
            The format of `text`.

        Raises
        ------
        BadValueError
            If the text is not a trace.
        """
        formats = ("mahimahi", "csv")
        check_all(is_text("text", text), is_text("name", name), word("format", format, formats))
        read = _airpath.Trace.from_csv if format == "csv" else _airpath.Trace.from_mahimahi
        try:
            return cls(read(text, name), name)
        except UnicodeEncodeError:
            raise BadValueError(f"{one_line(name)}: not a text in UTF-8.") from None
        except ValueError as error:
            if other := identify_text(text):
                raise BadValueError(f"{one_line(name)}: {other}") from None
            raise BadValueError(str(error)) from None

    @classmethod
    def generate(
        cls,
        duration: str | float | Duration,
        *,
        mean_snr: str | float | Decibels,
        bandwidth: str | float | Frequency,
        cap: str | float | Rate,
        speed: str | float | Speed,
        carrier: str | float | Frequency,
        seed: int = 1,
        name: str = "generated",
    ) -> Trace:
        """Generate the trace of a Rayleigh-faded link with Shannon's rate and a cap.

        In each millisecond, the rate is min(cap, W log2(1 + SNR |h|^2)), where h has the classic
        Doppler spectrum. Left out: shadowing, path loss and handover. Numbers without a unit are in
        s, dB, Hz, bit/s and m/s.

        Parameters
        ----------
        duration : str, float or Duration
            ``"60 s"``; 1 ms to 1 h.
        mean_snr : str, float or Decibels
            Mean SNR, ``"10 dB"``; -50 to 100 dB.
        bandwidth : str, float or Frequency
            W, ``"5 MHz"``; above 0, to 1 THz.
        cap : str, float or Rate
            Highest rate, ``"30 Mbit/s"``; above 0.
        speed : str, float or Speed
            Speed of the receiver, ``"3 km/h"``; 0 to 10 000 m/s.
        carrier : str, float or Frequency
            Carrier frequency, ``"2 GHz"``; above 0, to 1 THz.
        seed : int
            Seed; equal parameters and seeds give equal traces. Default 1.
        name : str
            Name for messages and titles.

        Raises
        ------
        BadValueError
            If a value is not accepted.
        """
        given = {
            "duration": duration,
            "mean_snr": mean_snr,
            "bandwidth": bandwidth,
            "cap": cap,
            "speed": speed,
            "carrier": carrier,
        }
        check_all(is_text("name", name), master_seed(seed))
        config = {
            "duration_ns": int(quantity("duration", Duration, duration)),
            "mean_snr_db": float(quantity("mean_snr", Decibels, mean_snr)),
            "bandwidth_hz": quantity("bandwidth", Frequency, bandwidth).si(),
            "cap_bps": float(quantity("cap", Rate, cap)),
            "speed_mps": quantity("speed", Speed, speed).si(),
            "carrier_hz": quantity("carrier", Frequency, carrier).si(),
            "seed": seed,
        }
        try:
            return cls(_airpath.generate_trace(json.dumps(config, allow_nan=False)), name)
        except ValueError as error:
            key, _, wrong = str(error).partition(" = ")
            argument = next((name for name in given if key.startswith(name)), "seed")
            prefix = error_prefix(argument, given.get(argument, seed))
            raise BadValueError(f"{prefix}: {wrong.partition(': ')[2]}") from None

    @property
    def kind(self) -> str:
        """``opportunities`` or ``rate``."""
        return self.compiled.kind

    @property
    def duration_s(self) -> float:
        """The period, s."""
        return self.compiled.duration_s

    def info(self) -> TraceInfo:
        """Return the length, rates and outages of the trace."""
        found = json.loads(self.compiled.info())
        percentiles = {int(key): value for key, value in found.pop("percentiles_bps").items()}
        return TraceInfo(
            percentiles_bps=dict(sorted(percentiles.items())),
            **found,
        )

    def rates(self, bin: str | float | Duration = _BIN) -> pd.DataFrame:  # noqa: A002
        """Return the mean rate in each bin of one period.

        Parameters
        ----------
        bin : str, float or Duration
            Length of a bin; a float in seconds. Default 100 ms.

        Returns
        -------
        rates : DataFrame
            `time_s`, the start of the bin, and `rate_bps`.

        Raises
        ------
        BadValueError
            If `bin` is not a duration above 0, or gives too many bins.
        """
        import pandas as pd

        length = _bin_length(bin)
        rates = self.bin_rates(length)
        return pd.DataFrame({"time_s": np.arange(len(rates)) * length / 1e9, "rate_bps": rates})

    def bin_rates(self, bin_ns: int) -> NDArray[np.float64]:
        """Return the mean rate in each bin of one period, bit/s; `bin_ns` in ns, above 0.

        Raises
        ------
        BadValueError
            If `bin_ns` is not an integer above 0, or there are too many bins.
        """
        check_all(whole("bin_ns", bin_ns, 1, QUANTITY_LARGEST, "Use an integer from 1 on"))
        try:
            return np.frombuffer(self.compiled.rates(bin_ns), dtype="<f8")
        except ValueError as error:
            raise BadValueError(str(error)) from None

    def to_mahimahi(self) -> str:
        """Return the trace in the Mahimahi format.

        Raises
        ------
        BadValueError
            If the trace has too many opportunities.
        """
        try:
            return self.compiled.to_mahimahi()
        except ValueError as error:
            raise BadValueError(f"{self.name}: {error}") from None

    def to_csv(self, bin: str | float | Duration = _BIN, provenance: str = "") -> str:  # noqa: A002
        """Return the trace as a ``time_s,rate_bps`` CSV.

        Parameters
        ----------
        bin : str, float or Duration
            Opportunities are averaged over bins of this length. Default 100 ms.
        provenance : str
            Lines before the header, as comments.

        Raises
        ------
        BadValueError
            If `bin` is not a duration above 0, or gives too many bins.
        """
        check_all(is_text("provenance", provenance))
        try:
            return self.compiled.to_csv(_bin_length(bin), provenance)
        except ValueError as error:
            raise BadValueError(str(error)) from None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.kind == "rate":
            return type(self).parse, (self.to_csv(), self.name, "csv")
        return type(self).parse, (self.to_mahimahi(), self.name, "mahimahi")

    def _repr_html_(self) -> str:
        info = self.info()
        rows = [
            ["length", f"{info.duration_s:g} s"],
            ["mean rate", f"{info.mean_bps / 1e6:.3f} Mbit/s"],
            *(
                [f"{percent} % of the time at most", f"{rate / 1e6:.3f} Mbit/s"]
                for percent, rate in info.percentiles_bps.items()
            ),
            ["longest outage", f"{info.longest_outage_s:g} s"],
        ]
        return html.heading(f"{self.name}, {self.kind}") + html.table(Table("", ["", ""], rows))

    def __repr__(self) -> str:
        mean = Rate(round(self.info().mean_bps))
        return f"<Trace {self.name}: {self.kind}, {self.duration_s:g} s, mean {mean}>"


def format_of(path: str) -> Format:
    """Return the format of a file by its name: CSV for ``.csv``, else Mahimahi."""
    return "csv" if path.lower().endswith(".csv") else "mahimahi"


def _bin_length(given: str | float | Duration) -> int:
    length = int(quantity("bin", Duration, given))
    if length == 0:
        raise BadValueError(f"{error_prefix('bin', given)}: not above 0. Use a duration above 0.")
    return length

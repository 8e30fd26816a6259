"""Results: tidy tables, confidence intervals, plots, and files with provenance."""

from airpath.results.intervals import Interval, mean_interval
from airpath.results.load import load_result
from airpath.results.result import Result

__all__ = ["Interval", "Result", "load_result", "mean_interval"]

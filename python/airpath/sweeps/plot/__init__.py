"""Figures of a sweep: ``sweep.plot.lines("goodput_bps")`` and other figures."""

from airpath.sweeps.plot.figures import SweepPlot

__all__ = ["SweepPlot"]

"""Congestion control algorithms."""

from airpath.scenario.cc import *

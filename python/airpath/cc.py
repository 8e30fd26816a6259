"""Congestion controls."""

from airpath.scenario.cc import *

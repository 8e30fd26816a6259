"""Bandwidth request schemes of stations."""

from airpath.scenario.request import *

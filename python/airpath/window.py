"""Receive windows."""

from airpath.scenario.window import *

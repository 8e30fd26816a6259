"""Paths of ACKs."""

from airpath.scenario.ack_path import *

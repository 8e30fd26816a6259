"""How ACKs return."""

from airpath.scenario.ack_path import *

"""How stations request uplink bandwidth."""

from airpath.scenario.request import *

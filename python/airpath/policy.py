"""Link adaptation: which scheme a link uses."""

from airpath.scenario.policy import *

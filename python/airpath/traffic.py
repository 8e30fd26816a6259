"""Sources of traffic: who sends what, and when."""

from airpath.scenario.traffic.arrivals import *
from airpath.scenario.traffic.flows import *
from airpath.scenario.traffic.start import *

"""Sources of traffic."""

from airpath.scenario.traffic.arrivals import *
from airpath.scenario.traffic.datagrams import *
from airpath.scenario.traffic.flows import *
from airpath.scenario.traffic.requests import *
from airpath.scenario.traffic.source import *
from airpath.scenario.traffic.start import *
from airpath.scenario.traffic.video import *
from airpath.scenario.traffic.voice import *

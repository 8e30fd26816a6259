"""Links and their components."""

from airpath.scenario.link.adaptive import *
from airpath.scenario.link.base import *
from airpath.scenario.link.cell import *
from airpath.scenario.link.links import *
from airpath.scenario.link.mimo import *
from airpath.scenario.link.radio import *
from airpath.scenario.link.retransmission import *
from airpath.scenario.link.rlc import *
from airpath.scenario.link.stations import *
from airpath.scenario.link.tdd import *

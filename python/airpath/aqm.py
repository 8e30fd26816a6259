"""Queue disciplines."""

from airpath.scenario.aqm.ack_priority import *
from airpath.scenario.aqm.clamp import *
from airpath.scenario.aqm.dualpi2 import *
from airpath.scenario.aqm.l4span import *
from airpath.scenario.aqm.queues import *
from airpath.scenario.aqm.rem import *
from airpath.scenario.aqm.sbd import *
from airpath.scenario.aqm.vcp import *

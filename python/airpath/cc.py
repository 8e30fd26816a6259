"""Congestion control algorithms."""

from airpath.scenario.cc.base import *
from airpath.scenario.cc.delay_based import *
from airpath.scenario.cc.fast_growth import *
from airpath.scenario.cc.feedback import *
from airpath.scenario.cc.loss_based import *
from airpath.scenario.cc.model_based import *
from airpath.scenario.cc.scalable import *

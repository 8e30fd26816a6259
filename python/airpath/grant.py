"""Grant policies of an uplink: what a base station grants without a request."""

from airpath.scenario.grant import *

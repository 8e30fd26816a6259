"""Grant policies of an uplink: grants of a base station without a request."""

from airpath.scenario.grant import *

"""Error processes, which corrupt frames."""

from airpath.scenario.frame_errors import *

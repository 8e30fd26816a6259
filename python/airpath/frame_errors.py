"""Error processes: which frames are corrupted."""

from airpath.scenario.frame_errors import *

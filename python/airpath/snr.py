"""SNR processes."""

from airpath.scenario.snr import *

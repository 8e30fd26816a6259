"""Emulation: the models in real time between two network namespaces, with the kernel's TCP.

What runs is a program of its own, ``airpath-emu``, which this package tells what to do and reads.
"""

from airpath.emulation.api import check as check
from airpath.emulation.api import run_command as run_command

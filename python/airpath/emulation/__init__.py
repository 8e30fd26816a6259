"""Emulation: the models in real time between two network namespaces, with the kernel's TCP.

The emulation runs in a separate program, ``airpath-emu``. This package controls the program and
reads its reports.
"""

from airpath.emulation.api import check as check
from airpath.emulation.api import run_command as run_command

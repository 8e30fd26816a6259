"""Emulation: kernel TCP in two network namespaces, connected by the models in real time.

The models run in a separate program, ``airpath-emu`` (the emulation program). This package
controls the emulation program and reads its reports.
"""

from airpath.emulation.api import check as check
from airpath.emulation.api import run_command as run_command

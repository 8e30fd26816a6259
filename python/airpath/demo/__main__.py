"""``python -m airpath.demo [DIRECTORY]``."""

import sys

from airpath.cli import guarded
from airpath.demo import main

sys.exit(guarded(lambda: main(sys.argv[1] if sys.argv[1:] else "out")))

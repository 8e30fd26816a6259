"""``python -m airpath``: the same as the command ``airpath``."""

import sys

from airpath.cli import main

sys.exit(main())

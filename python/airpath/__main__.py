"""``python -m airpath``: equivalent to the command ``airpath``."""

import sys

from airpath.cli import main

sys.exit(main())

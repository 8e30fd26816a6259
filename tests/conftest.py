"""What all tests need."""

from __future__ import annotations

import signal

# A shell without job control starts what runs in the background with Ctrl-C ignored, and the
# commands that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

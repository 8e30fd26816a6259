"""What all tests need."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# A shell without job control starts what runs in the background with Ctrl-C ignored, and the
# commands that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes is a matter of what else the machine does.
settings.register_profile("airpath", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("airpath"), max_examples=1000)
settings.load_profile("airpath")

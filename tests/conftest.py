"""Settings that all tests need."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# A shell without job control starts background commands with SIGINT ignored, and the commands that
# tests start and interrupt would inherit this.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The duration of an example depends on the load of the machine.
settings.register_profile("airpath", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("airpath"), max_examples=1000)
settings.load_profile("airpath")

"""Congestion controls in Python: the default methods, and the decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from airpath.parts.factory import Compiler, make_component
from airpath.scenario.cc.base import Congestion

if TYPE_CHECKING:
    from airpath.parts.events import Ack, CongestionSetup, Idle, Loss, Undo

__all__ = ["CongestionControl", "congestion_control"]

_SIGNATURES = {
    "start": ("setup",),
    "on_ack": ("ack",),
    "on_loss": ("loss",),
    "on_rto": ("loss",),
    "on_ecn": ("loss",),
    "on_recovered": ("cwnd",),
    "on_undo": ("undo",),
    "on_idle": ("idle",),
    "on_lost_syn": (),
    "on_open": ("opening",),
    "on_segment_lost": ("segment",),
    "on_sent": ("sent",),
}
"""Maps each method that the engine calls to the names of its arguments."""
_REQUIRED = ("on_ack", "on_loss")


class CongestionControl:
    """Default methods of a congestion control in Python.

    A decorated class inherits these methods. It must define `on_ack` and `on_loss`. The engine
    reads the attributes `cwnd`, `ssthresh` and `pacing_rate` after each call of a method. The
    methods `on_open`, `on_segment_lost` and `on_sent` are called only if the class defines them.
    """

    every_ack: ClassVar[bool] = False
    """True if `on_ack` is also called for ACKs with which the window must not grow."""
    rate_samples: ClassVar[bool] = False
    """True if `on_ack` receives delivery rate samples."""
    sets_window_in_recovery: ClassVar[bool] = False
    """True if `cwnd` also limits the sender during a recovery, as with BBR."""
    scalable: ClassVar[bool] = False
    """True if the segments of the flow have the codepoint ECT(1) (RFC 9331)."""

    mss: int
    """Maximum segment size, bytes."""
    cwnd: float
    """Congestion window, bytes, at least one segment; fractions of a byte are discarded."""
    ssthresh: float | None = None
    """Slow-start threshold, bytes; None if it is not set."""
    pacing_rate: float | None = None
    """Pacing rate of complete IP packets, bit/s; None without pacing."""
    limits_itself: bool = False
    """True while the sender deliberately sends less than the path allows, with `rate_samples`."""

    def _begin(self, setup: CongestionSetup) -> None:
        self.mss = setup.mss
        self.cwnd = setup.initial_window
        self.ssthresh = setup.initial_ssthresh
        self.start(setup)

    def start(self, setup: CongestionSetup) -> None:
        """Prepare for a connection. `mss`, `cwnd` and `ssthresh` have the initial values of TCP."""

    def on_ack(self, ack: Ack) -> None:
        """Handle an ACK. The window may grow only if ``ack.growth`` is not None."""
        raise NotImplementedError

    def on_loss(self, loss: Loss) -> None:
        """Handle a fast retransmit: set `ssthresh`, and `cwnd` for the duration of recovery."""
        raise NotImplementedError

    def on_rto(self, loss: Loss) -> None:
        """Handle an expiry of the retransmission timer. Default: `on_loss`, then one segment."""
        if not loss.keeps_ssthresh:
            self.on_loss(loss)
        self.cwnd = self.mss

    def on_ecn(self, loss: Loss) -> None:
        """Handle echoed congestion marks. Default: `on_loss`."""
        self.on_loss(loss)

    def on_recovered(self, cwnd: int) -> None:
        """Handle the end of fast recovery. Default: `ssthresh`, but at most `cwnd` bytes."""
        left = self.cwnd if self.ssthresh is None else self.ssthresh
        self.cwnd = max(min(left, cwnd), self.mss)

    def on_undo(self, undo: Undo) -> None:
        """Handle the detection that reductions were spurious. Default: restore both values."""
        self.cwnd = max(self.cwnd, undo.cwnd)
        if undo.ssthresh is None or self.ssthresh is None:
            self.ssthresh = None
        else:
            self.ssthresh = max(self.ssthresh, undo.ssthresh)

    def on_idle(self, idle: Idle) -> None:
        """Handle the end of an idle time. Default: the window of RFC 5681 §4.1."""
        self.cwnd = min(self.cwnd, idle.cwnd)
        if self.ssthresh is not None:
            self.ssthresh = max(self.ssthresh, idle.ssthresh)

    def on_lost_syn(self) -> None:
        """Handle the loss of the SYN. Default: a window of one segment (RFC 5681 §3.1)."""
        self.cwnd = min(self.cwnd, self.mss)


def congestion_control(name: str, *, compiled: bool = False) -> Callable[[type], type[Congestion]]:
    """Return a decorator that makes a class a congestion control.

    Parameters
    ----------
    name : str
        Value of the key `cc` in scenarios: lower-case letters, digits and hyphens.
    compiled : bool
        True to compile the methods with numba, which ``airpath[numba]`` installs. The state of an
        object then consists of the window, the parameters, and the attributes with a number in the
        class. Default False.

    Returns
    -------
    decorator : callable
        Returns the class of the scenario: ``Aimd(increase=2.0)`` is a value of `cc`. The annotated
        attributes of the decorated class are its keys; the values are checked.

    Raises
    ------
    TypeError
        By the decorator, if the name, a method or the type of a parameter is not accepted, or if a
        method cannot be compiled.
    ImportError
        By the decorator, if numba is not installed.

    Examples
    --------
    >>> import airpath as ap
    >>> @ap.congestion_control("half-reno")
    ... class HalfReno:
    ...     increase: float = 0.5
    ...     def on_ack(self, ack):
    ...         self.cwnd += self.increase * ack.growth * self.mss / self.cwnd
    ...     def on_loss(self, loss):
    ...         self.ssthresh = self.cwnd = max(loss.flight // 2, 2 * self.mss)
    >>> HalfReno(increase=1).increase
    1.0
    """

    def decorate(cls: type) -> type[Congestion]:
        for key in ("every_ack", "rate_samples", "sets_window_in_recovery", "scalable"):
            value = getattr(cls, key, False)
            if not isinstance(value, bool):
                raise TypeError(f"{cls.__name__}.{key} = {value!r}: not a bool. Use True or False.")
        compile_with: Compiler | None = None
        if compiled:
            from airpath.parts.compiled import compile_methods

            compile_with = compile_methods
        return make_component(
            Congestion,
            CongestionControl,
            _SIGNATURES,
            name,
            cls,
            _REQUIRED,
            _options(cls),
            compile_with,
        )

    return decorate


def _options(cls: type) -> dict[str, Any]:
    """Return the class attributes of the component from those of the user's class."""
    recovery, ecn = getattr(cls, "recovery", None), getattr(cls, "ecn", None)
    if recovery not in (None, "reno", "newreno", "sack"):
        accepted = 'Use "reno", "newreno", "sack" or None'
        raise TypeError(f"{cls.__name__}.recovery = {recovery!r}: not accepted. {accepted}.")
    if ecn not in (None, "on", "accurate"):
        accepted = 'Use "on", "accurate" or None'
        raise TypeError(f"{cls.__name__}.ecn = {ecn!r}: not accepted. {accepted}.")
    needs_sack = getattr(cls, "sets_window_in_recovery", False) or getattr(
        cls, "rate_samples", False
    )
    return {
        "recovery": recovery or ("sack" if needs_sack else "newreno"),
        "negotiates_ecn": ecn is not None,
        "echo": "accurate" if ecn == "accurate" else None,
    }

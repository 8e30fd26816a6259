"""Schedulers and link-adaptation policies in Python: the default methods, and the decorators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from airpath.parts.factory import make_component
from airpath.scenario.policy import LinkAdaptation
from airpath.scenario.scheduler import Scheduler

if TYPE_CHECKING:
    from airpath.parts.events import PolicySetup, SchedulerSetup, Scheme, User

__all__ = ["CellScheduler", "LinkPolicy", "cell_scheduler", "link_policy"]

_OF_SCHEDULER = {
    "start": ("setup",),
    "choose": ("slot", "users"),
    "served": ("slot", "users", "place", "rate"),
}
_OF_POLICY = {"start": ("setup",), "choose": ("schemes", "regime")}


class CellScheduler:
    """Default methods of a scheduler in Python. A decorated class must define `choose`."""

    def _begin(self, setup: SchedulerSetup) -> None:
        self.start(setup)

    def start(self, setup: SchedulerSetup) -> None:
        """Prepare for a cell."""

    def choose(self, slot: int, users: Sequence[User]) -> int:
        """Return the index in `users` of the user that is served next in a slot.

        Parameters
        ----------
        slot : int
            Number of the slot. Slots ascend; no user was served in a skipped slot.
        users : list of User
            The users with data, in ascending order of their IDs; at least one.
        """
        raise NotImplementedError

    def served(self, slot: int, users: Sequence[User], place: int, rate: float) -> None:
        """Handle the service of ``users[place]``; called only if the class defines it.

        Parameters
        ----------
        slot : int
            Number of the slot.
        users : list of User
            The users of `choose`.
        place : int
            Index of the served user.
        rate : float
            Rate of the user, averaged over the complete slot, bit/s.
        """


class LinkPolicy:
    """Default methods of a link-adaptation policy in Python. A class must define `choose`."""

    thresholds: Sequence[int] = ()
    """Queue lengths at which the next regime begins, packets, ascending; read after `start`."""
    uses_estimate: bool = True
    """True if the choice depends on the SNR estimate; read after `start`."""

    def _begin(self, setup: PolicySetup) -> None:
        self.start(setup)

    def start(self, setup: PolicySetup) -> None:
        """Prepare for a link."""

    def choose(self, schemes: Sequence[Scheme], regime: int) -> int:
        """Return the index in `schemes` of the chosen modulation and coding scheme.

        The result must depend only on the arguments: the engine calls the method only if the
        estimate of the SNR has changed.

        Parameters
        ----------
        schemes : list of Scheme
            All schemes of the error-rate table, with their error rates at the estimated SNR.
        regime : int
            Index of the regime of the queue, from 0.
        """
        raise NotImplementedError


def cell_scheduler(name: str) -> Callable[[type], type[Scheduler]]:
    """Return a decorator that makes a class a scheduler of cells and TDD links.

    Parameters
    ----------
    name : str
        Value of the key `scheduler` in scenarios: lower-case letters, digits and hyphens.

    Returns
    -------
    decorator : callable
        Returns the class of the scenario. The annotated attributes are its keys.

    Raises
    ------
    TypeError
        By the decorator, if the name, a method or the type of a parameter is not accepted.
    """

    def decorate(cls: type) -> type[Scheduler]:
        return make_component(Scheduler, CellScheduler, _OF_SCHEDULER, name, cls, ("choose",))

    return decorate


def link_policy(name: str) -> Callable[[type], type[LinkAdaptation]]:
    """Return a decorator that makes a class a link-adaptation policy.

    Parameters
    ----------
    name : str
        Value of the key `policy` in scenarios: lower-case letters, digits and hyphens.

    Returns
    -------
    decorator : callable
        Returns the class of the scenario. The annotated attributes are its keys.

    Raises
    ------
    TypeError
        By the decorator, if the name, a method or the type of a parameter is not accepted.
    """

    def decorate(cls: type) -> type[LinkAdaptation]:
        return make_component(LinkAdaptation, LinkPolicy, _OF_POLICY, name, cls, ("choose",))

    return decorate

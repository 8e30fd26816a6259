"""What was counted of the users of cells and of the stations of TDD links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from airpath.results.cells import USER_QUANTITIES, jain_of_users, of_user, user_rows
from airpath.results.frames import frame
from airpath.results.intervals import Interval
from airpath.results.stations import (
    MAC_DELAY_UNITS,
    STATION_QUANTITIES,
    mac_delay_rows,
    of_station,
    station_rows,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RadioStatistics"]


class RadioStatistics:
    """The part of the statistics of a result that only links with users or stations have."""

    replications: list[dict[str, Any]]

    if TYPE_CHECKING:

        def _interval(
            self, values: Iterable[float | None], bounds: tuple[float, float]
        ) -> Interval: ...
        def _quantities(
            self, runs: Sequence[Mapping[str, Any]], names: Iterable[str]
        ) -> dict[str, Interval]: ...

    def users(self) -> pd.DataFrame:
        """Return one row per user of a cell and replication; none without cells.

        Returns
        -------
        users : DataFrame
            `replication`, `link`, `user`, `throughput_bps` (IP packets delivered), counts, the
            `slots` that it was given and their share of all slots, the share of them that failed,
            the mean of the rates selected for them, `best_slot_share` (those in which no user with
            data had a higher rate), the mean SNR of the slots in which it had data, and the mean
            of the cell's margin.
        """
        return frame(user_rows(self.replications))

    def jain_of_users(self) -> dict[str, Interval]:
        """Return Jain's fairness index of what users got, for each cell, over the replications.

        Returns
        -------
        jain : dict of str to Interval
            By the cell's name; 1 when all its users get the same, 1/n when one gets everything.
            Empty without cells.
        """
        users = [cell for cell, _user in of_user(self.replications)]
        return {
            cell: self._interval(
                (jain_of_users(run, cell) for run in self.replications), (1 / users.count(cell), 1)
            )
            for cell in dict.fromkeys(users)
        }

    def stations(self) -> pd.DataFrame:
        """Return one row per station of a TDD link and replication; none without such a link.

        Returns
        -------
        stations : DataFrame
            `replication`, `link`, `station`, bytes and packets delivered and packets lost in both
            directions, bytes of the uplink that were granted and used and their ratio, mean, median
            and 90th percentile of the uplink delay between the MACs, and counts of requests and of
            grants without one.
        """
        return frame(station_rows(self.replications))

    def mac_delays(self) -> pd.DataFrame:
        """Return the distribution of the uplink delay between the MACs of TDD links.

        It is the time from the arrival of a packet at the station to its reception at the base
        station, its waiting for a grant and for repetitions included.

        Returns
        -------
        mac_delays : DataFrame
            `replication`, `link`, `delay_s`, how many `packets` had that delay, and `cdf`, the
            share of packets with that delay or a shorter one. Without rows when there is no such
            link.
        """
        table = frame(mac_delay_rows(self.replications))
        table.attrs["units"] = {
            name: MAC_DELAY_UNITS[name] for name in table if name in MAC_DELAY_UNITS
        }
        return table

    def user_intervals(self) -> list[dict[str, Any]]:
        """Return link, number and every quantity of each user of a cell, over the replications."""
        return [
            {"link": link, "user": user, **self._quantities(runs, USER_QUANTITIES)}
            for (link, user), runs in of_user(self.replications).items()
        ]

    def station_intervals(self) -> list[dict[str, Any]]:
        """Return link, number and every quantity of each station, over the replications."""
        return [
            {"link": link, "station": station, **self._quantities(runs, STATION_QUANTITIES)}
            for (link, station), runs in of_station(self.replications).items()
        ]

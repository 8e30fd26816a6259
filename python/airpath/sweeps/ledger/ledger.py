"""`Ledger`: the stored replications, failures and advisories of a sweep."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from airpath import _airpath
from airpath.errors import BadValueError, one_line
from airpath.sweeps.ledger.lock import Lock
from airpath.sweeps.ledger.opening import connected, damaged, make, named_errors
from airpath.sweeps.ledger.schema import COLUMNS, checksum, checksum_of_packed, is_whole
from airpath.sweeps.ledger.sessions import Session
from airpath.sweeps.ledger.status import Build, Stored, counted_rows
from airpath.sweeps.ledger.values import is_packed, metrics_text, storable, with_checksum

if TYPE_CHECKING:
    from airpath.sweeps.job import Job
    from airpath.sweeps.plan import Plan
    from airpath.sweeps.runs import Run

__all__ = ["Ledger", "Recorded", "Values"]

Values = Mapping[str, float | None]
"""Metrics of a replication; None is what was not measured."""

Recorded = tuple[str, int, int, Sequence[Mapping[str, str]]]
"""Digest, seed, number of replications, and the advisories on them, as `Advisory.to_dict`."""

_OF_BUILD = "airpath_version = ? AND airpath_commit = ?"
_OF_JOB = "digest = ? AND seed = ?"


class Ledger:
    """The finished replications of a campaign, in one file.

    Rows that a method has stored when it returns are durable. Every row is
    checked against its checksum when it is read. It is opened by `open` and `read`, closed by
    `close` or at the end of a ``with``, and may be used from several threads.

    Attributes
    ----------
    path : Path
        The file.
    own : Build
        What is running now.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._mutex = RLock()
        self.own = Build(_airpath.version(), _airpath.commit())
        self._only: Build | None = None
        with named_errors(path):
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            self._tables = {name for (name,) in tables}

    @staticmethod
    def open(
        path: str | os.PathLike[str], *, accept_version: bool = False, leave_others: bool = False
    ) -> Ledger:
        """Open a ledger for its one coordinator; it is made when it is missing.

        Parameters
        ----------
        path : path
            The file; its directory exists.
        accept_version : bool
            Use the replications of other versions like those of this one. Default False.
        leave_others : bool
            Ignore them. Default False: they are rejected.

        Raises
        ------
        BadValueError
            If it is no ledger, of a newer format, damaged, cannot be written, is being written by
            another coordinator, or has replications of other versions.
        """
        place = Path(path)
        lock = Lock(place)
        try:
            if not os.path.lexists(place):
                make(place)
            ledger = Ledger(place, connected(place, writes=True), lock)
        except BaseException:
            lock.release()
            raise
        try:
            if not accept_version:
                ledger._only = ledger.own
                if not leave_others:
                    ledger._refuse_others()
        except BaseException:
            ledger.close()
            raise
        return ledger

    @staticmethod
    def read(path: str | os.PathLike[str], *, own_only: bool = False) -> Ledger:
        """Open a ledger to look at it, also while a coordinator writes it.

        Parameters
        ----------
        path : path
            The file.
        own_only : bool
            Whether only the replications of this version are read. Default False: of all.

        Raises
        ------
        BadValueError
            If it is missing, no ledger, of a newer format, damaged or cannot be read.
        """
        place = Path(path)
        ledger = Ledger(place, connected(place, writes=False), None)
        ledger._only = ledger.own if own_only else None
        return ledger

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        with self._mutex:
            # Rows that cannot be moved into the file now stay in its log.
            with suppress(sqlite3.Error):
                if self._lock is not None:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            with suppress(sqlite3.Error):
                self._connection.close()
            if self._lock is not None:
                self._lock.release()

    # --- what is wanted ------------------------------------------------------------------------

    def plan(self) -> Plan | None:
        """Return the plan that was stored last; None when there is none."""
        from airpath.sweeps.plan import Plan

        for _, document, _ in self._rows("plan", "number = 1"):
            try:
                return Plan.of(json.loads(document))
            except (KeyError, TypeError, ValueError):
                name = one_line(str(self.path))
                raise BadValueError(f"{name}: its plan is not one of this airpath's.") from None
        return None

    def set_plan(self, plan: Plan, jobs: Mapping[str, Job]) -> None:
        """Store what is wanted.

        Parameters
        ----------
        plan : Plan
            Takes the place of the one before.
        jobs : mapping of str to Job
            By digest; those before stay.
        """
        document = json.dumps(plan.to_dict(), ensure_ascii=False)
        rows = []
        for digest, job in jobs.items():
            files = [[file.key, file.role, file.sha256] for file in job.files]
            name = storable(job.name)
            rows.append(with_checksum(digest, name, storable(job.text), json.dumps(files)))
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO plan VALUES (?, ?, ?)",
                with_checksum(1, storable(document)),
            )
            connection.executemany(
                "INSERT INTO jobs VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET "
                "name = excluded.name, resolved = excluded.resolved, files = excluded.files, "
                "checksum = excluded.checksum WHERE checksum != excluded.checksum",
                rows,
            )

    def job(self, digest: str) -> Job | None:
        """Return a job; None when it is not stored."""
        from airpath.sweeps.job import File, Job

        for _, name, text, files, _ in self._rows("jobs", "digest = ?", [digest]):
            of_files = tuple(File(*file) for file in json.loads(files))
            return Job(name, (text[1:-1],), of_files, digest)
        return None

    # --- finished replications -----------------------------------------------------------------

    def finished(self, digest: str, seed: int) -> Sequence[int]:
        """Return the numbers of the finished replications of a job with a seed, in order."""
        return sorted(self._latest(digest, seed))

    def values(self, digest: str, seed: int) -> Mapping[int, Values]:
        """Return the stored metrics of a job with a seed, by replication, in order."""
        found = self._latest(digest, seed)
        numbers = sorted(found)
        # One list takes half the time of many objects.
        texts = ",".join(found[number][6] for number in numbers)
        return dict(zip(numbers, json.loads(f"[{texts}]"), strict=True))

    def runs(self, digest: str, seed: int) -> Iterator[Run]:
        """Give the finished replications of a job with a seed, in order, without series."""
        from airpath.sweeps.runs import Run

        # By its key: another process may prune the file meanwhile, and rows change their places.
        query = f"SELECT packed FROM runs WHERE {_OF_JOB} AND replication = ? AND {_OF_BUILD}"
        found = self._latest(digest, seed)
        for number in sorted(found):
            *key, cpu_ns, _, of_packed, _, _ = found[number]
            with self._mutex, named_errors(self.path):
                row = self._connection.execute(query, key).fetchone()
            if row is None:
                continue
            if not is_packed(row[0], of_packed):
                raise damaged(self.path, f"replication {number} of job {digest[:12]}")
            yield Run(digest, seed, number, key[3], key[4], cpu_ns / 1e9, row[0])

    def add(self, runs: Sequence[tuple[Run, Values]], advisories: Sequence[Recorded] = ()) -> None:
        """Store finished replications with their metrics, and advisories: everything, or nothing.

        Replications that are stored already, from the same version, stay as they are.

        Parameters
        ----------
        runs : sequence of (Run, mapping of str to float or None)
            Their series are not stored. NaN and infinities become None.
        advisories : sequence of Recorded
            They replace earlier ones of the same jobs and seeds. Default: none.

        Raises
        ------
        BadValueError
            If it cannot be stored: the disk is full. What was stored before is kept.
        """
        rows = []
        for run, metrics in runs:
            key = (run.digest, str(run.seed), run.replication, run.version, run.commit)
            rest = (round(run.cpu_s * 1e9), metrics_text(metrics), checksum_of_packed(run.packed))
            rows.append((*with_checksum(*key, *rest), run.packed))
        noted = []
        for digest, seed, replications, found in advisories:
            text = storable(json.dumps([dict(each) for each in found], ensure_ascii=False))
            build = (self.own.version, self.own.commit)
            noted.append(with_checksum(digest, str(seed), *build, replications, text))
        with self._writing() as connection:
            connection.executemany(
                f"INSERT INTO runs VALUES ({', '.join('?' * 10)}) ON CONFLICT "
                "(digest, seed, replication, airpath_version, airpath_commit) DO NOTHING",
                rows,
            )
            connection.executemany(
                f"DELETE FROM failures WHERE {_OF_JOB} AND replication = ? AND {_OF_BUILD}",
                [row[:5] for row in rows],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO advisories VALUES (?, ?, ?, ?, ?, ?, ?)", noted
            )

    def add_values(self, digest: str, seed: int, values: Mapping[int, Values]) -> None:
        """Store metrics of finished replications that were computed later.

        Parameters
        ----------
        digest, seed
            Of what.
        values : mapping of int to mapping
            By replication, finished ones; metrics that are stored and not named here stay.

        Raises
        ------
        KeyError
            If a replication is not finished.
        BadValueError
            As `add`.
        """
        found = self._latest(digest, seed)
        rows = []
        for number, metrics in values.items():
            *row, _, place = found[number]
            row[6] = metrics_text({**json.loads(row[6]), **metrics})
            rows.append((row[6], checksum(row), place))
        with self._writing() as connection:
            connection.executemany(
                "UPDATE runs SET metrics = ?, checksum = ? WHERE rowid = ?", rows
            )

    # --- failures, solutions -------------------------------------------------------------------

    def failed(self, digest: str, seed: int) -> Mapping[int, str]:
        """Return the messages of failed replications of a job with a seed, by replication."""
        rows = self._rows("failures", *self._accepted(_OF_JOB, [digest, str(seed)]))
        return {number: message for _, _, number, _, _, message, _ in sorted(rows)}

    def failures(self) -> Sequence[tuple[str, int, int, str]]:
        """Return every failure: digest, seed, replication and message."""
        rows = self._rows("failures", *self._accepted("true", []))
        return [(digest, int(seed), n, message) for digest, seed, n, _, _, message, _ in rows]

    def add_failure(self, digest: str, seed: int, replication: int, message: str) -> None:
        """Store that a replication failed; it is forgotten when the replication is finished."""
        key = (digest, str(seed), replication, self.own.version, self.own.commit)
        with self._writing() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO failures VALUES ({', '.join('?' * 7)})",
                with_checksum(*key, storable(message)),
            )

    def solved(self, digest: str) -> Values | str | None:
        """Return the metrics of the analytic model; why there are none; None if not stored."""
        found: Values | str | None = None
        rows = self._rows("solved", *self._accepted("digest = ?", [digest]), "ORDER BY rowid")
        for _, _, _, metrics, reason, _ in rows:
            found = json.loads(metrics) if reason is None else str(reason)
        return found

    def add_solved(self, digest: str, found: Values | str) -> None:
        """Store the metrics of the analytic model, or why there are none."""
        is_reason = isinstance(found, str)
        key = (digest, self.own.version, self.own.commit)
        metrics = None if isinstance(found, str) else metrics_text(found)
        reason = storable(str(found)) if is_reason else None
        with self._writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO solved VALUES (?, ?, ?, ?, ?, ?)",
                with_checksum(*key, metrics, reason),
            )

    # --- advisories ----------------------------------------------------------------------------

    def advisories(self, digest: str, seed: int) -> tuple[int, Sequence[Mapping[str, str]]] | None:
        """Return on how many replications advisories are stored, and these; None without any.

        Each is as `Advisory.to_dict` returns it.
        """
        if "advisories" not in self._tables:
            return None
        where, values = self._accepted(_OF_JOB, [digest, str(seed)])
        rows = self._rows("advisories", where, values, "ORDER BY rowid")
        return (rows[-1][4], json.loads(rows[-1][5])) if rows else None

    # --- sessions ------------------------------------------------------------------------------

    def sessions(self) -> list[Session]:
        """Return the calls that ran replications, in order; earlier versions stored none."""
        if "sessions" not in self._tables:
            return []
        return [Session.of_row(row) for row in self._rows("sessions", order="ORDER BY number")]

    def add_session(self, session: Session) -> None:
        """Store a call that has run replications."""
        with self._writing() as connection:
            query = "SELECT coalesce(max(number), 0) + 1 FROM sessions"
            (number,) = connection.execute(query).fetchone()
            values = (storable(of) if isinstance(of, str) else of for of in session.to_row())
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                with_checksum(number, *values),
            )

    # --- counts --------------------------------------------------------------------------------

    def stored(self) -> Stored:
        """Count the finished replications in one pass over the file."""
        with self._mutex:
            return counted_rows(self._scanned("runs"), self._only)

    def cpu_s(self) -> float:
        """Return the processor time of all finished replications, s."""
        return self.stored().cpu_s

    def builds(self) -> Mapping[Build, int]:
        """Return how many replications each version made; also those that are left alone."""
        return self.stored().builds

    def versions(self) -> list[Build]:
        """Return the builds that made replications, in order, ignored ones included.

        A row of each is looked at.
        """
        query = "SELECT DISTINCT airpath_version, airpath_commit FROM runs"
        with self._mutex, named_errors(self.path):
            named = self._connection.execute(query).fetchall()
        rows = (row for of in named for row in self._rows("runs", _OF_BUILD, of, "LIMIT 1"))
        return sorted({Build(row[3], row[4]) for row in rows})

    # --- removing ------------------------------------------------------------------------------

    def places(self) -> Iterator[tuple[str, str, int, Build, int]]:
        """Give digest, seed, replication, version and place of every stored replication."""
        for digest, seed, replication, *build, place in self._scanned("runs", also="rowid"):
            yield digest, seed, replication, Build(build[0], build[1]), place

    def remove(self, places: Sequence[int], jobs: Collection[str] | None) -> None:
        """Remove replications, every failure, and what belongs to jobs that are not wanted.

        Parameters
        ----------
        places : sequence of int
            Of the replications, as `places` gives them.
        jobs : collection of str or None
            The digests that stay; None keeps all.
        """
        with self._writing() as connection:
            connection.executemany("DELETE FROM runs WHERE rowid = ?", [(n,) for n in places])
            connection.execute("DELETE FROM failures")
            for table in ("jobs", "solved", "advisories") if jobs is not None else ():
                stored = list(connection.execute(f"SELECT digest FROM {table}"))
                gone = [row for row in stored if row[0] not in (jobs or ())]
                connection.executemany(f"DELETE FROM {table} WHERE digest = ?", gone)
        with self._mutex, named_errors(self.path):
            self._connection.execute("VACUUM")

    # --- within --------------------------------------------------------------------------------

    def _latest(self, digest: str, seed: int) -> dict[int, tuple[Any, ...]]:
        """Return the rows of the finished replications with their places, by replication.

        Of several versions the one counts that was stored last.
        """
        rows = self._rows(
            "runs", *self._accepted(_OF_JOB, [digest, str(seed)]), "ORDER BY rowid", also="rowid"
        )
        return {row[2]: row for row in rows}

    def _accepted(self, where: str, values: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        if self._only is None:
            return where, values
        return f"{where} AND {_OF_BUILD}", [*values, self._only.version, self._only.commit]

    def _rows(
        self,
        table: str,
        where: str = "true",
        values: Sequence[Any] = (),
        order: str = "",
        also: str | None = None,
    ) -> list[tuple[Any, ...]]:
        """Return rows that are whole, each with the column `also` behind."""
        with self._mutex:
            return list(self._scanned(table, where, values, order, also))

    def _scanned(
        self,
        table: str,
        where: str = "true",
        values: Sequence[Any] = (),
        order: str = "",
        also: str | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        columns = COLUMNS[table]
        wanted = ", ".join((*columns, *([also] if also else [])))
        query = f"SELECT {wanted} FROM {table} WHERE {where} {order}"
        with named_errors(self.path):
            for row in self._connection.execute(query, values):
                if not is_whole(row[: len(columns)]):
                    raise damaged(self.path, f"a row of {table} does not match its checksum")
                yield row

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Store what the block stores: all of it, or none."""
        connection = self._connection
        with self._mutex, named_errors(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                raise

    def _refuse_others(self) -> None:
        if set(self.versions()) <= {self.own}:
            return
        others = {build: count for build, count in self.builds().items() if build != self.own}
        made = ", ".join(f"{count} by {build}" for build, count in others.items())
        raise BadValueError(
            f"{one_line(str(self.path))}: {sum(others.values())} replications were made by other "
            f"versions ({made}), this is {self.own}. "
            "Use --accept-version to use them, or give another directory."
        )

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
"""Metrics of a replication; None if a metric was not measured."""

Recorded = tuple[str, int, int, Sequence[Mapping[str, str]]]
"""Digest, seed, number of replications, and their advisories (as from `Advisory.to_dict`)."""

_OF_BUILD = "airpath_version = ? AND airpath_commit = ?"
_OF_JOB = "digest = ? AND seed = ?"


class Ledger:
    """The finished replications of a sweep, in one file.

    When a method returns, the rows that it stored are durable. When a row is read, its checksum is
    verified. `open` and `read` open a ledger; `close` or the end of a ``with`` block closes it. A
    ledger may be used from several threads.

    Attributes
    ----------
    path : Path
        The file.
    own : Build
        Version and commit of the running engine.
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
        """Open a ledger for its coordinator; a missing ledger is created.

        Parameters
        ----------
        path : path
            The file; its directory must exist.
        accept_version : bool
            True to use replications of other versions of Airpath. Default False.
        leave_others : bool
            True to ignore replications of other versions. Default False: they are rejected.

        Raises
        ------
        BadValueError
            If the file is not a ledger, has a newer format, is damaged, is not writable, is in use
            by another coordinator, or has replications of other versions.
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
        """Open a ledger for reading; a coordinator may write it at the same time.

        Parameters
        ----------
        path : path
            The file.
        own_only : bool
            True to read only replications of this version of Airpath. Default False: all versions.

        Raises
        ------
        BadValueError
            If the file does not exist, is no ledger, has a newer format, is damaged or cannot be
            read.
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
        """Close the ledger; a second call does nothing."""
        with self._mutex:
            # If this checkpoint fails, the rows stay in the write-ahead log.
            with suppress(sqlite3.Error):
                if self._lock is not None:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            with suppress(sqlite3.Error):
                self._connection.close()
            if self._lock is not None:
                self._lock.release()

    # --- plan and jobs -------------------------------------------------------------------------

    def plan(self) -> Plan | None:
        """Return the stored plan; None if no plan is stored."""
        from airpath.sweeps.plan import Plan

        for _, document, _ in self._rows("plan", "number = 1"):
            try:
                return Plan.of(json.loads(document))
            except (KeyError, TypeError, ValueError):
                name = one_line(str(self.path))
                raise BadValueError(f"{name}: its plan is not one of this airpath's.") from None
        return None

    def set_plan(self, plan: Plan, jobs: Mapping[str, Job]) -> None:
        """Store the plan and the jobs of a sweep.

        Parameters
        ----------
        plan : Plan
            New plan; it replaces the stored plan.
        jobs : mapping of str to Job
            Jobs by digest; stored jobs are kept.
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
        """Return a job; None if it is not stored."""
        from airpath.sweeps.job import File, Job

        for _, name, text, files, _ in self._rows("jobs", "digest = ?", [digest]):
            of_files = tuple(File(*file) for file in json.loads(files))
            return Job(name, (text[1:-1],), of_files, digest)
        return None

    # --- finished replications -----------------------------------------------------------------

    def finished(self, digest: str, seed: int) -> Sequence[int]:
        """Return the indices of the finished replications of a job and seed, in ascending order."""
        return sorted(self._latest(digest, seed))

    def values(self, digest: str, seed: int) -> Mapping[int, Values]:
        """Return, for a job and seed, a mapping from the replication's index to its metrics."""
        found = self._latest(digest, seed)
        numbers = sorted(found)
        # Parsing one list takes half the time of parsing each object.
        texts = ",".join(found[number][6] for number in numbers)
        return dict(zip(numbers, json.loads(f"[{texts}]"), strict=True))

    def runs(self, digest: str, seed: int) -> Iterator[Run]:
        """Yield the finished replications of a job with a seed, in order, without series."""
        from airpath.sweeps.runs import Run

        # Select by key, not by rowid: another process may prune the file, which changes rowids.
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
        """Store finished replications with their metrics, and advisories, in one transaction.

        Already stored replications of the same version are not changed.

        Parameters
        ----------
        runs : sequence of (Run, mapping of str to float or None)
            Replications with their metrics. Series are not stored. NaN and infinities become None.
        advisories : sequence of Recorded
            Advisories; they replace earlier advisories of the same jobs and seeds. Default: none.

        Raises
        ------
        BadValueError
            If writing fails, for example because the disk is full. Earlier rows are kept.
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
            Digest of the job and master seed.
        values : mapping of int to mapping
            New metrics by number of a finished replication; other stored metrics are kept.

        Raises
        ------
        KeyError
            If a replication is not finished.
        BadValueError
            As in `add`.
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
        """Return, for a job and seed, a mapping from failed replications to error messages."""
        rows = self._rows("failures", *self._accepted(_OF_JOB, [digest, str(seed)]))
        return {number: message for _, _, number, _, _, message, _ in sorted(rows)}

    def failures(self) -> Sequence[tuple[str, int, int, str]]:
        """Return every failure: digest, seed, replication and message."""
        rows = self._rows("failures", *self._accepted("true", []))
        return [(digest, int(seed), n, message) for digest, seed, n, _, _, message, _ in rows]

    def add_failure(self, digest: str, seed: int, replication: int, message: str) -> None:
        """Store the failure of a replication. It is deleted if the replication later succeeds."""
        key = (digest, str(seed), replication, self.own.version, self.own.commit)
        with self._writing() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO failures VALUES ({', '.join('?' * 7)})",
                with_checksum(*key, storable(message)),
            )

    def solved(self, digest: str) -> Values | str | None:
        """Return the analytic model's metrics, or why it has no solution; None if not stored."""
        found: Values | str | None = None
        rows = self._rows("solved", *self._accepted("digest = ?", [digest]), "ORDER BY rowid")
        for _, _, _, metrics, reason, _ in rows:
            found = json.loads(metrics) if reason is None else str(reason)
        return found

    def add_solved(self, digest: str, found: Values | str) -> None:
        """Store the metrics of the analytic model, or the reason why it has no solution."""
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
        """Return the number of replications, and the advisories on them; None if none are stored.

        Each advisory has the form that `Advisory.to_dict` returns.
        """
        if "advisories" not in self._tables:
            return None
        where, values = self._accepted(_OF_JOB, [digest, str(seed)])
        rows = self._rows("advisories", where, values, "ORDER BY rowid")
        return (rows[-1][4], json.loads(rows[-1][5])) if rows else None

    # --- sessions ------------------------------------------------------------------------------

    def sessions(self) -> list[Session]:
        """Return the calls that ran replications, in order.

        Calls by earlier versions of Airpath are missing.
        """
        if "sessions" not in self._tables:
            return []
        return [Session.of_row(row) for row in self._rows("sessions", order="ORDER BY number")]

    def add_session(self, session: Session) -> None:
        """Store a call that ran replications."""
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
        """Return the number of replications of each version, including ignored versions."""
        return self.stored().builds

    def versions(self) -> list[Build]:
        """Return the builds that ran replications, in order, including ignored builds.

        The checksum of one row of each build is verified.
        """
        query = "SELECT DISTINCT airpath_version, airpath_commit FROM runs"
        with self._mutex, named_errors(self.path):
            named = self._connection.execute(query).fetchall()
        rows = (row for of in named for row in self._rows("runs", _OF_BUILD, of, "LIMIT 1"))
        return sorted({Build(row[3], row[4]) for row in rows})

    # --- removal -------------------------------------------------------------------------------

    def places(self) -> Iterator[tuple[str, str, int, Build, int]]:
        """Yield digest, seed, replication, version and rowid of every stored replication."""
        for digest, seed, replication, *build, place in self._scanned("runs", also="rowid"):
            yield digest, seed, replication, Build(build[0], build[1]), place

    def remove(self, places: Sequence[int], jobs: Collection[str] | None) -> None:
        """Remove replications, all failures, and all jobs that are not in `jobs`.

        Parameters
        ----------
        places : sequence of int
            Rowids of the replications to remove, from `places`.
        jobs : collection of str or None
            Digests of the jobs to keep; None keeps all jobs.
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

    # --- queries -------------------------------------------------------------------------------

    def _latest(self, digest: str, seed: int) -> dict[int, tuple[Any, ...]]:
        """Return the rows of the finished replications, each with its rowid, by replication.

        If several versions ran a replication, the row that was stored last is used.
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
        """Return rows after verifying their checksums, each with the column `also` appended."""
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
        """Run the block in one transaction."""
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

"""The ledger: an SQLite file that durably stores the finished replications of a sweep.

```
  opening   creates, checks and opens the file; a lock file admits one coordinator at a time
  schema    tables of format 1, the checksum of a row
  values    encoding of stored values
  ledger    writes and reads
```
The format is documented in ``docs/reference/ledger.md``.
"""

from airpath.sweeps.ledger.ledger import Ledger
from airpath.sweeps.ledger.lock import coordinator_of
from airpath.sweeps.ledger.opening import FILE_NAME
from airpath.sweeps.ledger.status import Build, Stored

__all__ = ["FILE_NAME", "Build", "Ledger", "Stored", "coordinator_of"]

"""Sweeps: replications of many scenarios, stored in a crash-safe ledger.

```
  sweep file --description--> Plan of points --coordinator--> tasks --executor--> Run --> ledger
                                   └------------- table, differences, figures, report <------┘
```

`airpath.sweep` (`airpath.sweeps.api.sweep`) runs a sweep from Python.
"""

"""Sweeps: many scenarios, each replicated, in a ledger that loses nothing.

```
  sweep file --description--> Plan of points --coordinator--> tasks --executor--> Run --> ledger
                                   └------------- table, differences, figures, report <------┘
```

`airpath.sweep` (`airpath.sweeps.api.sweep`) runs one from Python.
"""

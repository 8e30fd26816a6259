"""Campaigns: many scenarios, each replicated, in a ledger that loses nothing.

```
  sweep file --description--> Plan of points --coordinator--> tasks --executor--> Run --> ledger
                                   └------------- table, differences, figures, report <------┘
```

`airpath.sweep` is a function for the user (`airpath.sweep.api.sweep`) and this package for those
who look inside: the package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """Importing any module of the package puts it where the function was: it stands in for it."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from airpath.sweep.api import sweep

        return sweep(*args, **options)


sys.modules[__name__].__class__ = _Callable

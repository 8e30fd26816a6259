"""Reports: self-contained HTML files.

```
  PAPER.json -------paper-------┐
  Sweep ------------sweep-------┼--> Page of blocks --page--> HTML
  Result -----------result------┤      figures: SVG, cleaned, values on hover
  Comparison -------comparison--┘
```
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath.report.comparison import report_of_comparison as report_of_comparison
    from airpath.report.paper import report_of_paper as report_of_paper
    from airpath.report.result import report_of_result as report_of_result
    from airpath.report.sweep import report_of_sweep as report_of_sweep

__all__ = ["report_of_comparison", "report_of_paper", "report_of_result", "report_of_sweep"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        module = importlib.import_module(f"airpath.report.{name.removeprefix('report_of_')}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""A report: one HTML file that needs nothing else, of a paper's reproduction or of a sweep.

```
  PAPER.json --paper--┐
                      ├--> Page of blocks --page--> HTML
  Sweep ------sweep---┘      figures: SVG, cleaned, values on hover
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airpath.report.paper import report_of_paper as report_of_paper
    from airpath.report.sweep import report_of_sweep as report_of_sweep

__all__ = ["report_of_paper", "report_of_sweep"]


def __getattr__(name: str) -> Any:
    if name == "report_of_paper":
        from airpath.report.paper import report_of_paper

        return report_of_paper
    if name == "report_of_sweep":
        from airpath.report.sweep import report_of_sweep

        return report_of_sweep
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

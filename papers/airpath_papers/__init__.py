"""Published papers, one package each; `airpath reproduce` finds them by entry points."""

"""Published papers, one package each, which `airpath reproduce` finds by entry points."""

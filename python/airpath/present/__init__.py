"""Presentation of tables and figures: on a terminal, as HTML, as image files.

This package does not depend on results or sweeps.
"""

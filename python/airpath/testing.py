"""Checks of your parts."""

from airpath.part_checks import *

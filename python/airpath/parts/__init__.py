"""Parts of a simulation that you write in Python.

A decorated class becomes a component like the built-in ones, in Python and in scenario files.
"""

from airpath.parts.choices import *
from airpath.parts.congestion import *
from airpath.parts.events import *
from airpath.parts.queue import *

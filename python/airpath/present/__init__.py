"""Tables and figures of what others computed: on a terminal, as HTML, as image files.

It knows neither results nor sweeps: it shows the data that it is given.
"""

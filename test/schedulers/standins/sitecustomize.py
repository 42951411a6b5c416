"""Has programs that open the usual board open that of a test."""

import os

try:
    import beoboard
except ImportError:
    pass
else:
    real = beoboard.open
    beoboard.open = lambda path=None, **more: real(path or os.environ["BEOBOARD_BOARD"], **more)

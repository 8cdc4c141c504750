"""matplotlib as a command needs it: to draw, and not to be asked for help."""

from __future__ import annotations

import sys
from typing import Any


def load_plots() -> None:
    """Load matplotlib without the help texts of its classes.

    It writes these anew each time it is loaded, from all the properties that each class has, which
    takes almost half of its loading. Where it is loaded already, it stays as it is.
    """
    if "matplotlib.artist" in sys.modules:
        return
    from matplotlib import artist

    module: Any = artist
    module.kwdoc = lambda _: ""
    module.Artist._update_set_signature_and_docstring = classmethod(lambda _: None)

"""What things are."""

from collections.abc import Callable

PLUGINS = "wattline.policies"
"""Entry points of this group name policies of other packages."""

before_compiling: list[Callable[[], None]] = []
"""Called, and forgotten, when a process is about to compile its first kernel.

They are kept here, apart from the kernels, so that a command can leave a word for a user who will
have to wait without loading the compiler itself.
"""

before_running_plain: list[Callable[[], None]] = []
"""Called, and forgotten, when a run goes on uncompiled while another process compiles."""

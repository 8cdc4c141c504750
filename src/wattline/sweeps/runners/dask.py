"""A Dask scheduler that is running, and whatever workers it has."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from wattline.model.errors import InputError, warn
from wattline.sweeps.runners import Place, lent

CONNECT_S = 15


class Dask:
    """Dask replaces workers that die and computes what they had in hand again."""

    in_one_go = False

    def __init__(self, place: Place, address: str) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise InputError("Dask is not installed; install wattline[dask]") from None
        self._address = address

    def begun(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        from distributed import Client

        try:
            client = Client(f"tcp://{self._address}", timeout=CONNECT_S)
        except (OSError, ValueError) as error:
            raise InputError(f"there is no Dask scheduler at {self._address}: {error}") from None
        if not client.scheduler_info()["workers"]:
            warn((f"the Dask scheduler at {self._address} has no workers: the points wait until "
                  "there are some",))
        with client, lent(client.get_executor(pure=False), _let_go) as found:
            yield found


def _let_go(executor: Executor) -> None:
    """Not to wait is how Dask's are told to let go; they take no other word."""
    with suppress(Exception):  # the scheduler may be what is lost
        executor.shutdown(wait=False)

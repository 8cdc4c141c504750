"""A Dask scheduler that is running, and whatever workers it has."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext

from wattline.model.errors import InputError
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
        with client, lent(client.get_executor(pure=False)) as found:
            yield found

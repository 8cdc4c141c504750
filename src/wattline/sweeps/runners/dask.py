"""A Dask scheduler that is running, and whatever workers it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from typing import Any

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
        if not re.fullmatch(r"[^\s/]+:\d+", address):
            raise InputError(f"'dask://{address}' names no scheduler; write dask://HOST:PORT, like "
                             "dask://localhost:8786")
        self._place, self._address = place, address
        self._client: Any = None

    def workers(self) -> int:
        """Those of the cluster, unless somebody said how many; before there are any, as many as
        there would be here."""
        if self._place.named:
            return self._place.workers
        return sum(self._client.nthreads().values()) or self._place.workers

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Connected: whoever has no scheduler learns it before anything is written."""
        from distributed import Client

        try:
            client = Client(f"tcp://{self._address}", timeout=CONNECT_S)
        except (OSError, ValueError) as error:
            raise InputError(f"there is no Dask scheduler at {self._address}: {error}") from None
        if not client.nthreads():
            self._place.say(f"the Dask scheduler at {self._address} has no workers: the points "
                            "wait until there are some")
        with client:
            self._client = client
            yield

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        with lent(self._client.get_executor(pure=False), _let_go) as found:
            yield found


def _let_go(executor: Executor) -> None:
    """Not to wait is how Dask's are told to let go; they take no other word."""
    with suppress(Exception):  # the scheduler may be what is lost
        executor.shutdown(wait=False)

"""Series and what follows from them are the same on a real MariaDB as on SQLite."""

from __future__ import annotations

import numpy as np
import pytest
from tests.property.test_measured_closure import (
    RULES,
    cluster,
    enter_jobs,
    pieces,
    rows,
    with_gaps,
)
from tests.support import mariadb

from wattline.account.measured.attributing import settle
from wattline.account.measured.series_store import enter_series
from wattline.account.store import Store


@pytest.mark.servers
def test_mariadb_has_the_same_rows_to_the_last_bit() -> None:
    made, random = cluster(11), np.random.default_rng(11)
    series = with_gaps(made.series(), random)
    parts = pieces(series, random)
    with mariadb.server() as url, Store(url) as server, Store("sqlite://") as memory:
        for store in (server, memory):
            with store.engine.begin() as connection:
                touched = enter_jobs(connection, list(made.jobs))
                for some in (parts[::2], parts[1::2], parts[::3]):
                    touched |= enter_series(connection, some).touched
                    settle(connection, touched, RULES)
        with server.engine.begin() as one, memory.engine.begin() as other:
            found = rows(one)
            assert found == rows(other)
            assert len(found[0]) > 10

"""The table job_details and the index that is rebuilt only when it changes."""

import pytest
from sqlalchemy import inspect

from wattline.account.configurations import ConfigurationStore
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.physics.configurations import ConfigurationTable
from wattline.physics.pareto import fastest_within


def table(name: str, times: list[float]) -> ConfigurationTable:
    return ConfigurationTable.build(name, [2, 4, 8], [4, 4, 4], [51, 51, 51], times,
                                    [100, 200, 400])


def test_tables_come_back_as_they_were_put(tmp_path):
    with Store(tmp_path / "a.db") as store:
        ConfigurationStore(store).put(table("bt", [9, 5, 3]))
        columns = {column["name"] for column in inspect(store.engine).get_columns("job_details")}
    assert {"id", "application", "nodes", "cores", "cap_w", "time_s", "power_w"} <= columns
    with Store(tmp_path / "a.db") as store:
        again = ConfigurationStore(store).table("bt")
    assert again.time_s.tolist() == [9, 5, 3]
    assert again.nodes.tolist() == [2, 4, 8]


def test_the_index_is_rebuilt_only_after_a_change():
    with Store("sqlite://") as store:
        kept = ConfigurationStore(store)
        kept.put(table("bt", [9, 5, 3]))
        first = kept.catalogue()
        assert kept.catalogue() is first
        kept.put(table("sp", [7, 6, 5]))
        second = kept.catalogue()
        assert second is not first
        assert second.revision == first.revision + 1
        code = second.code_of("sp")
        row = fastest_within(second.index, code, 5, 1000.0)
        assert second.fastest("sp", 5, 1000.0).time_s == 6.0
        assert second.fastest("sp", 5, 99.0) is None
        assert (second.tables.nodes[row], second.tables.time_s[row]) == (4, 6.0)


def test_putting_again_replaces():
    with Store("sqlite://") as store:
        kept = ConfigurationStore(store)
        kept.put(table("bt", [9, 5, 3]))
        kept.put(table("bt", [8, 4, 2]))
        assert kept.table("bt").time_s.tolist() == [8, 4, 2]


def test_what_is_not_there_is_named():
    with Store("sqlite://") as store:
        kept = ConfigurationStore(store)
        with pytest.raises(InputError, match="holds no configurations"):
            kept.catalogue()
        kept.put(table("bt", [9, 5, 3]))
        with pytest.raises(InputError, match="no application 'x' in the store; known are: bt"):
            kept.table("x")
        with pytest.raises(InputError, match="known are: bt"):
            kept.catalogue().code_of("x")

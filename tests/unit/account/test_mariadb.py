"""The store on a real MariaDB gives what it gives on SQLite."""

import pytest
from sqlalchemy import inspect
from tests.support import mariadb
from tests.support.commands import status_of
from tests.unit.account.test_configuration_store import table as configuration_table
from tests.unit.account.test_ledger import EPOCH_S, record, stepped

from wattline.account.claim_table import ClaimTable
from wattline.account.configurations import ConfigurationStore
from wattline.account.ledger import GROUPS, Ledger
from wattline.account.store import Store
from wattline.model.errors import InputError
from wattline.physics.claims import Claim, ClaimSetting, Measured, npb_claims

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def url():
    with mariadb.server() as found:
        yield found


@pytest.fixture
def store(url):
    with Store(url) as opened:
        yield opened
        opened.metadata.drop_all(opened.engine)


RECORDS = (record(1, energy_j=1 / 3), record(2, user="Ann", frequency_hz=2.4e9),
           record(3, user="żółw", application="a b'\";--"), stepped())


def said_by(store):
    """Everything that a ledger says of a run."""
    ledger = Ledger(store)
    ledger.add("run", RECORDS, machine="cuzco", energy_j=1e15 / 7, epoch_s=EPOCH_S)
    run = ledger.run_of("run")
    jobs = [{k: v for k, v in job.items() if k not in ("id", "run_id")}
            for job in ledger.jobs_of(run["id"])]
    steps = {job: [{k: v for k, v in step.items() if k not in ("id", "run_id")}
                   for step in found] for job, found in ledger.steps_of(run["id"]).items()}
    return (jobs, steps, [ledger.power_of(run["id"], job["job_id"]) for job in jobs],
            [sorted(map(str, ledger.totals(run["id"], by))) for by in GROUPS], run["energy_j"])


def test_the_ledger_says_the_same_to_the_last_bit(store):
    with Store("sqlite://") as memory:
        assert said_by(store) == said_by(memory)


def test_a_run_is_replaced_as_a_whole_or_not_at_all(store):
    ledger = Ledger(store)
    ledger.add("run", [record(1), record(2)])
    ledger.add("run", [record(7)])
    run = ledger.run_of()
    assert [job["job_id"] for job in ledger.jobs_of(run["id"])] == [7]

    def broken():
        yield record(8)
        raise InputError("line 2 is bad")

    with pytest.raises(InputError, match="line 2"):
        ledger.add("run", broken())
    assert [job["job_id"] for job in ledger.jobs_of(ledger.run_of()["id"])] == [7]


def test_claims_are_kept_corrected_and_told_apart_by_case(store):
    table = ClaimTable(store)
    assert table.save(npb_claims()) == 44
    assert list(table.load()) == list(npb_claims())
    assert table.save([Claim("ep.a", "xeon", ClaimSetting("8"), 1.0, 2.0)]) == 1
    assert len(table.load()) == 45
    (found,) = table.record([Measured("CG.A", "xeon", ClaimSetting("8"), 0.70, 29.91)])
    assert found.time_error == pytest.approx(0.12 / 0.58)
    with pytest.raises(InputError, match="time_s is -1"):
        table.save([Claim("b", "x", ClaimSetting(), 1.0, 1.0),
                    Claim("c", "x", ClaimSetting(), -1.0, 1.0)])
    assert len(table.load()) == 45


def test_configurations_come_back(store):
    kept = ConfigurationStore(store)
    kept.put(configuration_table("bt", [9, 5, 3]))
    kept.put(configuration_table("BT", [8, 4, 2]))
    assert kept.applications() == ("BT", "bt")
    assert kept.table("bt").time_s.tolist() == [9, 5, 3]
    assert kept.revision() == 2


def test_the_commands_take_the_url(store, url, capsys, tmp_path):
    Ledger(store).add("run", RECORDS, epoch_s=EPOCH_S)
    assert status_of("account", "--store", url, "-X", "-P", "-n", "-o", "jobid,user") == 0
    assert capsys.readouterr().out.split() == ["1|ann", "2|Ann", "3|żółw", "5|ann"]
    assert status_of("claims", "import", "npb", "--store", url) == 0
    assert "application_claim" in inspect(store.engine).get_table_names()
    bad = tmp_path / "bad.csv"
    bad.write_text("application,node_class,threads,time_s,energy_j\na,xeon,8,-1,5\n")
    assert status_of("claims", "import", str(bad), "--store", url) == 2
    assert len(ClaimTable(store).load()) == 44


def test_a_server_that_is_not_there_is_named(url):
    with pytest.raises(InputError, match="cannot open the store"):
        Store(url.replace("unix_socket=", "unix_socket=/nowhere"))

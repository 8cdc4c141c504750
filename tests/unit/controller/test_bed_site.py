"""A bed has the file of a site, with which a controller can be started on it."""

from __future__ import annotations

from pathlib import Path

from wattline.controller.configuration import read_configuration
from wattline.controller.testbed.layout import Bed
from wattline.controller.testbed.own_site import site_file, write_site


def test_the_file_of_a_bed_names_its_nodes_broker_and_keys(tmp_path: Path) -> None:
    bed = Bed(tmp_path, 4, 22_000)
    write_site(bed)
    site = read_configuration(site_file(bed))
    assert site.node_names == bed.names
    assert (site.cluster, site.slurm_conf) == (bed.cluster, str(bed.configuration))
    assert site.broker is not None
    assert site.broker.port == bed.broker_port == 22_004
    assert Path(site.order_key).is_relative_to(tmp_path)
    assert Path(site.folder) == tmp_path / "controller"
    assert 4 * bed.power.idle_w < site.cap < 4 * bed.power.active_w
    assert (site.mode, site.licences) == ("guard", True)

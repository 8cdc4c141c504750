"""slurmctld looks at nodes in the natural order of their names, not in that of slurm.conf."""

from __future__ import annotations

from pathlib import Path

from wattline.scenario.twin.nodes import in_order_of_names
from wattline.site.slurm_conf import read_slurm_conf


def test_nodes_stand_in_the_natural_order_of_their_names(tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("NodeName=n[9-10],m1 CPUs=4\nNodeName=b1 CPUs=4\nNodeName=n2 CPUs=2\n"
                    "PartitionName=all Nodes=ALL Default=YES\n")
    found = in_order_of_names(read_slurm_conf(conf))
    assert [node.name for node in found.nodes] == ["b1", "m1", "n2", "n9", "n10"]

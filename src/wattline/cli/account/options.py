"""Options that the commands of the measured ledger share."""

from __future__ import annotations

import click

store_option = click.option("--store", required=True, metavar="URL|FILE",
                            help="SQL store that keeps the ledger.")
cluster_option = click.option(
    "--cluster", default="", metavar="NAME",
    help="What the cluster is called, where the files do not say it.")
clusters_option = click.option("-M", "--clusters", default="", metavar="NAME,...",
                               help="Only these clusters.")

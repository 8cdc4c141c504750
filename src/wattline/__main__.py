"""`python -m wattline` is the command `wattline`."""

from wattline.cli.main import main

main()

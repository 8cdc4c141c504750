"""`python -m wattline` is the command `wattline`."""

from wattline.cli.start import main

main()

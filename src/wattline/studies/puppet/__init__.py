"""Power capping by delay or by slower processors: the published evaluation of PuPPET."""

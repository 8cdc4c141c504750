"""The measured ledger: what meters and the resource manager say that jobs drew."""

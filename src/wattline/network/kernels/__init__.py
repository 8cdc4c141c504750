"""Hot loops over arrays: compiled, or plain with WATTLINE_PLAIN=1; typed by their use."""

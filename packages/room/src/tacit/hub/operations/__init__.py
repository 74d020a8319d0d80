"""Every operation of the hub, once: the doors only translate to and from these."""

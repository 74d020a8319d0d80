"""What every room stands on: ids, time values, strict JSON, error kinds, and the ports of the cores."""

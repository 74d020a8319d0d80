"""Drivers: one way to run a turn in whatever agent a person has.

The port is `port.py`: five methods and a few frozen values. `start` opens the agent, `run` runs one turn
and gives its outcome, `steer` offers more text to the running turn, `cancel` ends it, `close` ends every
process. While a turn runs, its `Watch` is told of text and tools, and is asked at each tool boundary what
to do there.

`catalogue.py` lists the drivers by name and builds them. The modules beside it read what each agent says
and are pure; `io/` holds the processes and sockets. A driver knows nothing of rooms, policies, events or
claims: it gets standing rules and a prompt, and gives text.
"""

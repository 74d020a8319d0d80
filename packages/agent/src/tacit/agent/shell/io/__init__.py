"""The process, its page and its socket."""

"""CLowl v0.2, the language agents write in: read, write, follow and trace messages between agents.

`parse` and `read` take bytes, `read_value` parsed JSON; `Author` builds; `english` reads aloud; `Lifecycle`
follows tasks; `reconstruct` rebuilds traces; `Runtime` is one agent's side of it all. `declared_intent` is
what attention asks about a message.
"""

from tacit.language.build import Author
from tacit.language.english import english, english_of
from tacit.language.findings import Finding, Invalid, Reading
from tacit.language.lifecycle import Lifecycle
from tacit.language.message import Body, Context, Message, encode, to_value, without_auth
from tacit.language.prompt import prompt
from tacit.language.reading import check, parse, parse_lines, read, read_value
from tacit.language.repair import read_repaired
from tacit.language.runtime import Runtime
from tacit.language.schema import schema
from tacit.language.tables import VERSION, Performative, declared_intent
from tacit.language.trace import Chronicle, Tree, reconstruct

__all__ = [
    "VERSION",
    "Author",
    "Body",
    "Chronicle",
    "Context",
    "Finding",
    "Invalid",
    "Lifecycle",
    "Message",
    "Performative",
    "Reading",
    "Runtime",
    "Tree",
    "check",
    "declared_intent",
    "encode",
    "english",
    "english_of",
    "parse",
    "parse_lines",
    "prompt",
    "read",
    "read_repaired",
    "read_value",
    "reconstruct",
    "schema",
    "to_value",
    "without_auth",
]

"""A scripted model: three real wire formats on loopback, every answer decided by the test, every request kept.

`ModelServer` speaks OpenAI Responses and Chat Completions and Anthropic Messages, streamed and plain. A script is a
list of replies, one for each model call, or a function from the call that came to a reply. A `Held` reply waits
until the test releases it: that is how a test makes "while the model is thinking" a moment it can stand in.

    async with ModelServer() as model:
        model.script(Say("hello"))
        ...
        assert model.calls[0].texts("user") == ["hi"]

There is a second script, independent of the first: `Step` is what a model does in one call by the formats'
documentation (`documented`), and `Improviser` makes up such steps by a seed. `Arranger` thinks for a personal agent.
"""

from .arranger import Arranger, task_of
from .improviser import Improviser, echo
from .replies import Call, Cut, Held, Reply, Rubbish, Say, Status
from .seen import Seen
from .server import ModelServer
from .steps import Hush, Refusal, Step, Thought, Use, Words, says

__all__ = [
    "Arranger", "Call", "Cut", "Held", "Hush", "Improviser", "ModelServer", "Refusal", "Reply", "Rubbish", "Say", "Seen", "Status",
    "Step", "Thought", "Use", "Words", "echo", "says", "task_of",
]  # fmt: skip

"""A scripted model: three real wire formats on loopback, every answer decided by the test, every request kept.

`ModelServer` speaks OpenAI Responses and Chat Completions and Anthropic Messages, streamed and plain. A script is a
list of replies, one for each model call, or a function from the call that came to a reply. A `Held` reply waits
until the test releases it: that is how a test makes "while the model is thinking" a moment it can stand in.

    async with ModelServer() as model:
        model.script(Say("hello"))
        ...
        assert model.calls[0].texts("user") == ["hi"]
"""

from .replies import Call, Cut, Held, Reply, Rubbish, Say, Status
from .seen import Seen
from .server import ModelServer

__all__ = ["Call", "Cut", "Held", "ModelServer", "Reply", "Rubbish", "Say", "Seen", "Status"]

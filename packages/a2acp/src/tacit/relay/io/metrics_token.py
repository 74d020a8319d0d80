"""The word that lets somebody read a relay's numbers: in a file of its folder, for its operator alone.

Where a request comes from proves nothing: behind a proxy on the same machine everybody comes from loopback.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from tacit.base.errors import Unavailable
from tacit.base.io.private_file import write_private
from tacit.wire.encoding import b64

if TYPE_CHECKING:
    from pathlib import Path

    from tacit.base.ports import Entropy

FILE: Final = "metrics.token"
PREFIX: Final = "rmt_"
"""How a new one begins, so that searches for secrets know it."""
_BYTES: Final = 24


def kept_token(folder: Path, entropy: Entropy) -> str:
    """The token of this relay; made when there is none."""
    path = folder / FILE
    try:
        if token := path.read_text(encoding="ascii").strip():
            return token
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from None
    token = PREFIX + b64(entropy.draw(_BYTES))
    try:
        write_private(path, f"{token}\n".encode())
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from None
    return token


def shows(authorization: str, token: str) -> bool:
    """Whether a request's header holds the token; takes as long whatever it holds."""
    given, wanted = (
        hashlib.blake2b(text.encode(errors="replace")).digest() for text in (authorization, f"Bearer {token}")
    )
    return given == wanted

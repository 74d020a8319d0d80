"""Passkeys: WebAuthn registration and login, user verification required (A2ACP-011, A2ACP-014).

A thin shape over the `webauthn` package so that its types and errors stay here. Challenges and stored
credentials are values of the caller; only public keys ever reach this side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import webauthn
from webauthn.helpers import exceptions, structs

from tacit.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Site:
    """Whom a passkey is for: the relay's host name, and the origins its page is served from."""

    rp_id: str
    origins: tuple[str, ...]
    name: str = "Tacit relay"


@dataclass(frozen=True, slots=True)
class Credential:
    """The public half of a passkey."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


class Passkeys:
    """The two ceremonies for one site."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def creation_options(
        self, *, username: str, user_id: bytes, challenge: bytes, exclude: Sequence[bytes] = ()
    ) -> dict[str, Any]:
        """What the browser needs to make a passkey."""
        options = webauthn.generate_registration_options(
            rp_id=self._site.rp_id,
            rp_name=self._site.name,
            user_name=username,
            user_id=user_id,
            challenge=challenge,
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=known) for known in exclude],
        )
        return msgspec.json.decode(webauthn.options_to_json(options))

    def created(self, response: Mapping[str, Any], challenge: bytes) -> Credential:
        """The new passkey, or `Refused`."""
        try:
            found = webauthn.verify_registration_response(
                credential=dict(response),
                expected_challenge=challenge,
                expected_rp_id=self._site.rp_id,
                expected_origin=list(self._site.origins),
                require_user_verification=True,
            )
        except (exceptions.WebAuthnException, ValueError, KeyError, TypeError):
            raise _refused() from None
        return Credential(found.credential_id, found.credential_public_key, found.sign_count)

    def request_options(self, challenge: bytes) -> dict[str, Any]:
        """What the browser needs to log in; it names no credential, so it tells nobody who is registered."""
        options = webauthn.generate_authentication_options(
            rp_id=self._site.rp_id,
            challenge=challenge,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
        return msgspec.json.decode(webauthn.options_to_json(options))

    def asserted(self, response: Mapping[str, Any], challenge: bytes, known: Credential) -> int:
        """The new signature counter of a valid login, or `Refused`."""
        try:
            found = webauthn.verify_authentication_response(
                credential=dict(response),
                expected_challenge=challenge,
                expected_rp_id=self._site.rp_id,
                expected_origin=list(self._site.origins),
                credential_public_key=known.public_key,
                credential_current_sign_count=known.sign_count,
                require_user_verification=True,
            )
        except (exceptions.WebAuthnException, ValueError, KeyError, TypeError):
            raise _refused() from None
        return found.new_sign_count


def _refused() -> Refused:
    return Refused("passkey_refused", "the passkey was not accepted", row="A2ACP-011")

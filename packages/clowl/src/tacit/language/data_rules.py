"""What `body.d` must hold for each performative.

Rows: CLOWL-044, CLOWL-045, CLOWL-047, CLOWL-051, CLOWL-053, CLOWL-056, CLOWL-059, CLOWL-061. One function a
performative, looked up in a table; those without an entry carry data of any shape. Faults here are about a
message whose own shape is right, so the answer is E008 unless a row says otherwise.

`USUAL` holds the short way for data out of the decoder: true when the rule has nothing to say, false or an
error when it has to be asked.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.language.rules import Findings, check_name
from tacit.language.tables import (
    BROADCAST,
    DELEGATION_MODES,
    ERROR_CODES,
    MAX_CHAIN,
    PARENTLESS_ERRORS,
    PERFORMATIVES,
    REPLIES_THAT_NEED_A_PARENT,
    SYSTEM_CID,
    VERSION,
)
from tacit.language.version import is_version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_RETRYABLE: Final = {code: row.retryable for code, row in ERROR_CODES.items()}
_NUMBERS: Final = frozenset({int, float})
_TEXTS: Final = frozenset({str})
_MODES: Final = frozenset(DELEGATION_MODES)
_CODE: Final = re.compile(r"E[0-9]{3}", re.ASCII)


def check_data(value: Mapping[str, Any], found: Findings) -> None:
    """Collect what is wrong with a message's data, and with a missing parent in strict mode."""
    performative = value.get("p")
    data = _data_of(value)
    if not isinstance(performative, str) or data is None:
        return
    rule = DATA_RULES.get(performative)
    if rule is not None:
        rule(data, found)
    if performative == "CAPS":
        _check_announcement(value, found)
    if found.strict and lacks_parent(performative, value.get("pid"), data):
        found.fault("$.pid", f"{performative} must name the message it answers", "CLOWL-045")


def lacks_parent(performative: str, parent: object, data: Mapping[str, Any]) -> bool:
    """Whether a reply that must name its parent does not (CLOWL-045)."""
    if parent or performative not in REPLIES_THAT_NEED_A_PARENT:
        return False
    return performative != "ERR" or data.get("code") not in PARENTLESS_ERRORS


def _data_of(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    body: object = value.get("body")
    if not isinstance(body, dict):
        return None
    data = cast("dict[str, object]", body).get("d")
    return cast("dict[str, Any]", data) if isinstance(data, dict) else None


def _check_err(data: Mapping[str, Any], found: Findings) -> None:
    code, text = data.get("code"), data.get("msg")
    row = ERROR_CODES.get(code) if isinstance(code, str) else None
    if row is None:
        if isinstance(code, str) and _CODE.fullmatch(code):
            found.forgivable("$.body.d.code", "is not one of E001 to E016", "CLOWL-061", "E008")
        else:
            found.fault("$.body.d.code", "must be E and three digits", "CLOWL-059", "E008")
    if not isinstance(text, str) or not text:
        found.fault("$.body.d.msg", "must be a text that is not empty", "CLOWL-059", "E008")
    if "retry" not in data:
        found.forgivable("$.body.d.retry", "is required", "CLOWL-061", "E008")
    elif not isinstance(data["retry"], bool):
        found.fault("$.body.d.retry", "must be true or false", "CLOWL-059", "E008")
    elif data["retry"] and row is not None and not row.retryable:
        found.forgivable("$.body.d.retry", "may not be true for this code", "CLOWL-061", "E008")


def _check_dlgt(data: Mapping[str, Any], found: Findings) -> None:
    mode = data.get("delegation_mode")
    if not isinstance(mode, str) or mode not in _MODES:
        reason = f"must be one of {', '.join(DELEGATION_MODES)}"
        found.fault("$.body.d.delegation_mode", reason, "CLOWL-047", "E008")
    if "reply_to" in data:
        check_name("$.body.d.reply_to", data["reply_to"], "CLOWL-051", found, "E008")
    if "chain" not in data:
        return
    chain = data["chain"]
    if not isinstance(chain, list):
        found.fault("$.body.d.chain", "must be an array of agents", "CLOWL-053", "E008")
        return
    entries = cast("list[object]", chain)
    if len(entries) > MAX_CHAIN:
        found.fault("$.body.d.chain", f"may name at most {MAX_CHAIN} agents", "CLOWL-053", "E015")
    for index, entry in enumerate(entries):
        check_name(f"$.body.d.chain[{index}]", entry, "CLOWL-053", found, "E008")


def _check_prog(data: Mapping[str, Any], found: Findings) -> None:
    if "pct" in data:
        pct = data["pct"]
        if type(pct) not in _NUMBERS or not 0 <= pct <= 100:
            found.fault("$.body.d.pct", "must be a number from 0 to 100", "CLOWL-044", "E008")
    if "note" in data and not isinstance(data["note"], str):
        found.fault("$.body.d.note", "must be a text", "CLOWL-044", "E008")


def _check_ack(data: Mapping[str, Any], found: Findings) -> None:
    if "eta" in data and not isinstance(data["eta"], str):
        found.fault("$.body.d.eta", "must be a text", "CLOWL-044", "E008")


def _check_caps(data: Mapping[str, Any], found: Findings) -> None:
    supports = data.get("supports")
    if not isinstance(supports, list):
        found.fault("$.body.d.supports", "must be an array of task names", "CLOWL-056", "E008")
    else:
        for index, entry in enumerate(cast("list[object]", supports)):
            if not isinstance(entry, str):
                found.fault(f"$.body.d.supports[{index}]", "must be a string", "CLOWL-055", "E008")
    version = data.get("clowl")
    if not isinstance(version, str) or not is_version(version):
        found.fault("$.body.d.clowl", "must be MAJOR.MINOR, such as 0.2", "CLOWL-056", "E008")
    elif version != VERSION:
        found.fault("$.body.d.clowl", "differs from the message's own version", "CLOWL-056", "E014")


def _check_announcement(value: Mapping[str, Any], found: Findings) -> None:
    if value.get("to") != BROADCAST:
        found.warn("$.to", 'is usually "*" for CAPS', "CLOWL-056")
    if value.get("cid") != SYSTEM_CID:
        found.warn("$.cid", 'is usually "system" for CAPS', "CLOWL-056")
    if value["body"].get("t") != "capabilities":
        found.warn("$.body.t", 'is usually "capabilities" for CAPS', "CLOWL-056")


DATA_RULES: Final[Mapping[str, Callable[[Mapping[str, Any], Findings], None]]] = MappingProxyType(
    {"ERR": _check_err, "DLGT": _check_dlgt, "PROG": _check_prog, "ACK": _check_ack, "CAPS": _check_caps}
)


def _usual_err(data: Mapping[str, Any]) -> bool:
    text, retry = data["msg"], data["retry"]
    return (retry is _RETRYABLE[data["code"]] or retry is False) and type(text) is str and text != ""


def _usual_dlgt(data: Mapping[str, Any]) -> bool:
    return data["delegation_mode"] in _MODES and "chain" not in data and "reply_to" not in data


def _usual_prog(data: Mapping[str, Any]) -> bool:
    if "pct" in data:
        pct = data["pct"]
        if type(pct) not in _NUMBERS or not 0 <= pct <= 100:
            return False
    return "note" not in data or type(data["note"]) is str


def _usual_ack(data: Mapping[str, Any]) -> bool:
    return "eta" not in data or type(data["eta"]) is str


def _are_texts(entries: list[object]) -> bool:
    return set(map(type, entries)) <= _TEXTS


def _usual_caps(data: Mapping[str, Any]) -> bool:
    supports = data["supports"]
    return (
        data["clowl"] == VERSION and isinstance(supports, list) and _are_texts(cast("list[object]", supports))
    )


_USUAL: Final = {
    "ERR": _usual_err,
    "DLGT": _usual_dlgt,
    "PROG": _usual_prog,
    "ACK": _usual_ack,
    "CAPS": _usual_caps,
}
USUAL: Final = {performative: _USUAL.get(performative) for performative in PERFORMATIVES}

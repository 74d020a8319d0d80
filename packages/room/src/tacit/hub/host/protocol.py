"""C2A as a conversation: JSON-RPC 2.0 between one harness and the host, whatever carries it.

Rows: C2A-012, C2A-013, C2A-014, C2A-015, C2A-016, C2A-017, C2A-018, C2A-019, C2A-020, C2A-021, C2A-022,
C2A-023, C2A-024, C2A-025, C2A-027, C2A-139, C2A-179, C2A-180, C2A-181, C2A-182, C2A-183, C2A-184. A
request before `initialize` is refused, a notification is never answered, what was not agreed is dropped or
refused. Knows messages, not sockets.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, cast

from tacit.attention.io.state_store import Archive
from tacit.attention.state import records
from tacit.attention.state.records import submitted
from tacit.base.errors import OUTCOME_UNKNOWN, Refused, TacitError, Unavailable
from tacit.base.strict_json import Malformed, parse
from tacit.base.version import version
from tacit.c2a.activity import Activity
from tacit.c2a.errors import INTERNAL, MALFORMED, NO_REQUEST, Refusal, refusal
from tacit.c2a.messages import Connected, Initialize, accepts, read_initialize
from tacit.c2a.negotiation import Agreement, agree, tool_allowed
from tacit.c2a.notifications import (
    UTILITIES,
    Log,
    Progress,
    Status,
    Typing,
    Usage,
    Work,
    read_notification,
)
from tacit.c2a.signals import USUAL
from tacit.c2a.tools import listed
from tacit.hub.host.dispatch import Link, Wire
from tacit.hub.host.tools import from_ledger

if TYPE_CHECKING:
    from tacit.hub.host.ports import SessionPorts
    from tacit.ledger.io.reader import Reader

log: Final = logging.getLogger("tacit.hub")
REQUESTS: Final = frozenset(
    {"initialize", "tools/list", "tools/call", "chat/disposition", "chat/permission", "ping"}
)
"""All that a harness may ask for."""
MOST_ABOUT: Final = 50
"""Events that the detail of a status may be about; one that names more is not shown."""
TOLD_SETTINGS: Final = (
    "compose_quiet_ms",
    "compose_cap_ms",
    "compose_restarts",
    "thread_window_messages",
    "thread_window_chars",
    "claim_ttl_ms",
)
"""The group's numbers that a harness goes by; the rest are the host's alone."""


def error_message(call_id: object, refused: Refusal) -> dict[str, Any]:
    """A refusal as a JSON-RPC answer."""
    return {"jsonrpc": "2.0", "id": call_id, "error": refused.error()}


def internal(call_id: object) -> dict[str, Any]:
    """A fault of ours as a JSON-RPC answer."""
    data = {"code": "internal_error", "message": "a fault of the hub's own"}
    error = {"code": INTERNAL, "message": data["message"], "data": data}
    return {"jsonrpc": "2.0", "id": call_id, "error": error}


class HarnessConversation:
    """One harness, from its first message to its last."""

    def __init__(
        self, ports: SessionPorts, group_id: str, session: str, wire: Wire, transport: str = "websocket"
    ) -> None:
        self._ports = ports
        self._group_id = group_id
        self._session = session
        self._wire = wire
        self._transport = transport
        self.link: Link | None = None

    async def receive(self, text: str | bytes) -> None:
        """Take one message in and answer it, if it wants an answer."""
        try:
            value = parse(text)
        except Malformed as fault:
            self._wire.send(error_message(None, _broken(str(fault), MALFORMED)))
            return
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            given = value.get("id") if isinstance(value, dict) else None
            call_id = given if isinstance(given, (str, int, float)) else None
            self._wire.send(error_message(call_id, _broken('a message says "jsonrpc": "2.0"', NO_REQUEST)))
            return
        message = cast("dict[str, Any]", value)
        if self.link is not None and message.get("method", "ping") != "ping":
            # Accepting and answering pings is the connection's doing; all else is the session's.
            self._ports.host.heard(self.link)
        if "method" not in message:
            self._answered(message)
        elif "id" not in message:
            await self._notified(message)
        else:
            answer = await self.answer(message)
            self._wire.send(answer)

    def _answered(self, message: dict[str, Any]) -> None:
        """Only a plain yes accepts; a refusal is written down, all else is tried again (C2A-030, C2A-160)."""
        link, request_id = self.link, str(message.get("id"))
        if link is None or not link.expects(request_id):
            log.debug("an answer to nothing was dropped")
        elif "error" in message:
            self._ports.host.refused(link, link.answered(request_id, error=True), message["error"])
        elif accepts(message.get("result")):
            link.answered(request_id, error=False)

    async def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The one answer to a request."""
        call_id, params = message.get("id"), message.get("params", {})
        if not isinstance(message.get("method"), str) or not isinstance(call_id, (str, int, float)):
            return error_message(None, _broken("a request has a method and an id", NO_REQUEST))
        if not isinstance(params, dict):
            return error_message(call_id, _broken("params is an object"))
        try:
            result = await self._result(message["method"], cast("dict[str, Any]", params))
        except Refused as refused:
            return error_message(call_id, from_ledger(refused))
        except TacitError as error:
            return error_message(call_id, _not_now(error))
        except Exception:
            # The last line of defence: answered as `internal_error` and logged, the link lives.
            log.exception("a call failed unexpectedly")
            return internal(call_id)
        if isinstance(result, Refusal):
            self._ports.refused(result.code)
            return error_message(call_id, result)
        return {"jsonrpc": "2.0", "id": call_id, "result": result}

    async def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | Refusal:
        if method == "initialize":
            return await self._initialize(params)
        link = self.link
        if link is None:
            return refusal("not_initialized", "say initialize first", "C2A-018", remedy="send initialize")
        if method not in REQUESTS:
            return refusal("unknown_op", "the host does not know this method", "C2A-017")
        match method:
            case "tools/list":
                own = link.agreement.signals.own
                return {"tools": [listed(tool, own) for tool in link.agreement.tools()]}
            case "tools/call":
                return await self._call(link, params)
            case "ping":
                return {}
            case _:
                return await self._ports.tools.call(
                    self._group_id, self._session, method, params, link.agreement.version
                )

    async def _call(self, link: Link, params: dict[str, Any]) -> dict[str, Any] | Refusal:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            return refusal("invalid_request", "a call has a name and arguments", "C2A-017")
        refused = tool_allowed(link.agreement, name)
        if refused is not None:
            return refused
        given, agreement = cast("dict[str, Any]", arguments), link.agreement
        signals = None if agreement.signals is USUAL else agreement.signals
        return await self._ports.tools.call(
            self._group_id, self._session, name, given, agreement.version, signals
        )

    async def _initialize(self, params: dict[str, Any]) -> dict[str, Any] | Refusal:
        if self.link is not None and self._transport == "websocket":
            return refusal("invalid_request", "this connection is initialized already", "C2A-018")
        agreement = agree(params)
        if isinstance(agreement, Refusal):
            return agreement
        greeting = read_initialize(params)
        last = greeting.last_acked if isinstance(greeting, Initialize) else None
        resumed = await self._resumed(last, agreement) if last is not None else None
        if resumed is not None:
            return resumed
        answer, per_minute = await self._ports.ledger.read(lambda reader: self._welcome(reader, agreement))
        self.link = Link(
            self._session,
            self._group_id,
            agreement,
            self._wire,
            per_minute=per_minute,
            accepted=self._ports.host.accepted,
        )
        self.link.was_greeted = True
        if self._transport == "http":
            # A plain request beside a live connection changes nothing of what was agreed on that one.
            if self._ports.host.link(self._group_id, self._session) is None:
                await self._ports.host.record_session(self.link)
        else:
            await self._ports.host.attach(self.link)
        return answer

    async def _resumed(self, last: str, agreement: Agreement) -> Refusal | None:
        """A peer may say what it has; the host's own record decides about everything else (C2A-027).

        One that acknowledges speaks of that event alone, in the form in which it had it; one that does not
        (C2A-020) has everything up to it.
        """

        def query(reader: Reader) -> list[str] | None:
            archive = Archive.on(reader, reader.group(self._group_id))
            found = archive.found(last)
            if found is None or not found.visible_to(self._session):
                return None
            named = archive.attention.obligations.get(last, self._session)
            if named is None:
                return []
            if agreement.has("delivery", "ack"):
                return [named.event_id] if named.live and not named.accepted and named.attempt == 1 else []
            waiting = archive.attention.obligations.waiting_of(self._session)
            return [
                obligation.event_id for obligation in waiting if obligation.request_id <= named.request_id
            ]

        known = await self._ports.ledger.read(query)
        if known is None:
            return refusal("event_not_found", "resume names an event that is unknown here", "C2A-027")
        if known:
            record = records.AcceptedRecord(session=self._session, event_ids=known, for_=[self._session])
            await self._ports.ledger.append(submitted(self._group_id, [record])[0])
        return None

    def _welcome(self, reader: Reader, agreement: Agreement) -> tuple[dict[str, Any], int]:
        group = reader.group(self._group_id)
        settings = Archive.on(reader, group).attention.settings
        actor = group.actor(self._session)
        names = [actor.title] if actor is not None and actor.title else []
        told = {
            "id": self._session,
            "group_id": self._group_id,
            "group": group.title,
            "names": names,
            "role": actor.role if actor is not None else None,
            "roles": list(actor.roles) if actor is not None else [],
            "settings": {name: getattr(settings, name) for name in TOLD_SETTINGS},
            "tells": ["continued"],
            "hears": ["work"],
        }
        server = {"name": "tacit", "version": version()}
        answer = Connected(agreement.version, agreement.told(), told, server)
        return answer.members(), settings.injected_per_minute

    # -- notifications: never answered, and dropped when they make no sense

    async def _notified(self, message: dict[str, Any]) -> None:
        link, params = self.link, message.get("params", {})
        if link is None or not isinstance(params, dict):
            return
        given = cast("dict[str, Any]", params)
        try:
            await self._heed(link, str(message.get("method")), given)
        except TacitError as error:
            log.info("a notification was dropped", extra={"fault": type(error).__name__})

    async def _heed(self, link: Link, method: str, params: dict[str, Any]) -> None:
        told = read_notification(method, params)
        utility = UTILITIES.get(type(told))
        if utility is not None and not link.agreement.has("utilities", utility):
            told = None
        match told:
            case Progress():
                await self._ports.tools.call(
                    self._group_id, self._session, "chat.progress", params, link.agreement.version
                )
            case Log():
                await self._log(told)
            case Usage():
                await self._usage(told)
            case Work():
                await self._ports.host.report_work(link, told)
            case Status(status, detail, event_ids):
                about = event_ids or (await self._private_in_hand(link) if detail else ())
                said = detail[:200] if len(event_ids) <= MOST_ABOUT else ""
                link.status, link.detail, link.about = status, said, about
                self._ports.presence(self._group_id, self._session, status)
            case Activity():
                await self._ports.activities.told(link, told)
            case Typing(conversation):
                await self._ports.type_in(self._group_id, self._session, conversation or None)
            case _:
                log.debug("a notification was dropped")

    async def _private_in_hand(self, link: Link) -> tuple[str, ...]:
        """What the session has to do in private: words that name no event may be about any of it."""

        def query(reader: Reader) -> tuple[str, ...]:
            archive = Archive.on(reader, reader.group(self._group_id))
            obligations = archive.attention.obligations
            open_ = {duty.event_id for duty in obligations if duty.session == self._session and duty.live}
            stored = {
                event_id: archive.found(archive.original(event_id)) for event_id in {*open_, *link.work}
            }
            return tuple(event_id for event_id, event in stored.items() if event is None or event.private)

        return await self._ports.ledger.read(query)

    async def _log(self, told: Log) -> None:
        details = {"level": told.level, "message": told.message[:2000]}
        audit = records.AuditRecord(what="log", session=self._session, details=details, for_=[self._session])
        await self._ports.ledger.append(submitted(self._group_id, [audit])[0])

    async def _usage(self, told: Usage) -> None:
        record = records.UsageRecord(
            session=self._session,
            turn=told.turn[:200],
            event_ids=list(told.event_ids)[:50],
            tokens_in=told.tokens_in,
            tokens_out=told.tokens_out,
            tokens_cached=told.tokens_cached,
            prompt_bytes=told.prompt_bytes,
            duration_ms=told.duration_ms,
            cost=told.cost,
            currency=told.currency[:8],
            model=told.model[:100],
            driver=told.driver[:40],
            estimated=told.estimated,
            for_=[self._session],
        )
        await self._ports.ledger.append(submitted(self._group_id, [record])[0])


def _broken(message: str, reason: str = "") -> Refusal:
    details = {"reason": reason} if reason else {}
    return refusal("invalid_request", message, "C2A-012", **details)


def _not_now(error: TacitError) -> Refusal:
    if isinstance(error, Unavailable) and error.unknown:
        words = "whether this happened is not known; look before you ask again"
        return refusal("daemon_unavailable", words, "C2A-016", reason=OUTCOME_UNKNOWN)
    return refusal("daemon_unavailable", "the hub cannot do this now; try again", "C2A-016")

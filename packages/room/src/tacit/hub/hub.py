"""One hub: the parts, put together. No rule lives here."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tacit.attention.io.read_tools import Attendance
from tacit.base.errors import TacitError
from tacit.base.io.private_file import write_private
from tacit.base.io.time_service import TimeService, even_time, time_of
from tacit.base.moment import SECOND, Moment
from tacit.hub.agents.crew import Crew
from tacit.hub.agents.personal_agent import PersonalAgent
from tacit.hub.bounds.quotas import CAUSED, Charge, DoorTurns, Quotas, RateLimit, charged, day_of
from tacit.hub.bounds.turns import ReadTurns
from tacit.hub.host.activities import CARD_BYTES, Activities, within
from tacit.hub.host.hooks import Webhooks
from tacit.hub.host.host import Host
from tacit.hub.host.ports import HookPorts
from tacit.hub.host.tools import Tools
from tacit.hub.live import Live
from tacit.hub.nodes.codec import AgentInvited, RedeemCode, ShowTurns
from tacit.hub.nodes.neighbours import Neighbours
from tacit.hub.people.all_links import AllLinks
from tacit.hub.people.credentials import (
    LOCAL,
    Browsers,
    Credential,
    Registry,
    StoredCredentials,
    digest,
    new_token,
    stored,
)
from tacit.hub.people.sign_in_links import SignInLinks
from tacit.hub.reader.link import ReaderPool
from tacit.hub.store.async_ledger import AsyncLedger, CommandLines
from tacit.hub.store.ledger_store import open_ledger
from tacit.hub.store.wakefulness import Wakefulness
from tacit.hub.telemetry.metrics import Metrics
from tacit.ledger.codes import denied
from tacit.ledger.commands import HUB, AdoptOwnerToken, IssueCredential, Ping
from tacit.ledger.io.store import StoreOptions
from tacit.ledger.principal import SYSTEM, USER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from pathlib import Path

    import apsw

    from tacit.attention.send.tools import EphemeralWords
    from tacit.hub.config import HubConfig
    from tacit.hub.nodes.codec import Finding, Inquiry
    from tacit.hub.nodes.transport import NodeTransport
    from tacit.ledger.envelope import StoredEvent
    from tacit.ledger.standing import StreamStanding
    from tacit.ledger.state import Group

log: Final = logging.getLogger("tacit.hub")
OWNER_FILE: Final = "owner.token"
SHORTEST_TOKEN: Final = 32
TRIED_AGAIN: Final = 1.0
"""Seconds before what a node could not do is tried again."""
MINDED_EVERY: Final = 3600.0
"""Seconds between two looks at the machine's clock and at what was left alone for too long."""
BETWEEN_RESTS: Final = 5.0
"""Seconds between two looks which groups nobody reads any more."""
BETWEEN_JUMPS: Final = 3_600 * SECOND
"""How long the groups hear nothing more of a clock that is set again and again."""


def _kept_token(path: Path) -> str | None:
    """The owner's token from its file; None when the file is gone, or holds too little to be a secret."""
    if not path.exists():
        return None
    token = path.read_text(encoding="ascii", errors="replace").strip()
    return token if len(token) >= SHORTEST_TOKEN and token.isascii() else None


def _keep_token(path: Path, token: str) -> None:
    write_private(path, f"{token}\n".encode("ascii"))


def _is_revoked(connection: apsw.Connection, token: str) -> bool:
    row = connection.execute(
        "SELECT revoked FROM credentials WHERE token_hash=?", (digest(token),)
    ).fetchone()
    return row is not None and row[0] is not None


def _charged(event: StoredEvent) -> Charge:
    return charged(event.kind, event.by, event.data if event.kind in CAUSED else {}, len(event.raw))


class RunningHub:
    """Everything that one running hub owns."""

    def __init__(self, config: HubConfig, options: StoreOptions | None = None) -> None:
        config.check()
        self.config = config
        own = StoreOptions(settings=config.settings, clock=TimeService(is_even=True))
        ledger = open_ledger(config, options or own)
        self.store, self.nodes = ledger.store, ledger.nodes
        self.metrics = Metrics()
        self.live = Live(
            self.metrics, config.limits.follower_bytes, config.limits.sockets.bytes_per_credential
        )
        limits = config.limits
        turns = ReadTurns(self.store.options.readers, limits.reads_waiting, limits.read_seconds)
        self.ledger = AsyncLedger(self.store, self.live, self.metrics, turns)
        if ledger.process is not None:
            ledger.process.on_restart = self._writer_restarted
        self.host = Host(self.store, self.ledger)
        self.host.presence = self.live.presence
        self.ledger.on_committed = self.host.committed
        self.ledger.on_removed = self._removed
        self.ledger.on_missed = self._missed
        self.activities = Activities(self.ledger, self.host, self._show)
        self.host.gone = self.activities.gone
        self.tools = Tools(self.ledger)
        self.readers: ReaderPool | None = None
        if config.readers:
            processes = ReadTurns(config.readers, limits.reads_waiting, limits.read_seconds)
            readers = self.readers = ReaderPool(self.store, config.readers, processes)
            self.tools.look = lambda call: self.ledger.whole(lambda: readers.look(call))
        self.metrics.watch_turns(turns, *([self.readers.turns] if self.readers is not None else []))
        self.tools.whisper = self._whisper
        self.tools.here = self._here
        opened = self.store.options
        self.hooks = Webhooks(HookPorts(self.ledger, self.host, opened.clock, opened.entropy))
        self.registry = Registry(self.store.options.entropy)
        self._quiet_until = Moment(0)
        self.clock = time_of(opened.clock)
        self.clock.remember_in(config.data, self._newest)
        self.links = SignInLinks(self.store.options.entropy)
        self.all_links = AllLinks(self.links)
        self.crew = Crew(config, self.store.options, self.registry, self.ledger, self.drop_tokens)
        self.browsers = Browsers(self.registry, self.ledger, self.clock, self.host.spawn, self.drop_tokens)
        self.on_agent: dict[Callable[[dict[str, Any]], None], None] = {}
        self.agent = PersonalAgent(config.agent, config.data / "agent.log", self._agent_changed)
        self.door = DoorTurns()
        self.rate = RateLimit(limits.requests_per_second, limits.burst, "requests from this credential")
        self.sign_in_rate = RateLimit(
            limits.failed_sign_ins_per_second, limits.failed_sign_ins_per_second * 6, "failed sign-ins"
        )
        self.on_revoked: dict[Callable[[str], None], None] = {}
        self.on_stop: dict[Callable[[], None], None] = {}
        self.is_first_start = False
        self.neighbours: Neighbours | None = None
        if self.nodes is not None:
            self.neighbours = Neighbours(self.nodes, self.host, self.live)
            self._take_part_in(self.nodes, self.neighbours)

    async def stream_standing(self) -> StreamStanding | None:
        """How the ledger's stream stands; None where the ledger is in the folder."""
        if self.nodes is None or self.nodes.standing is None:
            return None
        return await asyncio.get_running_loop().run_in_executor(None, self.nodes.standing)

    def _take_part_in(self, nodes: NodeTransport, neighbours: Neighbours) -> None:
        """One of several nodes: act for all of them in the groups that this one writes to."""
        nodes.is_stopping = lambda: self.ledger.is_closing
        nodes.on_taken = self.ledger.expect_one
        nodes.answer = self.ledger.answer
        nodes.on_record = lambda: self._see_to(self._load_records)
        nodes.on_change = self._groups_changed
        nodes.on_free = lambda: self._see_to(partial(self._adopt, nodes))
        self.host.acts = nodes.holds
        self.ledger.awake = Wakefulness()
        self.ledger.lines = CommandLines(bounded=False)
        self.rate.nodes = self.sign_in_rate.nodes = neighbours.count
        self.all_links.inquiries = neighbours.inquiries
        self.activities.inquiries = neighbours.inquiries
        neighbours.inquiries.answer = self._answer
        neighbours.on_left = lambda group_id, session: self.host.spawn(self.hooks.back(group_id, session))

    async def _adopt(self, nodes: NodeTransport) -> None:
        """Take the groups that nobody has and for which somebody must act; others wait to be written to."""
        # What is only noted may be what somebody must act upon.
        await self.ledger.awaken_again()
        nodes.claim({HUB} | await self.host.timed() | await self.hooks.groups())

    def _groups_changed(self, groups: frozenset[str], held: bool) -> None:
        self._see_to(partial(self._act if held else self._follow, groups))

    def _see_to(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done for the node beside: what cannot be done now is tried until it is."""
        self.host.spawn(self._insist(work))

    async def _insist(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while not self.ledger.is_closing:
            try:
                await work()
            except TacitError as fault:
                if not self.ledger.is_closing:
                    log.warning("this node's work waits", extra={"fault": type(fault).__name__})
                    await asyncio.sleep(TRIED_AGAIN)
            else:
                return

    async def _act(self, groups: frozenset[str]) -> None:
        """This node writes here now: its writer is told who is here, time and webhooks are its to see to."""
        groups = frozenset(filter(self.host.acts, groups))  # by now another may
        await self.ledger.record(Ping())  # the writer has read the stream to its end by then
        for group_id in groups - {HUB}:
            self.host.tell_writer(group_id)
        await self.host.take_up_time(groups)
        await self.hooks.sync()

    async def _follow(self, groups: frozenset[str]) -> None:
        """Another node writes here, or none: what acts for all is its business."""
        self.host.leave_time(groups)
        await self.hooks.sync()

    async def give_way(self) -> None:
        """Let another node write as soon as nothing is left to do here; called when nothing more is taken."""
        if self.nodes is None or self.neighbours is None:
            return
        self.neighbours.leave()
        loop = asyncio.get_running_loop()
        if not await loop.run_in_executor(None, self.store.is_erasing):
            await loop.run_in_executor(None, self.nodes.give_up)

    async def open(self) -> None:
        """Start the writer, load credentials, make sure that the owner has a token."""
        await self.ledger.open()
        await self._load_credentials()
        await self._make_sure_of_owner()
        await self._mind_clock()
        await self._count_today()
        self._keep_an_eye_on_the_clock()
        if self.readers is not None:
            await self.readers.open()
        self.host.is_unsure = bool(self.clock.look().leapt)
        await self.host.open()
        await self.hooks.open()
        self.host.spawn(self._keep_minding_clock())
        if self.neighbours is not None:
            self.host.spawn(self.neighbours.run())
        if self.nodes is not None:
            self._see_to(partial(self._adopt, self.nodes))
            self.host.spawn(self._let_rest())

    def _newest(self) -> int | None:
        """The newest moment that anything in the ledger bears; None while nothing does."""
        last = [group.last_ts for group in self.store.read(lambda reader: reader.groups())]
        return max([*last, *(used for _, _, used in self.registry.browsers())], default=None)

    async def _keep_minding_clock(self) -> None:
        """What nobody looks at for long would else seem to have leapt."""
        while True:
            await asyncio.sleep(MINDED_EVERY)
            await self._mind_clock()

    async def _mind_clock(self) -> None:
        """End what was left alone for too long; a clock that leapt ends nothing, and the groups are told."""
        standing = await self.stream_standing()
        if standing is not None and standing.reached:
            off = round(standing.clock_off * SECOND)
            self.clock.witness(Moment(self.clock.both()[0] - off))
        if news := self.clock.news():
            log.warning("%s", news)
            loop = asyncio.get_running_loop()
            for notice in await loop.run_in_executor(None, self.store.doubt_notices, news):
                await self.ledger.append(notice)
        await self.browsers.end_idle()

    async def _let_rest(self) -> None:
        """What nobody reads here any more need not be applied here."""
        while True:
            await asyncio.sleep(BETWEEN_RESTS)
            self.ledger.let_rest({*self.live.groups(), *self.host.groups()})

    async def _count_today(self) -> None:
        """The quotas go on where the ledger says they stand: a restart forgives nothing."""
        now = self.store.options.clock.now()
        quotas, today = Quotas(self.config.limits.quotas), day_of(now)
        for group in await self.ledger.read(lambda reader: reader.groups()):
            if group.last_ts >= today:
                quotas.count(group.group_id, await self._appended_since(group, today), now)
        self.ledger.quotas = quotas
        self.metrics.watch_quotas(quotas, self.store.options.clock)

    def _keep_an_eye_on_the_clock(self) -> None:
        clock = even_time(self.store.options.clock)
        if clock is None:
            return
        self.metrics.watch_clock(clock)
        loop = asyncio.get_running_loop()

        def heard(by: int) -> None:
            loop.call_soon_threadsafe(self._clock_jumped, by)

        clock.on_jump = heard
        if clock.jumps:
            self._clock_jumped(-clock.reckoning().ahead)

    def _clock_jumped(self, by: int) -> None:
        """Tell the groups that the machine's clock was set, once in a while however often it is."""
        now = self.store.options.clock.now()
        log.warning("the machine's clock was set", extra={"by_seconds": by // SECOND})
        if now < self._quiet_until or self.ledger.is_closing:
            return
        self._quiet_until = Moment(now + BETWEEN_JUMPS)
        self.host.spawn(self._tell_of_jump(by // SECOND))

    async def _tell_of_jump(self, by_seconds: int) -> None:
        loop = asyncio.get_running_loop()
        for notice in await self.ledger.whole(
            lambda: loop.run_in_executor(None, self.store.clock_notices, by_seconds)
        ):
            await self.ledger.append(notice)

    async def _appended_since(self, group: Group, moment: Moment) -> list[Charge]:
        return await self.ledger.read(lambda reader: reader.appended_since(group, moment, _charged))

    async def _was_revoked(self, token: str) -> bool:
        return await self.ledger.read(lambda reader: _is_revoked(reader.connection, token))

    async def _make_sure_of_owner(self) -> None:
        path = self.config.data / OWNER_FILE
        token = _kept_token(path)
        if token is None or await self._was_revoked(token):
            self.is_first_start = True
            token = new_token(self.store.options.entropy)
            _keep_token(path, token)
        if self.registry.find(token) is None:
            kept = digest(token)
            token_id = "tok_owner_" + kept[:6].hex()
            if self.nodes is not None and self.registry.of_owner():
                # The owner came in by another node: this one lets them in too, and ends nothing.
                await self.ledger.record(IssueCredential(kept, token_id, USER))
            else:
                await self.ledger.record(AdoptOwnerToken(kept, token_id, USER))
            await self._load_credentials()

    @property
    def owner_token(self) -> str:
        """The owner's token, from its file."""
        return (self.config.data / OWNER_FILE).read_text(encoding="ascii").strip()

    def trusted(self, hint: str | None) -> Credential:
        """Under local trust a caller is who it says it is (CCCS-043), but never the hub itself."""
        if hint == SYSTEM:
            raise denied("`system` is the hub's own name", "CCCS-043")
        return Credential(LOCAL, hint or USER)

    def as_hinted(self, credential: Credential, by: str) -> Credential:
        """A hint in the request counts under local trust alone; elsewhere it must agree (CCCS-042)."""
        if credential.token_id == LOCAL:
            return self.trusted(by)
        if by != credential.principal:
            raise denied("`by` comes from the credential and cannot be chosen", "CCCS-042")
        return credential

    def type_in(
        self, group_id: str, by: str, conversation_id: str | None, parties: frozenset[str] | None
    ) -> None:
        """Somebody is writing: people see it, and harnesses wait (C2A-084); in private the parties alone."""
        self.live.signal(group_id, by, conversation_id, parties)
        self.host.typing(group_id, by, conversation_id, parties)
        if self.neighbours is not None:
            self.neighbours.types(group_id, by, conversation_id, parties)

    def _here(self, group_id: str) -> Attendance:
        """Who is connected: agents as their harnesses say, people by their open windows."""
        agents = self.host.statuses(group_id)
        present = self.live.present(group_id)
        return Attendance(agents, {one: status for status, names in present.items() for one in names})

    def _whisper(self, group_id: str, words: EphemeralWords) -> None:
        """An ephemeral message goes to whoever is there, and is then gone (C2A-217)."""
        record = words.record
        said = {
            "group_id": group_id,
            "by": record.session,
            "where": record.where,
            "text": words.text,
        }
        parties = set(record.for_) or None
        self.live.whisper(group_id, record.session, said, parties)
        self.host.whisper(group_id, record.session, said, parties)
        if self.neighbours is not None:
            self.neighbours.whispers(group_id, record.session, said, parties)

    def _show(self, group_id: str, said: dict[str, Any], parties: frozenset[str] | None) -> None:
        """What an agent does, for the people who look on at any node."""
        self.live.activity(group_id, said, parties)
        if self.neighbours is not None:
            self.neighbours.acts(group_id, said, parties)

    async def _answer(self, inquiry: Inquiry) -> Finding:
        """What this node alone has, for another that asks."""
        match inquiry:
            case ShowTurns():
                return within(await self.activities.here(inquiry), CARD_BYTES)
            case RedeemCode(code_hash):
                invited = await self.crew.redeem(code_hash)
                return AgentInvited(invited.group_id, invited.name) if invited is not None else None
            case _:
                return self.all_links.here(inquiry)

    def _agent_changed(self, change: dict[str, Any]) -> None:
        """The owner's agent has changed: whoever shows it to the owner is told, and nobody else."""
        for listener in list(self.on_agent):
            listener(change)

    def _writer_restarted(self) -> None:
        """Of what the last one wrote nobody here may have heard: all begin again from what they have."""
        self.live.resume()
        self.host.begin_anew()
        self._see_to(self._load_records)

    def _removed(self, group_id: str, actor_id: str) -> None:
        self.drop_tokens(actor=(group_id, actor_id))
        self.hooks.forget(group_id, actor_id)

    def _missed(self, group_ids: Iterable[str], records: bool) -> None:
        """Something was written of which nobody here had heard: do what is still to be done about it."""
        self.host.wake(group_ids)
        if records:
            self._see_to(self._load_records)

    async def _load_credentials(self) -> frozenset[str]:
        """Know what is stored of them; which have died since it was last looked."""

        def read() -> Awaitable[StoredCredentials]:
            return self.ledger.read(lambda reader: stored(reader.connection))

        return await self.registry.load(read)

    async def _load_records(self) -> None:
        for dead in await self._load_credentials():
            self.links.drop(token_id=dead)
            for listener in list(self.on_revoked):
                listener(dead)
        await self.hooks.sync()

    def drop_tokens(self, *, token_id: str | None = None, actor: tuple[str, str] | None = None) -> None:
        """Forget tokens and the links of them, and end the connections that used them."""
        self.links.drop(token_id=token_id, actor=actor)
        for dead in self.registry.drop(token_id=token_id, actor=actor):
            for listener in list(self.on_revoked):
                listener(dead)

    def stop_reading(self) -> None:
        """Read nothing more for anybody: whoever waits is told that the hub is stopping."""
        self.ledger.turns.close()
        if self.readers is not None:
            self.readers.turns.close()
            self.readers.close()

    async def close(self) -> None:
        """Take nothing more, tell followers where to resume, finish every commit."""
        self.clock.on_jump = lambda _by: None
        self.ledger.close()
        self.live.close()
        self.hooks.close()
        await self.host.close()
        self.stop_reading()
        await asyncio.get_running_loop().run_in_executor(None, self.store.close)
        log.info("stopped")

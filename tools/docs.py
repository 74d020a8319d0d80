"""Reference pages, and what the page knows of signals and of the agent's operations, made from the code's own tables.

python tools/docs.py           write docs/reference/, web/src/state/signals_table.ts and web/src/net/agent_operations.ts
python tools/docs.py --check   fail when a page is stale, or a page links to nothing
"""

import ast
import dataclasses
import inspect
import itertools
import re
import sys
from typing import Any, get_args

import click
import msgspec

from tacit.a2acp.consent.tiers import DEFAULT
from tacit.a2acp.threads.states import TERMINAL, TRANSITIONS, State
from tacit.agent.features import NOTICES
from tacit.agent.shell.commands.arrange_show import TITLES
from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.base.callers import SocketLimits
from tacit.base.commands.lazy import Lazy
from tacit.base.commands.main import tacit
from tacit.base.moment import SECOND
from tacit.c2a.errors import number_of
from tacit.c2a.signals import SIGNALS as C2A_SIGNALS
from tacit.hub.bounds.quotas import QuotaLimits
from tacit.hub.config import Limits as HubLimits
from tacit.hub.doors.routes import OPERATIONS, RPC_ONLY
from tacit.ledger.codes import CODES
from tacit.ledger.kinds import KINDS
from tacit.ledger.principal import PrincipalKind
from tacit.relay.settings import DAY, HOUR, MINUTE, RelayLimits
from tools.agent_types import agent_operations_table
from tools.places import ROOT, pages

NOTE = "<!-- Made by tools/docs.py; edit the tables in the code instead. -->\n"
FOLLOW = (
    "| `follow` | ws; SSE: `GET …/events` with `Accept: text/event-stream` | as `events` | `{subscription}`, "
    "then notifications `event {subscription, event}`; "
    "`cut {subscription, since_seq, reason}` before the hub ends it |"
)
AWAY = (
    "| `away` | ws | away | Whoever sits at this connection looks elsewhere (`true`) or is back (`false`); a signal, "
    "not an event, forgotten with the connection. A person is online while one of their connections is looked at |"
)
SIGNALS = """
## Signals

What is no event reaches followers of a group as notifications on the WebSocket; nothing of it is kept.

| notification | meaning |
|---|---|
| `typing {group_id, by, conversation_id}` | somebody is writing; in private talk only its parties hear it |
| `presence {group_id, actor_id, status}` | a person is `online`, `away` or `offline` by now (told when it has settled for 0.3 s), \
or an agent came, went or has something to do. Without `actor_id` many changed at once: ask `presence` |
| `ephemeral {group_id, by, where, text}` | said to whoever is here, kept nowhere |
| `agent {change, …}` | the owner's personal agent has changed: a `question` (`question_id`, `open`, `via`), a `thread`, a `notice`, \
a `reminder`, `settings`, the `agent` itself (`state`), or `everything`: look again. By ids alone, to every connection of the \
owner's own token and to no other, whatever it follows |
"""


def http_page() -> str:
    """Every operation."""
    lines = [
        NOTE,
        "# The hub's operations",
        "",
        "Over HTTP with `Authorization: Bearer TOKEN`, and as JSON-RPC 2.0 methods of the same names on the",
        "WebSocket `/v1/ws` (there also `authenticate`, `follow`, `unfollow` and the methods marked ws). The",
        "full description with all types is at `GET /v1/openapi.json`.",
        "",
        "| method | HTTP | parameters | meaning |",
        "|---|---|---|---|",
    ]
    for one in OPERATIONS:
        required = set(one.params.__struct_fields__) - {
            name
            for name, default in zip(
                reversed(one.params.__struct_fields__),
                reversed(one.params.__struct_defaults__),
                strict=False,
            )
            if repr(default) != "NODEFAULT"
        }
        names = " ".join(name if name in required else f"{name}?" for name in one.params.__struct_fields__)
        lines.append(f"| `{one.name}` | `{one.method} {one.path}` | {names or '-'} | {one.summary} |")
    for name, (params, run) in RPC_ONLY.items():
        lines.append(
            f"| `{name}` | ws | {' '.join(params.__struct_fields__)} | {(run.__doc__ or '').strip()} |"
        )
    lines += [
        AWAY,
        FOLLOW,
        "| - | `POST /v1/groups/{group_id}/blobs` | body: the bytes | store a blob; its path is its sha256 |",
        "| - | `GET /v1/groups/{group_id}/blobs/{path}` | | a blob's bytes |",
        "| - | `GET /healthz`, `GET /metrics`, `GET /v1/openapi.json` | | health, Prometheus (for the owner), description |",
        SIGNALS,
    ]
    return "\n".join(lines)


def codes_page() -> str:
    """Every error code."""
    lines = [
        NOTE,
        "# Error codes",
        "",
        "Errors are `{code, message, details?}` on every transport; in JSON-RPC that object is `error.data`.",
        "`details.row` names the requirement that refused. An error always means that nothing was appended.",
        "",
        "| code | HTTP | JSON-RPC | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {code.http} | {number_of(name)} | {code.meaning} |" for name, code in CODES.items()
    ]
    return "\n".join([*lines, ""])


def kinds_page() -> str:
    """Every kind of event."""
    lines = [
        NOTE,
        "# Kinds of events",
        "",
        "Own kinds are named `x.<vendor>.<name>` or `vendor.<name>.<what>`; they are stored, not understood.",
        "",
        "| kind | profile | who writes it | members of `data` |",
        "|---|---|---|---|",
    ]
    order = list(PrincipalKind)
    for name, rule in KINDS.items():
        writers = ", ".join(kind.value for kind in order if kind in rule.writers)
        writers += ", a foreman" if rule.foreman_may else ""
        fields = " ".join(f"`{field}`" for field in rule.model.__struct_fields__)
        lines.append(f"| `{name}` | {rule.profile} | {writers} | {fields} |")
    return "\n".join([*lines, ""])


def _help(command: click.Command, path: str, context: click.Context) -> list[str]:
    inner = click.Context(command, info_name=path, parent=None, max_content_width=100, terminal_width=100)
    inner.help_option_names = context.help_option_names
    lines = [f"## {path}", "", "```text", command.get_help(inner).rstrip(), "```", ""]
    if isinstance(command, click.Group) and path != "tacit":
        for name in command.places if isinstance(command, Lazy) else command.commands:
            child = command.get_command(inner, name)
            lines += _help(child, f"{path} {name}", context) if child is not None else []
    return lines


def cli_page() -> str:
    """The help of every command."""
    context = click.Context(tacit, info_name="tacit", help_option_names=["-h", "--help"])
    lines = [NOTE, "# The command line", ""]
    for name in tacit.list_commands(context):
        command = tacit.get_command(context, name)
        if command is not None:
            lines += _help(command, f"tacit {name}", context)
    return "\n".join(lines)


def _fields(shape: Any) -> str:
    """The fields of a request; of several kinds of request, each with its tag."""
    if not isinstance(shape, type):
        return "; ".join(
            f"`{kind.__struct_config__.tag_field}={kind.__struct_config__.tag}` {_fields(kind)}".strip()
            for kind in get_args(shape)
        )
    return " ".join(
        f"`{field.encode_name}`" if field.required else f"[`{field.encode_name}`]"
        for field in msgspec.structs.fields(shape)
    )


def _for_the_socket_alone() -> list[str]:
    shapes = [(operation.here, operation.params) for operation in AGENT_OPERATIONS.values() if operation.here]
    return [
        name
        for here, params in shapes
        for name in here.__struct_fields__
        if name not in params.__struct_fields__
    ]


def agent_page() -> str:
    """The personal agent's tables: states of a thread, tiers, questions, notices."""
    lines = [
        NOTE,
        "# The personal agent's tables",
        "",
        "[docs/agent.md](../agent.md) says what they are for.",
        "",
        "## States of a thread",
        "",
        "Each way from one state to another, by its cause. A cause that a state does not know moves nothing and is",
        "written down. Ended for good: " + ", ".join(f"`{one}`" for one in sorted(TERMINAL)) + ".",
        "",
        "```mermaid",
        "stateDiagram-v2",
        f"    [*] --> {State.INITIATED}",
    ]
    ways: dict[tuple[State, State], list[str]] = {}
    for (before, cause), after in TRANSITIONS.items():
        if before is not after:
            ways.setdefault((before, after), []).append(cause.value)
    lines += [f"    {before} --> {after}: {', '.join(causes)}" for (before, after), causes in ways.items()]
    lines += [*(f"    {one} --> [*]" for one in sorted(TERMINAL)), "```", "", "## What may be shared", ""]
    lines += ["A new owner's permissions; `tacit agent permissions` shows and changes them.", ""]
    lines += ["| tier | fields |", "|---|---|"]
    for title, names in (
        ("always", DEFAULT.always_share),
        ("ask", DEFAULT.ask_first),
        ("never", DEFAULT.never_share),
    ):
        lines.append(f"| {title} | {', '.join(f'`{name}`' for name in names)} |")
    lines += ["", "## Questions", "", "| kind | as `tacit agent pending` puts it |", "|---|---|"]
    lines += [f"| `{kind}` | {title} … |" for kind, title in TITLES.items()]
    lines += ["", "## Notices", "", "| code | a thread … |", "|---|---|"]
    lines += [f"| `{code}` | {text} |" for code, text in NOTICES.items()]
    lines += ["", "## What it can be asked", ""]
    closed = ", ".join(f"`{name}`" for name in _for_the_socket_alone())
    lines += [
        f"A field in brackets may be left out; {closed} are for the owner's terminal and programs alone."
    ]
    lines += ["", "| operation | what it does | fields | also at |", "|---|---|---|---|"]
    for operation in AGENT_OPERATIONS.values():
        doors = [name for name, is_open in (("page", operation.page), ("hub", operation.hub)) if is_open]
        fields = _fields(operation.here or operation.params)
        lines.append(f"| `{operation.command}` | {operation.about} | {fields} | {', '.join(doors)} |")
    return "\n".join([*lines, ""])


UNITS = ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes"), (SECOND, "seconds"))
BYTES = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))
BUDGETS = (
    (
        "A hub, for each caller",
        "What a caller who has proved who they are, and one who has not, may ask for (`hub/config.py`).",
        HubLimits,
    ),
    ("A hub's connections", "Guests have not proved who they are (`base/callers.py`).", SocketLimits),
    (
        "What is appended to a hub in a day",
        "Counted from the ledger, so that a restart forgives nothing; an owner's own token is bound by none "
        "(`hub/bounds/quotas.py`).",
        QuotaLimits,
    ),
    (
        "A relay",
        "A source is an address, for IPv6 its network. Budgets of a day are kept on disk "
        "(`relay/settings.py`, `relay/io/budgets.py`).",
        RelayLimits,
    ),
)


def limits_page() -> str:
    """Every budget on what somebody may cause, with its default."""
    lines = [
        NOTE,
        "# Limits",
        "",
        "What one may cause to others, by default. Each bound says for whom it counts.",
        "",
    ]
    for title, about, limits in BUDGETS:
        lines += [f"## {title}", "", about, "", "| limit | default | what it bounds |", "|---|---|---|"]
        says = described(limits)
        lines += [
            f"| `{name}` | {amount(limits, name, value)} | {says[name]} |" for name, value in defaults(limits)
        ]
        lines.append("")
    return "\n".join(lines)


def defaults(limits: type) -> list[tuple[str, int | float]]:
    """The numbers of a class of limits, by their names."""
    values = ((field.name, getattr(limits(), field.name)) for field in dataclasses.fields(limits))
    return [(name, value) for name, value in values if isinstance(value, int | float)]


def described(limits: type) -> dict[str, str]:
    """What the source says below each of them; a limit that nobody described has no page."""
    body = ast.parse(inspect.getsource(limits)).body[0].body
    return {
        before.target.id: ast.literal_eval(after.value)
        for before, after in itertools.pairwise(body)
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr)
    }


def amount(limits: type, name: str, value: float) -> str:
    """A number as people read it; a relay's durations are in microseconds, all others in seconds."""
    if name.endswith("_seconds"):
        return f"{value:g} second{'' if value == 1 else 's'}"
    times = UNITS if limits is RelayLimits else ()
    for size, unit in BYTES if "bytes" in name else times:
        if value >= size and value % size == 0:
            return f"{value // size} {unit.removesuffix('s') if value == size else unit}"
    return f"{value:,.0f}"


def signals_table() -> str:
    """The signals as the page has them, in TypeScript."""
    lines = [
        "// Made by tools/docs.py from packages/c2a/src/tacit/c2a/signals.py; edit the table there instead.",
        "",
        "export interface Signal {",
        "  name: string;",
        "  glyph: string;",
        "  meaning: string;",
        "}",
        "",
        "export const SIGNALS: readonly Signal[] = [",
        *(
            f'  {{ name: "{signal.name}", glyph: "{signal.glyph}", meaning: "{signal.meaning}" }},'
            for signal in C2A_SIGNALS.values()
        ),
        "];",
    ]
    return "\n".join([*lines, ""])


PAGES = {
    "web/src/net/agent_operations.ts": agent_operations_table,
    "web/src/state/signals_table.ts": signals_table,
    "docs/reference/limits.md": limits_page,
    "docs/reference/agent.md": agent_page,
    "docs/reference/http.md": http_page,
    "docs/reference/codes.md": codes_page,
    "docs/reference/kinds.md": kinds_page,
    "docs/reference/cli.md": cli_page,
}


def broken_links() -> list[str]:
    """Links to files that are not there."""
    return [
        f"{page.relative_to(ROOT)} links to {target}, which is not there"
        for page in pages()
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]


def main() -> int:
    """Write or check."""
    if "--check" not in sys.argv:
        for name, make in PAGES.items():
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(make(), encoding="utf-8")
        return 0
    stale = [
        f"{name} is stale: run `make docs`"
        for name, make in PAGES.items()
        if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != make()
    ]
    faults = stale + broken_links()
    print("\n".join(faults) or f"{len(PAGES)} files made of tables are fresh, all links lead somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""The room's commands, as `tacit` lists them."""

from __future__ import annotations

from typing import Final

from tacit.base.commands.table import CommandTable

TABLE: Final = CommandTable(
    "The room",
    {
        "up": ("tacit.cli.operation.up:up", "Run the hub: ledger, doors, and the page."),
        "link": ("tacit.cli.people.invite:link", "Print a sign-in link for the owner."),
        "group": ("tacit.cli.people.groups:group", "Open and look at groups."),
        "actor": ("tacit.cli.people.groups:actor", "Add agents to a group; handle their tokens."),
        "invite": ("tacit.cli.people.invite:invite", "A link for a further person; list and revoke them."),
        "service": ("tacit.cli.people.groups:service", "Register tools and bridges (svc:...)."),
        "send": ("tacit.cli.messages.talk:send", "Send a message."),
        "reply": ("tacit.cli.messages.talk:reply", "Reply to a message."),
        "inbox": ("tacit.cli.messages.talk:inbox", "What waits for you."),
        "read": ("tacit.cli.messages.talk:read", "Mark messages as read."),
        "ack": ("tacit.cli.messages.talk:ack", "Acknowledge an attention message."),
        "react": ("tacit.cli.messages.talk:react", "React to a message."),
        "tail": ("tacit.cli.messages.talk:tail", "Watch a group live."),
        "search": ("tacit.cli.messages.talk:search", "Find messages by their words."),
        "forward": ("tacit.cli.messages.talk:forward", "Bring a message from one group into another."),
        "edit": ("tacit.cli.messages.steering:edit", "Change a message of your own."),
        "delete": ("tacit.cli.messages.steering:delete", "Take a message back."),
        "preview": (
            "tacit.cli.messages.steering:preview",
            "Whom a message would oblige, without sending it.",
        ),
        "why": ("tacit.cli.messages.steering:why", "Who was asked, who stayed quiet, and why."),
        "attention": ("tacit.cli.messages.steering:attention", "Steer agents; set the limits of attention."),
        "activity": ("tacit.cli.messages.activity:activity", "What agents did about a message."),
        "approve": ("tacit.cli.messages.permissions:approve", "Answer an agent's permission request."),
        "permissions": ("tacit.cli.messages.permissions:permissions", "Permanent permissions."),
        "c2a": ("tacit.cli.agents.c2a:c2a", "Speak C2A over standard input and output."),
        "speak": ("tacit.cli.messages.speech:speak", "Send a CLowl message."),
        "trace": ("tacit.cli.messages.speech:trace", "Show a CLowl trace from the ledger."),
        "source": ("tacit.cli.messages.talk:source", "Open the source of a relayed message."),
        "mcp": ("tacit.cli.agents.mcp:mcp", "A room's chat tools for any MCP client."),
        "join": ("tacit.cli.agents.join:join", "Run an agent, or a team of them, in a room."),
        "crew": ("tacit.cli.agents.crew:crew", "Agents that the hub runs for you; they come back with it."),
        "worktree": (
            "tacit.cli.agents.worktree:worktree",
            "Agents' own branches: look, merge, rebase, discard.",
        ),
        "agents": ("tacit.cli.agents.agents:agents", "Who is online, busy, owing what, spending what."),
        "work": ("tacit.cli.agents.work:work", "Which agent is at which question, and how it stands."),
        "backup": ("tacit.cli.operation.backup:backup", "Write a backup, beside a running hub."),
        "restore": ("tacit.cli.operation.backup:restore", "Make a data folder of a backup."),
        "ledger": (
            "tacit.cli.operation.ledger:ledger",
            "Export, import, verify, rebuild or redact a ledger.",
        ),
        "nodes": (
            "tacit.cli.operation.nodes:nodes",
            "The hubs that share a ledger, and what each writes to.",
        ),
        "clock": (
            "tacit.cli.operation.clock:clock",
            "Is this machine's clock believed? Say that it is right.",
        ),
        "doctor": ("tacit.cli.operation.doctor:doctor", "What is installed, running, reachable."),
    },
    """\b
A first minute:
  tacit up                                  run the hub (in a terminal of its own)
  tacit group new "My first room"           open a group
  tacit actor add "My first room" ada       add an agent; its token is kept here
  tacit tail "My first room"                watch it (in another terminal)
  tacit send "My first room" "hello"        speak as the owner
  tacit send "My first room" hi --as ada    speak as ada
""",
)

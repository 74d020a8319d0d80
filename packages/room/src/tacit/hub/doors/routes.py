"""The table of operations: name, place in HTTP, parameters, and what it is for. OpenAPI is made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tacit.base.agent_operations import AGENT_OPERATIONS
from tacit.hub.operations import agent as agent_operations
from tacit.hub.operations import browsers, requests, status, steering, timeline
from tacit.hub.operations import crew as crew_operations
from tacit.hub.operations import room as operations

if TYPE_CHECKING:
    import msgspec

Run = Callable[..., Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: `{name}` parts of the path are parameters; the rest is query (GET) or body."""

    name: str
    method: str
    path: str
    params: type[msgspec.Struct]
    run: Run
    summary: str
    status: int = 200
    may_repeat: bool = False


_G: Final = "/v1/groups/{group_id}"

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        "capabilities",
        "GET",
        "/v1/capabilities",
        requests.Nothing,
        operations.show_capabilities,
        "What this hub can do",
    ),
    Operation(
        "whoami",
        "GET",
        "/v1/whoami",
        requests.Nothing,
        operations.whoami,
        "Whom the credential speaks for",
    ),
    Operation(
        "create_group",
        "POST",
        "/v1/groups",
        requests.NewGroup,
        operations.create_group,
        "Open a group",
        201,
    ),
    Operation("groups", "GET", "/v1/groups", requests.Nothing, operations.list_groups, "The caller's groups"),
    Operation("group", "GET", _G, requests.OneGroup, operations.show_group, "One group with its roster"),
    Operation(
        "add_actor",
        "POST",
        _G + "/actors",
        requests.NewActor,
        operations.add_actor,
        "Add an actor; its token is shown once",
        201,
    ),
    Operation(
        "actors", "GET", _G + "/actors", requests.OneGroup, operations.list_actors, "The group's actors"
    ),
    Operation(
        "add_person",
        "POST",
        _G + "/people",
        requests.NewPerson,
        operations.add_person,
        "Add a further human; the token is shown once",
        201,
    ),
    Operation(
        "sign_in_link",
        "POST",
        "/v1/sign-in-links",
        requests.NewLink,
        operations.sign_in_link,
        "A link that signs the owner or a person in, once; its code is shown once",
        201,
    ),
    Operation(
        "add_service",
        "POST",
        "/v1/services",
        requests.NewService,
        operations.add_service,
        "Register a service; its token is shown once",
        201,
    ),
    Operation(
        "issue_token",
        "POST",
        _G + "/actors/{actor_id}/tokens",
        requests.NewToken,
        operations.issue_token,
        "A further token for an actor or person",
        201,
    ),
    Operation(
        "tokens",
        "GET",
        _G + "/actors/{actor_id}/tokens",
        requests.NewToken,
        operations.list_tokens,
        "The public ids of live tokens",
    ),
    Operation(
        "revoke_token",
        "DELETE",
        "/v1/tokens/{token_id}",
        requests.OldToken,
        operations.revoke_token,
        "Revoke a token at once",
    ),
    Operation(
        "browsers",
        "GET",
        "/v1/browsers",
        requests.Nothing,
        browsers.list_browsers,
        "The browsers that sign-in links let in",
    ),
    Operation(
        "sign_out",
        "POST",
        "/v1/sign-out",
        requests.Nothing,
        browsers.sign_out,
        "End the caller's token, if a sign-in link made it",
    ),
    Operation(
        "append",
        "POST",
        _G + "/events",
        requests.AppendRequest,
        operations.append,
        "Append an event",
        201,
        may_repeat=True,
    ),
    Operation(
        "events",
        "GET",
        _G + "/events",
        requests.EventsRequest,
        operations.read_events,
        "A page of the ledger; with `Accept: text/event-stream` a live stream",
    ),
    Operation(
        "event",
        "GET",
        _G + "/events/{event_id}",
        requests.OneEvent,
        operations.show_event,
        "One event, its acknowledgements and reactions",
    ),
    Operation(
        "thread",
        "GET",
        _G + "/events/{event_id}/thread",
        requests.ThreadRequest,
        operations.show_thread,
        "A message and its newest replies",
    ),
    Operation(
        "decisions",
        "GET",
        _G + "/events/{event_id}/decisions",
        requests.OneEvent,
        steering.show_decisions,
        "Who saw an event, how, and why",
    ),
    Operation(
        "activity",
        "POST",
        _G + "/events/{event_id}/activity",
        requests.ActivityRequest,
        steering.show_activity,
        "What agents did about an event, or have it forgotten",
    ),
    Operation(
        "edit",
        "POST",
        _G + "/events/{event_id}/edit",
        requests.EditRequest,
        steering.edit_message,
        "Put a new text in the place of one's own message",
        may_repeat=True,
    ),
    Operation(
        "delete",
        "POST",
        _G + "/events/{event_id}/delete",
        requests.OneEvent,
        steering.delete_message,
        "Take a message back",
    ),
    Operation(
        "preview",
        "POST",
        _G + "/preview",
        requests.PreviewRequest,
        steering.show_preview,
        "What a message would do if it were sent now",
    ),
    Operation(
        "agents",
        "GET",
        _G + "/agents",
        requests.OneGroup,
        steering.list_agents,
        "Who is online, busy, owing what, spending what",
    ),
    Operation(
        "work",
        "GET",
        _G + "/work",
        requests.WorkRequest,
        steering.list_work,
        "Which agent is at which question, how it stands, and what to do about it",
    ),
    Operation(
        "steer",
        "POST",
        _G + "/attention",
        requests.SteerRequest,
        steering.steer,
        "Cancel, reassign, approve, refuse, send an agent out or call it back",
    ),
    Operation(
        "rules",
        "GET",
        _G + "/attention/settings",
        requests.OneGroup,
        steering.show_rules,
        "The numbers that attention goes by",
    ),
    Operation(
        "change_rules",
        "POST",
        _G + "/attention/settings",
        requests.RulesRequest,
        steering.change_rules,
        "Change the numbers that attention goes by",
    ),
    Operation(
        "set_webhook",
        "POST",
        _G + "/actors/{actor_id}/webhook",
        requests.WebhookRequest,
        steering.set_webhook,
        "Post an agent's events to an address; the secret is shown once",
        201,
    ),
    Operation(
        "drop_webhook",
        "DELETE",
        _G + "/actors/{actor_id}/webhook",
        requests.NewToken,
        steering.drop_webhook,
        "Post to that address no more",
    ),
    Operation(
        "speak",
        "POST",
        _G + "/clowl",
        requests.SpeakRequest,
        operations.speak,
        "Append a CLowl message; its English becomes the text",
        201,
        may_repeat=True,
    ),
    Operation(
        "trace",
        "GET",
        _G + "/traces/{tid}",
        requests.TraceRequest,
        operations.show_trace,
        "A CLowl trace as the ledger tells it",
    ),
    Operation(
        "window",
        "GET",
        _G + "/window",
        requests.WindowRequest,
        operations.show_window,
        "The messages just before a position",
    ),
    Operation(
        "inbox",
        "GET",
        _G + "/inbox",
        requests.InboxRequest,
        operations.show_inbox,
        "Unread, owed acknowledgements, read cursor",
    ),
    Operation(
        "search",
        "GET",
        _G + "/search",
        requests.SearchRequest,
        timeline.find_rows,
        "Messages with these words",
    ),
    Operation(
        "timeline",
        "GET",
        _G + "/timeline",
        requests.TimelineRequest,
        timeline.show_timeline,
        "Messages either way from a position, with all that hangs on them",
    ),
    Operation(
        "conversations",
        "GET",
        _G + "/conversations",
        requests.OneGroup,
        timeline.list_conversations,
        "The private conversations that the caller may see",
    ),
    Operation(
        "traces",
        "GET",
        _G + "/traces",
        requests.TracesRequest,
        timeline.list_traces,
        "The newest CLowl traces",
    ),
    Operation(
        "presence",
        "GET",
        _G + "/presence",
        requests.OneGroup,
        timeline.show_presence,
        "Who follows the group now: `online`, or `away` while none of their connections is looked at",
    ),
    Operation(
        "crew_list",
        "GET",
        "/v1/crew",
        requests.Nothing,
        crew_operations.list_crew,
        "The agents that the hub runs for its owner, and the drivers there are",
    ),
    Operation(
        "crew_add",
        "POST",
        _G + "/crew",
        requests.NewCrewAgent,
        crew_operations.add_to_crew,
        "Take an agent into the crew, and start it",
        201,
    ),
    Operation(
        "crew_start",
        "POST",
        _G + "/crew/{actor_id}/start",
        requests.NewToken,
        crew_operations.start_agent,
        "Start an agent of the crew, or start it anew",
    ),
    Operation(
        "crew_stop",
        "POST",
        _G + "/crew/{actor_id}/stop",
        requests.NewToken,
        crew_operations.stop_agent,
        "Let an agent of the crew leave, until it is started again",
    ),
    Operation(
        "crew_remove",
        "DELETE",
        _G + "/crew/{actor_id}",
        requests.NewToken,
        crew_operations.remove_from_crew,
        "Stop an agent and run it no more; its worktree and its memory stay",
    ),
    Operation(
        "crew_log",
        "GET",
        _G + "/crew/{actor_id}/log",
        requests.CrewLogRequest,
        crew_operations.show_log,
        "The end of an agent's log",
    ),
    Operation(
        "crew_diff",
        "GET",
        _G + "/crew/{actor_id}/diff",
        requests.NewToken,
        crew_operations.show_diff,
        "What an agent changed in its worktree",
    ),
    Operation(
        "crew_worktree",
        "POST",
        _G + "/crew/{actor_id}/worktree",
        requests.CrewWorktreeRequest,
        crew_operations.change_worktree,
        "Merge, rebase or discard an agent's worktree; a conflict changes nothing",
    ),
    Operation(
        "crew_invite",
        "POST",
        _G + "/crew/{actor_id}/invite",
        requests.CrewInviteRequest,
        crew_operations.invite_agent,
        "A code that lets an agent of another machine in, once",
        201,
    ),
    Operation(
        "context",
        "GET",
        _G + "/context",
        requests.OneGroup,
        operations.show_context,
        "Shared context and tasks",
    ),
    Operation(
        "relay",
        "POST",
        _G + "/relay",
        requests.RelayRequest,
        operations.relay,
        "Bring a message from another group into this one",
        201,
        may_repeat=True,
    ),
    Operation(
        "status",
        "GET",
        "/v1/status",
        requests.Nothing,
        status.show_status,
        "How the hub stands, for its owner: why it is not ready, who is near a quota, its clock",
    ),
    Operation(
        "agent_status",
        "GET",
        "/v1/agent",
        requests.Nothing,
        agent_operations.show_status,
        "Whether the hub runs the owner's personal agent, and how it is",
    ),
    *(
        Operation(
            agent_operations.name_of(operation),
            operation.hub,
            agent_operations.path_of(operation),
            operation.params,
            agent_operations.runner(operation),
            operation.about,
        )
        for operation in AGENT_OPERATIONS.values()
        if operation.hub
    ),
)

RPC_ONLY: Final[dict[str, tuple[type[Any], Run]]] = {
    "blob": (requests.OneBlob, operations.read_blob),
    "typing": (requests.TypingRequest, operations.typing),
}

"""A relationship as its owner sees it: one record, made of counters, episodes and values when asked for.

A2ACP-186, A2ACP-187, A2ACP-188, A2ACP-189, A2ACP-190, A2ACP-194. Stored nowhere in this form and part of no
packet (A2ACP-185).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.a2acp.consent.tiers import Override
from tacit.agent.memory import patterns
from tacit.agent.memory.relationship import shown_cache
from tacit.base.moment import rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.agent.memory.acquaintance import Acquaintance
    from tacit.agent.memory.relationship import Relationship
    from tacit.base.moment import Moment


def day(at: Moment) -> str:
    """A moment's date."""
    return rfc3339(at)[:10]


def record_of(
    peer: str,
    known: Acquaintance,
    found: Relationship,
    override: Override | None,
    completions: Mapping[str, int],
    now: Moment,
    *,
    flagged: bool,
) -> dict[str, Any]:
    """All that is remembered of a counterpart."""
    override = override or Override()
    promoted = len(override.promote_to_always_share)
    return {
        "agent": peer,
        "user_label": override.label,
        "interaction_count": known.count,
        "first_interaction": day(known.first) if known.count else None,
        "last_interaction": day(known.last) if known.count else None,
        "typical_intents": patterns.typical_intents(completions),
        "learned_patterns": learned_patterns(found),
        "context_cache": dict(shown_cache(found, now, day)),
        "changes": [
            {"field": one.key, "old": one.old, "new": one.new, "date": day(one.at), "source": one.source}
            for one in found.changes
        ],
        "trust_level": patterns.trust_level(known.completed, flagged=flagged),
        "trust_signals": patterns.trust_signals(known.completed, known.declined, promoted, flagged=flagged),
    }


def learned_patterns(found: Relationship) -> dict[str, Any]:
    """What the last threads have in common (A2ACP-187, A2ACP-188)."""
    last = found.episodes
    return {
        "usually_shares": list(patterns.usually_shares(last)),
        "usually_declines": list(patterns.usually_declines(last)),
        "usually_requests": list(patterns.usually_requests(last)),
        "average_response_time": patterns.response_time(last),
        "typical_flexibility": patterns.flexibility(last),
        "preferred_resolution_style": patterns.resolution_style(last),
    }

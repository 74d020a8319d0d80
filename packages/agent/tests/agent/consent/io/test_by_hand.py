"""What an owner sends by hand: through the filter like everything else, also beside a running agent."""

from __future__ import annotations

import json

import pytest

from tacit.a2acp.post.io.post import Post
from tacit.agent.consent.io import by_hand
from tacit.agent.shell.io.agent import Agent
from tacit.base.errors import Refused
from tacit.base.io.system import SystemEntropy
from tacit.base.moment import parse_rfc3339
from tests.agent.arrangements import MONDAY, registered
from tests.relay_support import Relay

INTENT = {"category": "message", "summary": "hello", "urgency": "normal"}


@pytest.mark.spec("A2ACP-038", "A2ACP-072", "A2ACP-070")
async def test_a_packet_by_hand_passes_the_filter_and_says_truly_what_it_shares(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        await registered(relay, tmp_path / "anna", "anna", "ben")
        ben = f"agent:ben@{relay.domain}"
        post = Post(tmp_path / "anna", clock=relay.clock, entropy=SystemEntropy())

        def sent(body: dict, *, typed: bool = False, share=()) -> dict:
            ident = by_hand.send(
                post, relay.clock, SystemEntropy(),
                to=ben, thread_id="thr_by_hand", body={"intent": INTENT, **body}, typed=typed, share=share,
            )  # fmt: skip
            row = post.store.row("SELECT payload FROM history WHERE packet_id=?", ident)
            return json.loads(row[0])

        async def run() -> None:
            # Never: left out, and said to be withheld. A false block of permissions counts for nothing.
            claims = {
                "shared_fields": ["health_info"],
                "withheld_fields": [],
                "consent_level": "user_approved",
            }
            found = sent(
                {"context": {"health_info": "POLLEN", "timezone": "Europe/London"}, "permissions": claims}
            )
            assert "POLLEN" not in json.dumps(found)
            assert found["permissions"]["shared_fields"] == ["timezone"]
            assert found["permissions"]["withheld_fields"] == ["health_info"]
            # Ask: named first, then shared by name.
            body = {"context": {"dietary": "no meat", "budget_range": "GBP 30"}}
            with pytest.raises(Refused) as needed:
                sent(body)
            assert needed.value.code == "consent_needed"
            assert needed.value.details["fields"] == ["budget_range", "dietary"]
            with pytest.raises(Refused):
                sent(body, share=["dietary"])
            found = sent(body, share=["dietary", "budget_range"])
            assert found["context"]["dietary"] == "no meat"
            assert found["permissions"]["consent_level"] == "user_approved"
            # A value of the profile does not slip out in a field of another name.
            with pytest.raises(Refused) as hidden:
                sent({"context": {"timezone": "Europe/London", "note": "MARGARET LANE 4"}}, share=["note"])
            assert hidden.value.code == "uncleared_value"
            assert "MARGARET" not in str(hidden.value)
            # What the owner types is the owner's own word.
            words = "come to MARGARET LANE 4"
            assert sent({"context": {"text": words}}, typed=True)["context"]["text"] == words

        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            await anna.profile({"home_address": "MARGARET LANE 4"})
            await run()
            await anna.permissions("dietary", "always", counterpart=f"ben@{relay.domain}")
            found = sent({"context": {"dietary": "no meat"}})
            assert found["permissions"]["consent_level"] == "user_preauthorised"
            # The owner's receipts know of it.
            told = (await anna.disclosures(f"ben@{relay.domain}"))["disclosures"]
            assert [(one["field"], one["value"], one["basis"]) for one in told] == [
                ("timezone", "Europe/London", "user_preauthorised"),
                ("budget_range", "GBP 30", "user_approved"),
                ("dietary", "no meat", "user_approved"),
                ("text", "come to MARGARET LANE 4", "user_approved"),
                ("dietary", "no meat", "user_preauthorised"),
            ]
        post.store.close()


@pytest.mark.spec("A2ACP-071", "A2ACP-072")
async def test_sharing_one_field_by_hand_releases_no_other_of_its_group(tmp_path):
    async with Relay(tmp_path / "relay") as relay:
        relay.clock.ahead += parse_rfc3339(MONDAY) - relay.clock.now()
        await registered(relay, tmp_path / "anna", "anna", "ben")
        async with Agent(tmp_path / "anna", clock=relay.clock) as anna:
            await anna.profile(
                {"timezone": "Europe/London", "email": "a@example.org", "phone": "0171 2345678"}
            )
        post = Post(tmp_path / "anna", clock=relay.clock, entropy=SystemEntropy())
        body = {"intent": INTENT, "context": {"email": "a@example.org", "topic": "ring 0171 2345678"}}
        async with post:
            with pytest.raises(Refused) as refused:
                by_hand.send(
                    post, relay.clock, SystemEntropy(), to=f"agent:ben@{relay.domain}",
                    thread_id="thr_by_hand", body=body, typed=False, share=["email"],
                )  # fmt: skip
        post.store.close()
        assert refused.value.code == "uncleared_value"

"""The hub's OpenAPI document is valid, and the check of it bites."""

from __future__ import annotations

from tools import openapi_check


def test_the_document_is_valid_and_each_reference_leads_somewhere() -> None:
    document = openapi_check.document()
    assert openapi_check.problems(document) == []
    assert "CrewBudget" in document["components"]["schemas"]


def test_a_reference_that_leads_nowhere_and_a_member_that_is_missing_are_named() -> None:
    document = openapi_check.document()
    del document["components"]["schemas"]["CrewBudget"]
    del document["info"]["title"]
    missing, lost = openapi_check.problems(document)
    assert "title" in missing
    assert lost.endswith("the reference #/components/schemas/CrewBudget leads nowhere")

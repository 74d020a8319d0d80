"""Attachments and references: what they must name, and what the hub completes.

Rows: CCCS-084, CCCS-085, CCCS-086, CCCS-087, CCCS-088, CCCS-089, CCCS-090, CCCS-091, CCCS-092, CCCS-093,
CCCS-094. `status` and `title` of a reference are hints: nothing is opened or closed by them (CCCS-093).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tacit.ledger import kinds
from tacit.ledger.codes import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.ledger.ports import Blob, Lookup


def require_blob(
    path: str, sha256: str | None, size: int | None, *, lookup: Lookup, reader: str, row: str
) -> Blob:
    """The blob behind a path, checked against what the sender says about it."""
    if path.startswith("/") or "\\" in path or "\0" in path or ".." in path.split("/"):
        raise invalid("an attachment's path stays inside the group's storage", row, reason="bad_path")
    blob = lookup.blob(path, reader)
    if blob is None:
        raise invalid("an attachment's path names no blob of this group", row, reason="no_blob")
    if sha256 is not None and sha256.lower() != blob.sha256:
        raise invalid("sha256 differs from the stored blob", "CCCS-087", reason="hash_mismatch")
    if size is not None and size != blob.size:
        raise invalid("bytes differs from the stored blob", "CCCS-087", reason="size_mismatch")
    return blob


def completed(attachments: Sequence[Mapping[str, Any]], blobs: Sequence[Blob]) -> list[dict[str, Any]]:
    """The attachments as sent, with `sha256` and `bytes` filled in (CCCS-087)."""
    return [
        {**attachment, "sha256": blob.sha256, "bytes": blob.size}
        for attachment, blob in zip(attachments, blobs, strict=True)
    ]


def check_references(
    refs: Sequence[Mapping[str, Any]], *, lookup: Lookup, reader: str, relayed: bool
) -> None:
    """Refuse a reference that is malformed or names nothing; a relayed task is its source's (CCCS-098)."""
    for ref in refs:
        kind = ref.get("kind", "url")
        if kind == "presentation_ref":
            snapshot = kinds.shape(ref, kinds.PresentationRef, "CCCS-090").snapshot
            if snapshot is not None:
                require_blob(
                    snapshot.path,
                    snapshot.sha256,
                    snapshot.bytes,
                    lookup=lookup,
                    reader=reader,
                    row="CCCS-092",
                )
        elif kind == "task_ref":
            task = kinds.shape(ref, kinds.TaskRef, "CCCS-094")
            if not relayed and not lookup.has_task(task.task_id):
                raise invalid("the task is not in this group's task store", "CCCS-094")
        else:
            kinds.shape(ref, kinds.PlainRef, "CCCS-089")


def blob_paths(data: Mapping[str, Any]) -> list[str]:
    """Every blob path that an admitted message mentions."""
    found = [str(item["path"]) for item in cast("list[dict[str, Any]]", data.get("attachments") or [])]
    for ref in cast("list[dict[str, Any]]", data.get("refs") or []):
        snapshot = ref.get("snapshot")
        if ref.get("kind") == "presentation_ref" and isinstance(snapshot, dict):
            found.append(str(cast("dict[str, Any]", snapshot)["path"]))
    return found

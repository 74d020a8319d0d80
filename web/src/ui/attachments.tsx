/** Attachments of a message: pictures are shown, everything else is offered. */

import { useEffect, useState } from "preact/hooks";
import type { VNode } from "preact";
import { blobAddress, fetchBlob, saveAs } from "../net/blobs";
import { complain, tokenIn } from "../state/hub";
import { visible } from "../text/visible";
import { sized } from "../text/time";
import type { LedgerEvent } from "../types";
import { Icon } from "./icons";

interface Attached {
  path: string;
  title?: string;
  mime_type?: string;
  bytes?: number;
  width?: number;
  height?: number;
}

const PICTURES = /^image\/(png|jpeg|gif|webp)$/;

export function Attachments({ event }: { event: LedgerEvent }): VNode {
  return (
    <div class="attachments">
      {(event.data.attachments as Attached[]).map((one) =>
        PICTURES.test(one.mime_type ?? "") ? (
          <Picture key={one.path} groupId={event.group_id} one={one} />
        ) : (
          <File key={one.path} groupId={event.group_id} one={one} />
        ),
      )}
    </div>
  );
}

const save = (groupId: string, one: Attached) =>
  fetchBlob(tokenIn(groupId), groupId, one.path)
    .then((blob) => saveAs(blob, one.title ?? "attachment"))
    .catch(complain);

function Picture({ groupId, one }: { groupId: string; one: Attached }): VNode {
  const [address, setAddress] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let current = true;
    blobAddress(tokenIn(groupId), groupId, one.path)
      .then((url) => current && setAddress(url))
      .catch(() => current && setFailed(true));
    return () => {
      current = false;
    };
  }, [groupId, one.path]);
  if (failed) return <p class="file gone">{visible(one.title ?? "Picture")} is not available.</p>;
  // The size travels with the attachment, so that the page does not move when the picture arrives.
  const wide = Math.min(420, one.width ?? 320);
  const tall = one.width && one.height ? Math.min(320, (wide * one.height) / one.width) : 220;
  return (
    <button type="button" class="picture" style={{ width: `${wide}px`, height: `${tall}px` }} onClick={() => void save(groupId, one)} aria-label={`Save ${one.title ?? "picture"}`}>
      {address && <img src={address} alt={visible(one.title ?? "")} />}
    </button>
  );
}

function File({ groupId, one }: { groupId: string; one: Attached }): VNode {
  return (
    <button type="button" class="file" onClick={() => void save(groupId, one)}>
      <Icon name="file" />
      <span class="file-name">
        <bdi>{visible(one.title ?? "Attachment")}</bdi>
      </span>
      <span class="soft">{one.bytes !== undefined ? sized(one.bytes) : ""}</span>
      <Icon name="save" size={16} />
    </button>
  );
}

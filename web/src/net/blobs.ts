/** Attachments: bytes go over HTTP with the token in a header, never in an address. */

import { RpcError } from "./socket";

export interface Uploaded {
  path: string;
  sha256: string;
  bytes: number;
}

export function upload(
  token: string,
  groupId: string,
  file: File,
  onProgress: (share: number) => void,
): { done: Promise<Uploaded>; stop: () => void } {
  const request = new XMLHttpRequest();
  const done = new Promise<Uploaded>((resolve, reject) => {
    request.open("POST", `/v1/groups/${encodeURIComponent(groupId)}/blobs`);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      const body = JSON.parse(request.responseText || "{}");
      if (request.status === 201) resolve(body);
      else reject(new RpcError(body.code ?? "internal", body.message ?? "The upload failed."));
    });
    request.addEventListener("error", () => reject(new RpcError("offline", "The upload was interrupted.")));
    request.addEventListener("abort", () => reject(new RpcError("stopped", "The upload was stopped.")));
    request.send(file);
  });
  return { done, stop: () => request.abort() };
}

const cache = new Map<string, Promise<string>>();
const KEPT = 60;

/** An object address for a blob; the newest few are kept, older ones are given back. */
export function blobAddress(token: string, groupId: string, path: string): Promise<string> {
  const key = `${groupId}/${path}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = fetchBlob(token, groupId, path).then((blob) => URL.createObjectURL(blob));
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  if (cache.size > KEPT) {
    const [oldest, address] = cache.entries().next().value!;
    cache.delete(oldest);
    address.then((url) => URL.revokeObjectURL(url)).catch(() => undefined);
  }
  return made;
}

export async function fetchBlob(token: string, groupId: string, path: string): Promise<Blob> {
  const answer = await fetch(`/v1/groups/${encodeURIComponent(groupId)}/blobs/${encodeURIComponent(path)}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  if (!answer.ok) throw new RpcError("blob_not_found", "This attachment is not available.");
  return answer.blob();
}

/** Offer bytes as a download under a name. */
export function saveAs(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

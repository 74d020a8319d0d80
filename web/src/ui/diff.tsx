/** A diff that can be read: lines added and removed in their colours, the rest as it is. */

import type { VNode } from "preact";

function toneOf(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "path";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}

/** Does a text read as a diff? Then its signs mean something. */
export function isDiff(text: string): boolean {
  return /^(\+\+\+ |--- |@@)/m.test(text);
}

export function Diff({ text, label }: { text: string; label: string }): VNode {
  return (
    <pre class="diff" tabIndex={0} aria-label={label}>
      {text.split("\n").map((line) => (
        <span class={toneOf(line)}>{line || " "}</span>
      ))}
    </pre>
  );
}

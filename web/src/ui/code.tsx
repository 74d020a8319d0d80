/** A block of code with its language and a copy button. */

import { useState } from "preact/hooks";
import type { VNode } from "preact";
import { Icon } from "./icons";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }): VNode {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await copyText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="quiet small" onClick={copy} aria-label={done ? "Copied" : label}>
      <Icon name={done ? "check" : "copy"} size={15} />
      <span>{done ? "Copied" : label}</span>
    </button>
  );
}

/** The clipboard needs a secure page; elsewhere the old way still works. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    try {
      return await navigator.clipboard.writeText(text);
    } catch {
      // fall through
    }
  }
  const before = document.activeElement as HTMLElement | null;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
}

export function Code({ text, language }: { text: string; language: string }): VNode {
  return (
    <figure class="code">
      <figcaption>
        <span>{language.split(/\s/)[0] || "text"}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}

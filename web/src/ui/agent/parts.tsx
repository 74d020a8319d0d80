/** Small parts of the personal agent's views: who it is about, and words that are not ours. */

import { Component, type ComponentChildren, type VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { bareAddress, nameIn, plain, stateText } from "../../text/agent";
import { hue } from "../avatar";

export function Face({ address }: { address: string }): VNode {
  return (
    <span class={`avatar hue-${hue(address)}`} title={bareAddress(address)} aria-hidden="true">
      {nameIn(address).slice(0, 2)}
    </span>
  );
}

/**
 * What a counterpart wrote: attributed, plain, short, and drawn as a quotation. It holds no element of its own, so that
 * whatever it says it is text in a frame that nothing of ours has (A2ACP-066).
 */
export function Said({ by, text, quiet = false }: { by: string; text: unknown; quiet?: boolean }): VNode | null {
  const words = plain(text);
  if (words === "") return null;
  return (
    <figure class={quiet ? "said quiet-said" : "said"}>
      <figcaption>{by} wrote:</figcaption>
      <blockquote>
        <bdi>{words}</bdi>
      </blockquote>
    </figure>
  );
}

export function State({ state }: { state: string }): VNode {
  const { text, tone } = stateText(state);
  return <span class={`state-tag ${tone}`}>{text}</span>;
}

const FIRST = 30;
const MORE = 60;

/** A long list, drawn as far as one has looked: what is below the fold costs nothing until it comes near. */
export function Long<T>({ of: items, children, first = FIRST, label }: { of: T[]; children: (one: T) => VNode; first?: number; label: string }): VNode {
  const [shown, setShown] = useState(first);
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const mark = end.current;
    if (mark === null) return;
    const watch = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setShown((now) => now + MORE), { rootMargin: "600px" });
    watch.observe(mark);
    return () => watch.disconnect();
  }, [shown, items.length]);
  return (
    <ul class="long" aria-label={label}>
      {items.slice(0, shown).map(children)}
      {items.length > shown && (
        <li class="soft more" ref={end}>
          {items.length - shown} more
        </li>
      )}
    </ul>
  );
}

export function Empty({ children }: { children: ComponentChildren }): VNode {
  return <p class="nothing">{children}</p>;
}

export function failed(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What cannot be drawn takes nothing else along: it says so here, and where else it can be seen. */
export class Guard extends Component<{ of: string; what: string; children: ComponentChildren }, { failed: string | null }> {
  override state: { failed: string | null } = { failed: null };

  override componentDidCatch(error: unknown): void {
    console.warn(error);
    this.setState({ failed: this.props.of });
  }

  override render(): ComponentChildren {
    if (this.state.failed !== this.props.of) return this.props.children;
    return (
      <p class="refusal" role="alert">
        {this.props.what} could not be shown here. At the terminal: <code>tacit agent</code>
      </p>
    );
  }
}

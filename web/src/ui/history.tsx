/**
 * A history on screen: only the rows near the window are elements, however long the ledger is.
 *
 * Keeps what the reader looks at in place while rows load, change height or arrive; sticks to the end when the
 * reader is there. The arithmetic is the Scroller's.
 */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Component, type ComponentChildren, type VNode } from "preact";
import { placeKey } from "../state/fold";
import { Scroller, type Item } from "../state/scroller";
import type { Timeline } from "../state/timeline";
import { jump, revealed, selected, sent } from "../state/ui";
import type { Row } from "../types";
import { Icon } from "./icons";

const MARGIN = 500;
const NEAR = 1400;

type Draw = (row: Row, previous: Row | undefined) => VNode;

interface Props {
  timeline: Timeline;
  draw: Draw;
  /** What hangs under the last row: messages on their way. */
  tail?: ComponentChildren;
  tailKey?: string;
  label: string;
  onSeen?: (atEnd: boolean) => void;
}

interface DrawnProps {
  row: Row;
  previous: Row | undefined;
  draw: Draw;
  isFlashing: boolean;
}

/**
 * One row, drawn again when it has changed. A node that is kept and used in a later render would do the same, and keep
 * with its parent the whole of the render that made it, which keeps the one before, and so on.
 */
class Drawn extends Component<DrawnProps> {
  override shouldComponentUpdate(next: DrawnProps): boolean {
    const { row, previous, draw, isFlashing } = this.props;
    return row !== next.row || previous !== next.previous || draw !== next.draw || isFlashing !== next.isFlashing;
  }

  override render({ row, previous, draw, isFlashing }: DrawnProps): VNode {
    return (
      <div data-key={row.event.id} data-seq={row.event.seq} class={isFlashing ? "row flash" : "row"}>
        {draw(row, previous)}
      </div>
    );
  }
}

export function History(props: Props): VNode {
  const { timeline } = props;
  const box = useRef<HTMLDivElement>(null);
  const scroller = useRef(new Scroller()).current;
  const view = useRef({ stick: true, anchor: null as { key: string; offset: number } | null, rows: null as Row[] | null, tall: 0, passes: 0, read: Infinity });
  const pin = useRef<{ seq: number; y: number; exact: boolean } | null>(null);
  const timer = useRef(0);
  const [, redraw] = useState(0);
  const again = () => redraw((count) => count + 1);
  const rows = timeline.rows.value;
  const ready = timeline.ready.value;
  const state = view.current;

  let scrollBy = 0;
  if (ready && state.rows !== rows) {
    const items: Item[] = rows.map((row) => ({ key: row.event.id, seq: row.event.seq }));
    const edges = { starts: timeline.starts, ends: timeline.ends, last: timeline.lastSeq };
    scrollBy = scroller.place(items, edges, state.anchor?.key ?? null, pin.current);
    if (pin.current === null && state.rows === null) state.stick = timeline.ends;
    state.rows = rows;
  }

  const height = box.current?.clientHeight ?? 800;
  const end = Math.max(0, scroller.total - height);
  const y = box.current === null || state.stick ? end : box.current.scrollTop + scrollBy;
  let [first, last] = scroller.range(y, height, MARGIN);
  if (pin.current?.exact) {
    const at = scroller.indexOfSeq(pin.current.seq);
    [first, last] = [Math.max(0, at - 14), Math.min(rows.length, at + 14)];
  }
  const [top, bottom] = scroller.padding(first, last);
  const shown = rows.slice(first, last);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (scrollBy !== 0 && !state.stick) element.scrollTop += scrollBy;
    const found: [string, number][] = [];
    for (const child of element.querySelectorAll<HTMLElement>(":scope > .rows > [data-key]")) {
      found.push([child.dataset.key!, child.getBoundingClientRect().height]);
    }
    const pinned = pin.current === null ? undefined : scroller.keyAt(scroller.indexOfSeq(pin.current.seq));
    const sought = pin.current?.exact ? pinned : undefined;
    const before = scroller.above;
    const loaded = scroller.loaded;
    const shift = scroller.measure(found, pinned ?? state.anchor?.key ?? null);
    if (scroller.above !== before || scroller.loaded !== loaded) {
      const spacer = scroller.padding(first, last);
      pad(element, ".space.top", spacer[0]);
      pad(element, ".space.bottom", spacer[1]);
    }
    if (sought !== undefined) {
      const place = scroller.topOf(sought)!;
      element.scrollTop = Math.max(0, place - height / 3);
      state.stick = timeline.ends && element.scrollTop + height >= element.scrollHeight - 4;
      state.anchor = { key: sought, offset: element.scrollTop - place };
      pin.current = null;
      again();
    } else if (state.stick) {
      if (element.scrollTop + element.clientHeight < element.scrollHeight - 1) element.scrollTop = element.scrollHeight;
      state.anchor = scroller.anchorAt(element.scrollTop);
    } else if (shift !== 0) {
      element.scrollTop += shift;
    }
    // A drag of the scrollbar lands on rows whose heights are guesses: from now on the first of them stays.
    if (pinned !== undefined && sought === undefined) state.anchor = scroller.anchorAt(element.scrollTop);
    pin.current = pin.current?.exact ? pin.current : null;
    state.tall = element.scrollHeight;
    const [from, to] = scroller.range(element.scrollTop, element.clientHeight, 0);
    // Heights settle in a pass or two; the bound only keeps a fault from becoming a loop.
    if (shown.length > 0 && (from < first || to > last) && state.passes++ < 12) again();
    else state.passes = 0;
    props.onSeen?.(state.stick && timeline.ends);
  });

  const scrolled = () => {
    const element = box.current;
    if (element === null) return;
    const at = element.scrollTop;
    state.anchor = scroller.anchorAt(at);
    const stuck = state.stick;
    // Rows that grow or shrink move the page too: only a page of the same height was scrolled by its reader.
    const moved = element.scrollHeight === state.tall;
    if (timeline.ends && at + element.clientHeight >= element.scrollHeight - 32) state.stick = true;
    else if (moved || !timeline.ends) state.stick = false;
    if (!moved) again();
    if (stuck !== state.stick) again();
    const [from, to] = scroller.range(at, element.clientHeight, MARGIN / 2);
    if (from < first || to > last) again();
    reach(at, element.clientHeight);
    if (state.stick) props.onSeen?.(true);
  };

  /** Fetch what the reader is about to need. */
  const reach = (at: number, tall: number) => {
    const gapAbove = at - scroller.above;
    const gapBelow = scroller.above + scroller.loaded - (at + tall);
    clearTimeout(timer.current);
    if (gapAbove < -tall || gapBelow < -tall) {
      timer.current = window.setTimeout(() => {
        const target = scroller.seqAt(at + tall / 2, timeline.lastSeq);
        if (target === null) return;
        pin.current = { seq: target, y: at + tall / 2, exact: false };
        state.anchor = null;
        void timeline.around(target);
      }, 80);
    } else if (gapAbove < NEAR && !timeline.starts) void timeline.earlier();
    else if (gapBelow < NEAR && !timeline.ends) void timeline.later();
  };

  const asked = jump.value;
  useEffect(() => {
    if (asked === null || asked.key !== placeKey(timeline.place)) return;
    const known = timeline.rows.peek().some((row) => row.event.seq === asked.seq);
    const show = () => {
      pin.current = { seq: asked.seq, y: 0, exact: true };
      state.stick = false;
      state.anchor = null;
      const row = timeline.rows.peek().find((one) => one.event.seq === asked.seq);
      if (row !== undefined) {
        selected.value = row.event.id;
        flash.current = row.event.id;
      }
      again();
    };
    if (known) show();
    else {
      state.anchor = null;
      void timeline.around(asked.seq).then(show);
    }
  }, [asked, timeline]);
  const flash = useRef<string | null>(null);

  useEffect(() => {
    const element = box.current;
    if (!ready || element === null) return;
    const watch = new ResizeObserver(() => again());
    watch.observe(element);
    watch.observe(element.querySelector(".rows")!);
    return () => watch.disconnect();
  }, [timeline, ready]);

  useEffect(() => {
    if (ready && box.current !== null) reach(box.current.scrollTop, box.current.clientHeight);
  }, [rows, ready]);

  const nonce = revealed.value;
  useEffect(() => {
    const element = box.current;
    const key = selected.peek();
    if (key === null || element === null) return;
    const place = scroller.topOf(key);
    if (place === null) return;
    const tall = scroller.heightOf(key);
    if (place < element.scrollTop + 8) element.scrollTop = Math.max(0, place - 40);
    else if (place + tall > element.scrollTop + element.clientHeight) element.scrollTop = place + tall - element.clientHeight + 24;
  }, [nonce]);

  const toEnd = async () => {
    if (!timeline.ends) {
      state.anchor = null;
      pin.current = null;
      await timeline.toEnd();
    }
    state.stick = true;
    again();
  };

  const justSent = sent.value;
  useEffect(() => {
    if (justSent?.key === placeKey(timeline.place)) void toEnd();
  }, [justSent]);

  // What came since the reader was at the end.
  if (ready && timeline.ends && state.stick) state.read = rows.at(-1)?.event.seq ?? 0;
  const isAway = ready && (!state.stick || !timeline.ends);
  const fresh = !isAway ? 0 : !timeline.ends ? timeline.beyond.value : rows.filter((row) => row.event.seq > state.read && row.event.kind === "chat.message").length;

  return (
    <div class="history-frame">
      <div class="history" ref={box} onScroll={scrolled} role="log" aria-live="off" aria-label={props.label} aria-busy={!ready} tabIndex={-1}>
        <div class="space top" style={{ height: `${top}px` }} />
        <div class="rows">
          {shown.map((row, index) => (
            <Drawn key={row.event.id} row={row} previous={rows[first + index - 1]} draw={props.draw} isFlashing={flash.current === row.event.id} />
          ))}
        </div>
        <div class="space bottom" style={{ height: `${bottom}px` }} />
        {(timeline.ends || (!ready && timeline.failed.value !== null)) && props.tail}
      </div>
      {isAway && (
        <button type="button" class="to-end" onClick={() => void toEnd()}>
          <Icon name="down" size={16} />
          {fresh > 0 ? `${fresh} new` : "To the newest"}
        </button>
      )}
    </div>
  );
}

function pad(element: HTMLElement, which: string, height: number): void {
  element.querySelector<HTMLElement>(`:scope > ${which}`)!.style.height = `${height}px`;
}

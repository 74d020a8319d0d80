/** Does the person look at this page? Not while it is hidden, nor when nobody touched it for five minutes. */

import { signal } from "@preact/signals";

export const IDLE_MS = 5 * 60_000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"] as const;

export const away = signal(false);

/** Watch the page; answers how to stop. Touching it or coming back to it ends an absence at once. */
export function watch(): () => void {
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => (away.value = true), IDLE_MS);
  };
  let last = 0;
  const touched = () => {
    if (document.visibilityState === "hidden") return;
    const now = Date.now();
    // Pointers move a hundred times a second; the timer need not.
    if (!away.peek() && now - last < 1000) return;
    last = now;
    away.value = false;
    wait();
  };
  const turned = () => {
    if (document.visibilityState === "hidden") {
      clearTimeout(timer);
      away.value = true;
    } else touched();
  };
  for (const sign of SIGNS) window.addEventListener(sign, touched, { capture: true, passive: true });
  document.addEventListener("visibilitychange", turned);
  if (document.visibilityState === "hidden") away.value = true;
  else wait();
  return () => {
    clearTimeout(timer);
    for (const sign of SIGNS) window.removeEventListener(sign, touched, { capture: true });
    document.removeEventListener("visibilitychange", turned);
  };
}

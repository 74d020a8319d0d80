/**
 * Make a field as tall as its text. What stands around it keeps its height while it is measured: a history beside it
 * would lose its place for good if the field were small for a moment.
 */
export function grow(area: HTMLTextAreaElement, most = Infinity): void {
  const around = area.parentElement!;
  const edges = area.offsetHeight - area.clientHeight;
  around.style.minHeight = `${around.offsetHeight}px`;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + edges, most)}px`;
  around.style.minHeight = "";
}

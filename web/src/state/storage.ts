/** What the browser keeps: small JSON values, shared by all tabs; a full or forbidden store is no error. */

const PREFIX = "tacit.";
/** What the store would not take lasts at least as long as the page. */
const unsaved = new Map<string, string>();

export function load<T>(name: string, otherwise: T): T {
  try {
    const text = unsaved.get(name) ?? localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** False when it is kept by this page alone. */
export function save(name: string, value: unknown): boolean {
  const text = value === undefined ? undefined : JSON.stringify(value);
  unsaved.delete(name);
  try {
    if (text === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
    return true;
  } catch {
    // Private windows may refuse, and a store may be full; the room works on without memory.
    if (text !== undefined) unsaved.set(name, text);
    return false;
  }
}

/** Hear what another tab saved; answers how to stop listening. */
export function onSaved(name: string, act: () => void): () => void {
  const heard = (event: StorageEvent) => {
    if (event.key === PREFIX + name || event.key === null) act();
  };
  window.addEventListener("storage", heard);
  return () => window.removeEventListener("storage", heard);
}

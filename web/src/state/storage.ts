/** What the browser keeps: small JSON values, shared by all tabs; a full or forbidden store is no error. */

const PREFIX = "tacit.";

export function load<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function save(name: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Private windows may refuse; the room works on without memory.
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

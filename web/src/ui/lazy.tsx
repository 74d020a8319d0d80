/** Views that are loaded when first opened; when the hub was upgraded meanwhile, the page is loaded anew. */

import { signal } from "@preact/signals";
import type { FunctionComponent, VNode } from "preact";

export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  const found = signal<FunctionComponent<P> | null>(null);
  const failed = signal(false);
  let asked = false;
  return function Lazy(props: P): VNode | null {
    if (!asked) {
      asked = true;
      load()
        .then((view) => {
          found.value = view;
        })
        .catch(() => {
          asked = false;
          failed.value = true;
        });
    }
    const View = found.value;
    if (View !== null) return <View {...props} />;
    if (!failed.value) return null;
    return (
      <p class="trouble">
        This view could not be loaded.{" "}
        <button type="button" class="link" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    );
  };
}

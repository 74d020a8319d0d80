import { defineConfig } from "vite";

// The built files live inside the Python package: a fresh checkout runs without Node.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../packages/core/src/tacit/base/page",
    emptyOutDir: true,
    assetsDir: "assets",
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  server: { proxy: { "/v1": { target: "http://127.0.0.1:7433", ws: true } } },
});

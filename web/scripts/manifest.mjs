// Writes page/manifest.json: the digest of every source that the build reads. tools/web_check.py compares it.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const web = fileURLToPath(new URL("..", import.meta.url));
const room = join(web, "../packages/core/src/tacit/base/page");

function files(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}
const digest = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
const named = (base, paths) =>
  Object.fromEntries(paths.map((path) => [relative(base, path).split(sep).join("/"), digest(path)]).sort());

const sources = named(web, [
  ...["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"].map((name) => join(web, name)),
  ...files(join(web, "src")),
]);
const built = named(room, files(room).filter((path) => !path.endsWith("manifest.json")));
writeFileSync(join(room, "manifest.json"), JSON.stringify({ sources, built }, null, 1) + "\n");

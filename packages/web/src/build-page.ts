/**
 * Builds the page from its sources: for the npm package once, in a checkout at the first request, into a cache that the
 * content of the sources names.
 */
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { brotliCompress, constants, gzip } from "node:zlib";
import { promisify } from "node:util";
import { readdir, readFile, writeFile } from "node:fs/promises";

const UI = join(import.meta.dirname, "../ui");
const SHARED = import.meta.dirname;
const ROOT = join(import.meta.dirname, "../../..");

/** Builds into `folder`, or into the cache, and returns the folder. */
export async function buildPage(folder?: string): Promise<string> {
  const target = folder ?? join(ROOT, "node_modules/.cache/flotilla-ui", digestOfSources());
  if (folder === undefined && existsSync(join(target, "index.html"))) return target;
  const { build } = await import("vite");
  const building = `${target}.${process.pid}`;
  await build({
    configFile: false,
    root: UI,
    // Relative, so that the page also works below a path prefix.
    base: "./",
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: building,
      emptyOutDir: true,
      target: "es2022",
      modulePreload: { polyfill: false },
      // Files, so that the content security policy needs no `data:`.
      assetsInlineLimit: 0,
      // The packages keep their notices.
      rolldownOptions: { output: { comments: { legal: true, annotation: false, jsdoc: false } } },
    },
  });
  await compressFiles(building);
  rmSync(target, { recursive: true, force: true });
  renameSync(building, target);
  return target;
}

function digestOfSources(): string {
  const hash = createHash("sha256");
  for (const folder of [UI, SHARED])
    for (const file of globSync("**/*.{ts,tsx,css,html,svg}", { cwd: folder }).sort())
      hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  // Another version of a package builds another page.
  hash.update(readFileSync(join(ROOT, "package-lock.json")));
  return hash.digest("hex").slice(0, 16);
}

/** Once, and as small as possible: the server sends the compressed files as they are. */
async function compressFiles(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  await Promise.all(
    files
      .filter((file) => file.isFile() && /\.(?:js|css|svg)$/.test(file.name))
      .map(async (file) => {
        const path = join(file.parentPath, file.name);
        const bytes = await readFile(path);
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
        await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
        await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
      }),
  );
}

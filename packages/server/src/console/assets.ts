/** The files of the page, in memory, compressed in advance. In a checkout they are built at the first request. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage } from "@flotilla/web";

export interface Asset {
  /** Of the page itself; every other file has the hash of its content in its name. */
  isIndex: boolean;
  type: string;
  bytes: Uint8Array;
  /** By content encoding. */
  packed: ReadonlyMap<"br" | "gzip", Uint8Array>;
}

export interface Assets {
  /** By path relative to `/ui/`. */
  find(path: string): Promise<Asset | undefined>;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** Where the npm package has them. */
const BUILT = fileURLToPath(new URL("../../../ui", import.meta.url));

export function createAssets(): Assets {
  let loading: Promise<ReadonlyMap<string, Asset>> | undefined;
  return {
    async find(path) {
      loading ??= load();
      try {
        return (await loading).get(path);
      } catch (error) {
        loading = undefined; // The next request tries again.
        throw error;
      }
    },
  };
}

async function load(): Promise<ReadonlyMap<string, Asset>> {
  const folder = existsSync(join(BUILT, "index.html")) ? BUILT : await buildPage();
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const bytes = new Map<string, Uint8Array>();
  for (const file of files) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    bytes.set(relative(folder, path).split(sep).join("/"), await readFile(path));
  }
  const assets = new Map<string, Asset>();
  for (const [path, whole] of bytes) {
    const type = TYPES[/\.(\w+)$/.exec(path)?.[1] ?? ""];
    if (type === undefined) continue;
    const packed = new Map<"br" | "gzip", Uint8Array>();
    const [br, gz] = [bytes.get(`${path}.br`), bytes.get(`${path}.gz`)];
    if (br) packed.set("br", br);
    if (gz) packed.set("gzip", gz);
    assets.set(path, { isIndex: path === "index.html", type, bytes: whole, packed });
  }
  return assets;
}

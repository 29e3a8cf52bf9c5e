/** `npm run reference`: writes the pages of docs/reference that are out of date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pages } from "./reference-pages.ts";

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

for (const { file, render } of pages) {
  const path = join(CHECKOUT, file);
  const text = await render();
  const isCurrent = existsSync(path) && readFileSync(path, "utf8") === text;
  process.stdout.write(`${isCurrent ? "unchanged" : "written  "} ${file}\n`);
  if (isCurrent) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

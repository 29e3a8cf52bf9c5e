/** What `bin/flotilla` starts in a checkout: what was built from these sources, and the sources after any change. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, afterAll, expect, test } from "vitest";
import { stampOf } from "../../packages/server/src/built-from.ts";
import { temporaryDirectory } from "../programs/flotilla-process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryDirectory();
afterAll(() => folder.remove());

const SOURCE = "packages/base/src/json.ts";
const BUILT = "dist/server/main.js";
const RECORD = "dist/built-from.json";
const inCheckout = (path: string): string => join(folder.path, path);

function write(path: string, text: string): void {
  mkdirSync(dirname(inCheckout(path)), { recursive: true });
  writeFileSync(inCheckout(path), text);
}

const started = (): string => execFileSync(inCheckout("bin/flotilla"), { encoding: "utf8" });

/** A checkout whose program prints where it is. */
beforeEach(() => {
  rmSync(folder.path, { recursive: true, force: true });
  for (const path of ["bin", "packages/server/src/checkout.ts", "packages/server/src/built-from.ts"])
    cpSync(join(ROOT, path), inCheckout(path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), inCheckout("node_modules"));
  write("package.json", '{"type":"module"}');
  write("packages/server/src/main.ts", 'process.stdout.write("sources" as string);');
  write(SOURCE, "export const one = 1;");
  write(BUILT, 'process.stdout.write("built");');
  write(RECORD, JSON.stringify({ [SOURCE]: stampOf(inCheckout(SOURCE)) }));
});

test("starts the build of these sources", () => {
  expect(started()).toBe("built");
});

const changes: Record<string, () => void> = {
  "a source was edited": () => appendFileSync(inCheckout(SOURCE), "\n"),
  "a source was edited to the same size, and its time of modification set back": () => {
    writeFileSync(inCheckout(SOURCE), readFileSync(inCheckout(SOURCE), "utf8").replace("1", "2"));
    utimesSync(inCheckout(SOURCE), 1, 1);
  },
  "a source was removed": () => rmSync(inCheckout(SOURCE)),
  "nothing was built": () => rmSync(inCheckout("dist"), { recursive: true }),
  "nothing records what was built": () => rmSync(inCheckout(RECORD)),
  "the record is cut off": () => truncateSync(inCheckout(RECORD), 20),
  "the record is empty": () => truncateSync(inCheckout(RECORD)),
};

test.each(Object.entries(changes))("starts the sources when %s", (_, change) => {
  change();

  expect(started()).toBe("sources");
});

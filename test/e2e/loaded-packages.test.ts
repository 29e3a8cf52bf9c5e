/** What a command loads decides how long it takes to start: every package has an index that loads all of it. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));
/** Prints the packages of all loaded modules, on the last line. */
const REPORT = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  const seen = new Set();
  registerHooks({
    load(url, context, next) {
      const [, name] = /packages\\/([a-z-]+)\\/src/.exec(url) ?? [];
      if (name !== undefined) seen.add(name);
      return next(url, context);
    },
  });
  process.on("exit", () => process.stdout.write("\\n" + JSON.stringify([...seen].sort())));
`)}`;

function packagesLoadedBy(...args: string[]): unknown {
  const node = ["--disable-warning=ExperimentalWarning", "--import", REPORT, MAIN];
  const output = execFileSync(process.execPath, [...node, ...args], { encoding: "utf8" });
  return JSON.parse(output.slice(output.lastIndexOf("\n")));
}

test.each([
  { line: "version", want: ["apimachinery", "base", "cli", "server"] },
  { line: "help", want: ["apimachinery", "base", "cli", "server"] },
  { line: "up --help", want: ["apimachinery", "base", "cli", "server"] },
])("flotilla $line loads neither kinds nor controllers", ({ line, want }) => {
  expect(packagesLoadedBy(...line.split(" "))).toEqual(want);
});

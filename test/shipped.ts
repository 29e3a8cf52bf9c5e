/**
 * The package as npm would publish it: the suites that start `flotilla` start this. It tests the JavaScript that users
 * run, and a command starts in a third of the time that the sources take.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const CHECKOUT = join(import.meta.dirname, "..");
/** In `node_modules`, which git ignores and `npm ci` empties. */
const SHIPPED = join(CHECKOUT, "node_modules", ".cache", "flotilla", "shipped");

export const SHIPPED_BIN = join(SHIPPED, "bin");
export const SHIPPED_MAIN = join(SHIPPED, "dist", "server", "main.js");

/** Several suites of one run share the package. */
const built = Symbol.for("flotilla.shipped");

/** A global set-up of vitest: runs once, before the tests. */
export function setup(): void {
  const run = globalThis as { [built]?: true };
  if (run[built]) return;
  rmSync(SHIPPED, { recursive: true, force: true });
  mkdirSync(SHIPPED, { recursive: true });
  for (const name of ["bin", "examples", "monitoring", "package.json"])
    cpSync(join(CHECKOUT, name), join(SHIPPED, name), { recursive: true });
  symlinkSync(join(CHECKOUT, "node_modules"), join(SHIPPED, "node_modules"));
  execFileSync(process.execPath, [join(CHECKOUT, "tools", "build.ts"), join(SHIPPED, "dist")], {
    cwd: CHECKOUT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  run[built] = true;
}

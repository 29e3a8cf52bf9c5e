/** Which pages there are, and the test of each. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noCommands, programPath } from "../contract/apiserver/command-line.ts";
import { runPage } from "./run-page.ts";
import { CHECKOUT } from "./workspace.ts";

/** A page has its fleet, and its commands have theirs; the suite as a whole is to be done in a minute or two. */
const PAGE_LIMIT_MS = 180_000;

/** By their path from the checkout; decisions tell what was, and have nothing to type. */
export function listPages(pattern: string): string[] {
  return globSync(pattern, { cwd: CHECKOUT, exclude: ["docs/adr/**"] }).toSorted();
}

export function readPage(name: string): string {
  return readFileSync(join(CHECKOUT, name), "utf8");
}

/** What pages take for granted that their reader has. */
export function readersPrograms(): Record<string, string> {
  const flotilla = join(CHECKOUT, "bin", "flotilla");
  return { flotilla, "kubectl-flotilla": flotilla, kubectl: programPath("kubectl"), helm: programPath("helm") };
}

export function testPages(pages: readonly string[]): void {
  if (noCommands !== undefined) process.stdout.write(`skipped: the commands of ${pages.length} pages: ${noCommands}\n`);
  describe.skipIf(noCommands !== undefined)("every command does what its page says", () => {
    for (const page of pages) {
      test(page, { timeout: PAGE_LIMIT_MS }, async () => {
        const { skipped } = await runPage(page, readPage(page), { programs: readersPrograms() });

        for (const { line, reason } of skipped) process.stdout.write(`not run: ${page}:${line}: ${reason}\n`);
        expect(skipped.filter(({ reason }) => reason === "")).toEqual([]);
      });
    }
  });
}

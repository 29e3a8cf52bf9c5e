/** Lists the pages, and runs the test of each. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noCommands, programPath } from "../programs/command-line.ts";
import { runPage } from "./run-page.ts";
import { CHECKOUT } from "./workspace.ts";
import { SHIPPED_BIN } from "../shipped.ts";

/** For a page and the one before it, on a busy machine. */
const PAGE_LIMIT_MS = 300_000;
/** Readers mostly wait, so each worker runs two of them. */
const READERS = 2;

/** By path relative to the checkout; without decision records, which contain no commands. */
export function listPages(pattern: string): string[] {
  return globSync(pattern, { cwd: CHECKOUT, exclude: ["docs/adr/**"] }).toSorted();
}

export function readPage(name: string): string {
  return readFileSync(join(CHECKOUT, name), "utf8");
}

/** The programs that pages assume to be installed. */
export function readersPrograms(): Record<string, string> {
  const flotilla = join(SHIPPED_BIN, "flotilla");
  return { flotilla, "kubectl-flotilla": flotilla, kubectl: programPath("kubectl"), helm: programPath("helm") };
}

export function testPages(pages: readonly string[]): void {
  if (noCommands !== undefined) process.stdout.write(`skipped: the commands of ${pages.length} pages: ${noCommands}\n`);
  describe.skipIf(noCommands !== undefined)("every command behaves as its page describes", () => {
    const readers = Array.from({ length: READERS }, () => Promise.resolve());
    for (const [index, page] of pages.entries()) {
      test.concurrent(page, { timeout: PAGE_LIMIT_MS }, async () => {
        const before = readers[index % READERS];
        const { promise: read, resolve: done } = Promise.withResolvers<void>();
        readers[index % READERS] = read;
        await before;

        const { skipped } = await runPage(page, readPage(page), { programs: readersPrograms() }).finally(done);

        for (const { line, reason } of skipped) process.stdout.write(`not run: ${page}:${line}: ${reason}\n`);
        expect(skipped.filter(({ reason }) => reason === "")).toEqual([]);
      });
    }
  });
}

/**
 * Known defects that can be built into a copy of the program, to see that a run finds them: each replaces one place of the
 * sources, which must be there exactly once.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyProgram } from "../../test/programs/program-copy.ts";

interface Defect {
  /** The faults that show it: their names contain one of these. */
  shownBy: readonly string[];
  file: string;
  was: string;
  is: string;
}

const ENGINE = "packages/apiserver/src/store/etcd/etcd-engine.ts";

export const defects: Readonly<Record<string, Defect>> = {
  /** Updates of ConfigMaps do not compare revisions. */
  "lost updates": {
    shownBy: ["clean stop"],
    file: "packages/apiserver/src/store/etcd/transactions.ts",
    was: '    ...(expect === "any" ? [] : [compare(key, expect)]),',
    is: '    ...(expect === "any" || key.startsWith("/core/configmaps/") ? [] : [compare(key, expect)]),',
  },
  /** A process that wins the Leases decides from what it read before. */
  "stale leaders": {
    shownBy: ["kill -9 of controllers", "network between controllers", "all etcd"],
    file: "packages/server/src/roles/run-controllers.ts",
    was: "    if (options.elects) await readAgain(ends);",
    is: "",
  },
  /** Reads do not wait for what other servers have acknowledged. */
  "stale reads": {
    shownBy: ["network between an API server"],
    file: ENGINE,
    was: "  readonly isShared = true;",
    is: "  readonly isShared = false;",
  },
  /** A watch of etcd that broke skips a revision. */
  "lost events": {
    shownBy: ["network between an API server", "kill -9 of an etcd"],
    file: ENGINE,
    was: "stream.send(this.#watchOf(follower.revision + 1, false));",
    is: "stream.send(this.#watchOf(follower.revision + 2, false));",
  },
  /** A write whose answer was lost is sent again. */
  "repeated writes": {
    shownBy: ["network between an API server"],
    file: "packages/apiserver/src/store/etcd/etcd-client.ts",
    was: "const canRepeat = wasNotCarriedOut(error) || (repeats && isAboutEndpoint(error));",
    is: "const canRepeat = wasNotCarriedOut(error) || isAboutEndpoint(error);",
  },
  /** A write counts as made when etcd has not answered for 400 ms. */
  "early acknowledgement": {
    shownBy: ["loss of two etcd", "one etcd alone"],
    file: ENGINE,
    was: "const answer = readTransaction(await this.#client.call(TRANSACTION, message, false));",
    is:
      "const answer = await Promise.race([this.#client.call(TRANSACTION, message, false).then(readTransaction), " +
      "sleep(this.#clock, 400).then(() => ({ revision: 1e9 + this.#clock.now() % 1e9, succeeded: true, results: " +
      "[] }))]);",
  },
};

const ROOT = join(import.meta.dirname, "../..");
const ENTRY = "packages/server/src/main.ts";

/** Calls `use` with the entry point of the program, with the defect if one is named. */
export async function withDefect<T>(name: string | undefined, use: (entry: string) => Promise<T>): Promise<T> {
  if (name === undefined) return use(join(ROOT, ENTRY));
  const folder = mkdtempSync(join(tmpdir(), "flotilla-defect-"));
  try {
    const entry = copyProgram(folder);
    breakProgram(folder, name);
    return await use(entry);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function breakProgram(folder: string, name: string): void {
  const defect = defects[name];
  if (!defect) throw new Error(`no defect is called '${name}'`);
  const file = join(folder, defect.file);
  const parts = readFileSync(file, "utf8").split(defect.was);
  if (parts.length !== 2) throw new Error(`${defect.file} has changed: update the defect '${name}'`);
  writeFileSync(file, parts.join(defect.is));
}

/**
 * Known defects that can be built into a copy of the program, to see that a run finds them: each replaces one place of the
 * sources, which must be there exactly once.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Defect {
  file: string;
  was: string;
  is: string;
}

const ENGINE = "packages/apiserver/src/store/etcd/etcd-engine.ts";

export const defects: Readonly<Record<string, Defect>> = {
  /** Writes do not compare revisions. */
  "lost updates": {
    file: "packages/apiserver/src/store/etcd/transactions.ts",
    was: '    ...(expect === "any" ? [] : [compare(key, expect)]),',
    is: "    ...[],",
  },
  /** Reads do not wait for what other servers have acknowledged. */
  "stale reads": {
    file: ENGINE,
    was: "  readonly isShared = true;",
    is: "  readonly isShared = false;",
  },
  /** A watch of etcd that broke skips a revision. */
  "lost events": {
    file: ENGINE,
    was: "stream.send(this.#watchOf(follower.revision + 1, false));",
    is: "stream.send(this.#watchOf(follower.revision + 2, false));",
  },
  /** A write whose answer was lost is sent again. */
  "repeated writes": {
    file: "packages/apiserver/src/store/etcd/etcd-client.ts",
    was: "const canRepeat = wasNotCarriedOut(error) || (repeats && isAboutEndpoint(error));",
    is: "const canRepeat = wasNotCarriedOut(error) || isAboutEndpoint(error);",
  },
  /** Reads of etcd may be answered by a member that is behind. */
  "early acknowledgement": {
    file: ENGINE,
    was: "const answer = readTransaction(await this.#client.call(TRANSACTION, message, false));",
    is: "const answer = await Promise.race([this.#client.call(TRANSACTION, message, false).then(readTransaction), sleep(this.#clock, 400).then(() => ({ revision: 1e9 + this.#clock.now() % 1e9, succeeded: true, results: [] }))]);",
  },
};

const ROOT = join(import.meta.dirname, "../..");
const ENTRY = "packages/server/src/main.ts";

/** Calls `use` with the entry point of the program, with the defect if one is named. */
export async function withDefect<T>(name: string | undefined, use: (entry: string) => Promise<T>): Promise<T> {
  if (name === undefined) return use(join(ROOT, ENTRY));
  const folder = mkdtempSync(join(tmpdir(), "flotilla-defect-"));
  try {
    copyProgram(folder);
    breakProgram(folder, name);
    return await use(join(folder, ENTRY));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Our packages are copied, and those of others linked. */
function copyProgram(folder: string): void {
  cpSync(join(ROOT, "packages"), join(folder, "packages"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  mkdirSync(join(folder, "node_modules/@flotilla"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== "@flotilla") symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  for (const name of readdirSync(join(ROOT, "packages")))
    symlinkSync(join(folder, "packages", name), join(folder, "node_modules/@flotilla", name));
}

function breakProgram(folder: string, name: string): void {
  const defect = defects[name];
  if (!defect) throw new Error(`no defect is called '${name}'`);
  const file = join(folder, defect.file);
  const parts = readFileSync(file, "utf8").split(defect.was);
  if (parts.length !== 2) throw new Error(`${defect.file} has changed: update the defect '${name}'`);
  writeFileSync(file, parts.join(defect.is));
}

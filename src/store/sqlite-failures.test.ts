/** What people are told when SQLite cannot do what it was asked. */
import { expect, test } from "vitest";
import { explained, isTemporary } from "./sqlite-database.ts";
import { snapshotFailure } from "./sqlite-snapshot.ts";

/** As node:sqlite throws it; the upper bits say more than a person needs. */
const failure = (errcode: number): Error => Object.assign(new Error("as SQLite says it"), { errcode });

const cases: Record<string, { errcode: number; says: string; passes: boolean }> = {
  "a full disk": {
    errcode: 13,
    says: "the disk is full; free some space, and writes go on: what was acknowledged is safe",
    passes: true,
  },
  "a file that somebody else holds": {
    errcode: 5,
    says: "another process uses it; stop that process, or choose another data directory",
    passes: true,
  },
  "a file system that is read-only": {
    errcode: 8,
    says: "this user may not write to it, or its file system is read-only; choose another data directory",
    passes: false,
  },
  "a folder that may not be written to": {
    errcode: 14,
    says: "it cannot be opened there; check that this user may write to the folder, or choose another data directory",
    passes: false,
  },
  "a damaged file, found while it is read": {
    errcode: 11 | (1 << 8),
    says: "the file is damaged; restore a snapshot, or move the file away to start empty",
    passes: false,
  },
  "a failure without advice": { errcode: 10, says: "as SQLite says it", passes: false },
};
for (const [what, { errcode, says, passes }] of Object.entries(cases)) {
  test(`${what} is told in one sentence, and ${passes ? "passes" : "does not pass"} by itself`, () => {
    expect(explained("/data/flotilla.db", failure(errcode)).message).toBe(
      `cannot use the store /data/flotilla.db: ${says}`,
    );
    expect(isTemporary(failure(errcode))).toBe(passes);
  });
}

test("a snapshot for which there is no room is told in one sentence, with what to do", () => {
  for (const said of ["database or disk is full", "ENOSPC: no space left on device, fsync"]) {
    const { message, cause } = snapshotFailure("writing a snapshot of a to b", new Error(said));

    expect([message, cause]).toEqual([
      "writing a snapshot of a to b: there is no room on that disk; free some, or write it elsewhere",
      undefined,
    ]);
  }
});

test("a snapshot that fails otherwise says why once", () => {
  const { message, cause } = snapshotFailure("writing a snapshot of a to b", new Error("the file exists"));

  expect([message, (cause as Error).message]).toEqual(["writing a snapshot of a to b", "the file exists"]);
});

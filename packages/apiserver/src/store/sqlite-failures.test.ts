/** Error messages for SQLite failures. */
import { expect, test } from "vitest";
import { explained, isTemporary } from "./sqlite-failures.ts";
import { snapshotFailure } from "./sqlite-snapshot.ts";

/** As node:sqlite throws it; the upper bits are too detailed for users. */
const failure = (errcode: number): Error => Object.assign(new Error("as SQLite says it"), { errcode });

const cases: Record<string, { errcode: number; says: string; passes: boolean }> = {
  "a full disk": {
    errcode: 13,
    says: "the disk is full; free some space to resume writes (acknowledged writes are safe)",
    passes: true,
  },
  "a file locked by another process": {
    errcode: 5,
    says: "another process uses it; stop that process, or choose another data directory",
    passes: true,
  },
  "a read-only file system": {
    errcode: 8,
    says: "this user cannot write to it, or its file system is read-only; choose another data directory",
    passes: false,
  },
  "a directory without write permission": {
    errcode: 14,
    says: "it cannot be opened; check that this user can write to the directory, or choose another data directory",
    passes: false,
  },
  "a damaged file, found while reading": {
    errcode: 11 | (1 << 8),
    says: "the file is damaged",
    passes: false,
  },
  "a failure without advice": { errcode: 10, says: "as SQLite says it", passes: false },
};
for (const [what, { errcode, says, passes }] of Object.entries(cases)) {
  test(`${what} is reported in one sentence, and ${passes ? "passes" : "does not pass"} by itself`, () => {
    expect(explained("/data/flotilla.db", failure(errcode)).message).toBe(
      `cannot use the store /data/flotilla.db: ${says}`,
    );
    expect(isTemporary(failure(errcode))).toBe(passes);
  });
}

test("a snapshot without disk space is reported in one sentence, with advice", () => {
  for (const said of ["database or disk is full", "ENOSPC: no space left on device, fsync"]) {
    const { message, cause } = snapshotFailure("writing a snapshot of a to b", new Error(said));

    expect([message, cause]).toEqual([
      "writing a snapshot of a to b: no space left on that disk; free some space, or write it elsewhere",
      undefined,
    ]);
  }
});

test("a snapshot that fails otherwise reports the reason once", () => {
  const { message, cause } = snapshotFailure("writing a snapshot of a to b", new Error("the file exists"));

  expect([message, (cause as Error).message]).toEqual(["writing a snapshot of a to b", "the file exists"]);
});

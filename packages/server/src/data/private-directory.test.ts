import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepPrivate, planTrust, type OwnedFile } from "./private-directory.ts";

const ME = 1000;
const directory = (facts: Partial<OwnedFile>): OwnedFile => ({
  path: "",
  owner: ME,
  mode: 0o700,
  isDirectory: true,
  isLink: false,
  ...facts,
});
const token = (facts: Partial<OwnedFile>): OwnedFile => ({
  ...directory({ path: "pki/admin.token", mode: 0o600, isDirectory: false }),
  ...facts,
});

const cases: Record<string, { files: OwnedFile[]; rejects?: string; tightens?: string[] }> = {
  "a private directory is used as it is": { files: [directory({}), token({})], tightens: [] },
  "a directory that others may read is tightened": {
    files: [directory({ mode: 0o755 }), token({ mode: 0o644 })],
    tightens: ["", "pki/admin.token"],
  },
  "a directory of this user that others may write to is tightened": {
    files: [directory({ mode: 0o777 }), token({})],
    tightens: [""],
  },
  "a directory with files of other programs is not tightened": {
    files: [directory({ mode: 0o755, isShared: true }), token({})],
    tightens: [],
  },
  "a directory with files of other programs that others may write to is rejected": {
    files: [directory({ mode: 0o775, isShared: true }), token({})],
    rejects: ": other users may write to it",
  },
  "the directory for temporary files is rejected and not changed": {
    files: [directory({ mode: 0o1777 })],
    rejects: ": other users may write to it",
  },
  "a directory of another user is rejected": {
    files: [directory({ owner: 65534 })],
    rejects: ": it belongs to another user",
  },
  "a token that another user put there is rejected": {
    files: [directory({ mode: 0o777 }), token({ owner: 65534, mode: 0o644 })],
    rejects: "pki/admin.token: it belongs to another user",
  },
  "a token that others may write to is rejected": {
    files: [directory({}), token({ mode: 0o666 })],
    rejects: "pki/admin.token: other users may write to it",
  },
  "a directory of root that others may write to is rejected": {
    files: [directory({ owner: 0, mode: 0o775 })],
    rejects: ": other users may write to it",
  },
  "files of root are trusted": { files: [directory({}), token({ owner: 0 })], tightens: [] },
  "a link of another user is rejected": {
    files: [directory({}), token({ owner: 65534, mode: 0o777, isLink: true })],
    rejects: "pki/admin.token: it belongs to another user",
  },
};
test.each(Object.entries(cases))("%s", (_behaviour, { files, rejects, tightens }) => {
  const plan = planTrust(files, ME);

  expect("rejected" in plan ? `${plan.rejected.path}: ${plan.because}` : undefined).toBe(rejects);
  expect("tightened" in plan ? plan.tightened.map(({ path }) => path) : undefined).toEqual(tightens);
});

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "flotilla-private-"));
});
afterEach(() => rmSync(data, { recursive: true }));

if (process.platform === "win32") process.stdout.write("skipped: Windows has no file modes\n");
test.skipIf(process.platform === "win32")("a data directory that was opened to others is closed, with its keys", () => {
  mkdirSync(join(data, "pki"));
  writeFileSync(join(data, "pki", "admin.token"), "secret");
  chmodSync(join(data, "pki", "admin.token"), 0o644);
  chmodSync(join(data, "pki"), 0o755);
  chmodSync(data, 0o755);

  const tightened = keepPrivate(data);

  const paths = [data, join(data, "pki"), join(data, "pki", "admin.token")];
  expect(tightened).toEqual(paths);
  expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700, 0o600]);
});

test.skipIf(process.platform === "win32")("a token that others may write to is rejected by name", () => {
  mkdirSync(join(data, "pki"));
  writeFileSync(join(data, "pki", "admin.token"), "secret");
  chmodSync(join(data, "pki", "admin.token"), 0o666);

  expect(() => keepPrivate(data)).toThrow(/admin\.token: other users may write to it, so its keys and tokens/);
});

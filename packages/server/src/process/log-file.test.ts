import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLogFile } from "./log-file.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "flotilla-log-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const fail = (error: unknown): never => {
  throw error;
};

test("lines are appended in order, after those of an earlier start, and are readable only by the owner", async () => {
  const path = join(folder, "flotilla.log");
  const first = openLogFile({ path, onProblem: fail });
  first.write("one\n");
  await first.close();

  const second = openLogFile({ path, onProblem: fail });
  second.write("two\n");
  second.write("three\n");
  await second.close();

  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nthree\n");
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a full file is rotated, and only the newest few are kept", async () => {
  const path = join(folder, "flotilla.log");
  const log = openLogFile({ path, maxBytes: 10, kept: 2, onProblem: fail });

  for (const line of ["first-1\n", "second-\n", "third--\n", "fourth-\n"]) {
    log.write(line);
    await log.close();
  }

  expect(readdirSync(folder).sort()).toEqual(["flotilla.log", "flotilla.log.1", "flotilla.log.2"]);
  expect([path, `${path}.1`, `${path}.2`].map((file) => readFileSync(file, "utf8"))).toEqual([
    "fourth-\n",
    "third--\n",
    "second-\n",
  ]);
});

test("a failing disk is reported once, and does not stop the process", async () => {
  const problems: unknown[] = [];
  const log = openLogFile({
    path: join(folder, "missing", "flotilla.log"),
    onProblem: (error) => void problems.push(error),
  });

  log.write("one\n");
  await log.close();
  log.write("two\n");
  await log.close();

  expect(problems).toHaveLength(1);
});

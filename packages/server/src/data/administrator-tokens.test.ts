import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepTokens, planTokens } from "./administrator-tokens.ts";

const DAY = 24 * 60 * 60 * 1000;
const LIFETIME = { lifetimeMs: 90 * DAY };
const NOW = Date.parse("2024-05-01T12:00:00Z");
let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "flotilla-tokens-"))));
afterEach(() => rmSync(folder, { recursive: true }));

test("a token has a successor after half of its time, and is valid until its own end", () => {
  let made = 0;
  const plan = (kept: Parameters<typeof planTokens>[0], day: number) =>
    planTokens(kept, { ...LIFETIME, nowMs: day * DAY, makeToken: () => `t${++made}` });

  const first = plan([], 0);
  expect(first).toEqual([{ token: "t1", expiresMs: 90 * DAY }]);
  expect(plan(first, 44)).toBe(first);
  const second = plan(first, 45);
  expect(second.map(({ token }) => token)).toEqual(["t2", "t1"]);
  expect(plan(second, 80)).toBe(second);
  expect(plan(second, 90).map(({ token }) => token)).toEqual(["t3", "t2"]);
  expect(plan(second, 400).map(({ token }) => token)).toEqual(["t4"]);
});

test("tokens are kept in a private file across starts", async () => {
  const path = join(folder, "pki", "admin.token");

  const [first] = await keepTokens(path, { ...LIFETIME, nowMs: NOW });
  const [same] = await keepTokens(path, { ...LIFETIME, nowMs: NOW + DAY });
  const later = await keepTokens(path, { ...LIFETIME, nowMs: NOW + 50 * DAY });

  expect(same).toEqual(first);
  expect(later.map(({ token }) => token === first?.token)).toEqual([false, true]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a token of an earlier release gets an end and a successor", async () => {
  const path = join(folder, "admin.token");
  writeFileSync(path, "old-token\n");

  const tokens = await keepTokens(path, { ...LIFETIME, nowMs: NOW });

  expect(tokens[1]).toEqual({ token: "old-token", expiresMs: NOW + 45 * DAY });
  expect(readFileSync(path, "utf8")).toMatch(/^\S+ 2024-07-30T12:00:00Z\nold-token 2024-06-15T12:00:00Z\n$/);
});

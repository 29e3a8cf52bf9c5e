import { expect, test } from "vitest";
import { createAdministratorTokens } from "./administrator-tokens.ts";

const DAY = 24 * 60 * 60 * 1000;

test("a token of one server is accepted by every server with the same secret, in its cluster", () => {
  const first = createAdministratorTokens(["secret"], () => 0);
  const second = createAdministratorTokens(["secret"], () => DAY);

  expect(second.read(first.issue("paris.7", 90 * DAY))).toEqual({ clusterId: "paris.7" });
  expect(second.read(first.issue(undefined, 90 * DAY))).toEqual({ clusterId: undefined });
});

test("a token has a successor after half of its time, and is valid until its own end", () => {
  let nowMs = 0;
  const tokens = createAdministratorTokens(["secret"], () => nowMs);
  const first = tokens.issue(undefined, 90 * DAY);

  nowMs = 44 * DAY;
  expect(tokens.issue(undefined, 90 * DAY)).toBe(first);
  nowMs = 45 * DAY;
  expect(tokens.issue(undefined, 90 * DAY)).not.toBe(first);
  nowMs = 90 * DAY - 1;
  expect(tokens.read(first)).toBeDefined();
  nowMs = 90 * DAY;
  expect(tokens.read(first)).toBeUndefined();
});

test("while a secret is replaced, tokens of both are accepted, and after that only those of the new one", () => {
  const before = createAdministratorTokens(["old"], () => 0).issue(undefined, DAY);
  const after = createAdministratorTokens(["new", "old"], () => 0).issue(undefined, DAY);
  const prepared = createAdministratorTokens(["old", "new"], () => 0);
  const retired = createAdministratorTokens(["new"], () => 0);

  expect([prepared.read(before), prepared.read(after)].map((scope) => scope !== undefined)).toEqual([true, true]);
  expect([retired.read(before), retired.read(after)].map((scope) => scope !== undefined)).toEqual([false, true]);
});

test("a token whose signature was checked before is rejected when it ends, and one that only shares its payload always", () => {
  let nowMs = 0;
  const tokens = createAdministratorTokens(["secret"], () => nowMs);
  const token = tokens.issue("paris.7", DAY);
  const other = createAdministratorTokens(["other secret"], () => 0).issue("paris.7", DAY);

  expect([tokens.read(token), tokens.read(token), tokens.read(other)]).toEqual([
    { clusterId: "paris.7" },
    { clusterId: "paris.7" },
    undefined,
  ]);
  nowMs = 2 * DAY;
  expect(tokens.read(token)).toBeUndefined();
});

const forged: Record<string, (token: string) => string> = {
  "another cluster": (token) => token.replace(/\.[^.]+\./, `.${encode({ exp: 2_000_000_000 })}.`),
  "no signature": (token) => token.slice(0, token.lastIndexOf(".") + 1),
  "a shortened signature": (token) => token.slice(0, -4),
  "no payload": () => "flotilla-administrator..",
  "another kind of token": () => "a.b.c",
};
const encode = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString("base64url");
for (const [what, forge] of Object.entries(forged))
  test(`a token with ${what} is rejected`, () => {
    const tokens = createAdministratorTokens(["secret"], () => 0);

    expect(tokens.read(forge(tokens.issue("paris.7", DAY)))).toBeUndefined();
  });

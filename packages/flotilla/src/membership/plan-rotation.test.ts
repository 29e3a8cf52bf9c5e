import { expect, test } from "vitest";
import { lifetimeSeconds, readBoundToken, renewAfterMs } from "./plan-rotation.ts";

const tokenOf = (claims: unknown): string =>
  `header.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`;
const BOUND = { sub: "system:serviceaccount:karmada-cluster:karmada-paris", iat: 1_000, exp: 11_000 };

test("an expiring token names its service account, and is renewed well before expiry", () => {
  const token = readBoundToken(tokenOf(BOUND));

  expect(token).toEqual({
    namespace: "karmada-cluster",
    serviceAccount: "karmada-paris",
    issuedMs: 1_000_000,
    endsMs: 11_000_000,
  });
  expect(token && renewAfterMs(token, 1_000_000)).toBe(6_000_000);
  expect(token && renewAfterMs(token, 7_000_000)).toBe(0);
  expect(token && renewAfterMs(token, 20_000_000)).toBe(0);
  expect(token && lifetimeSeconds(token)).toBe(10_000);
});

const others: Record<string, string> = {
  "ignores a token without expiry": tokenOf({ sub: BOUND.sub, iat: 1_000 }),
  "ignores a token without a service account": tokenOf({ ...BOUND, sub: "alice" }),
  "ignores a token of another kind": "abcdef.0123456789",
  "ignores a malformed token": "header.%%%.signature",
  "ignores a token that expires before it is issued": tokenOf({ ...BOUND, exp: 1 }),
  "ignores an empty token": "",
};
for (const [behaviour, token] of Object.entries(others)) {
  test(behaviour, () => {
    expect(readBoundToken(token)).toBeUndefined();
  });
}

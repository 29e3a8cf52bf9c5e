import { expect, test } from "vitest";
import { lifetimeSeconds, readBoundToken, renewAfterMs } from "./plan-rotation.ts";

const tokenOf = (claims: unknown): string =>
  `header.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.signature`;
const BOUND = { sub: "system:serviceaccount:karmada-cluster:karmada-paris", iat: 1_000, exp: 11_000 };

test("a token that ends says whose it is, and is renewed well before", () => {
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
  "a token without an end is left alone": tokenOf({ sub: BOUND.sub, iat: 1_000 }),
  "a token that no service account has is left alone": tokenOf({ ...BOUND, sub: "alice" }),
  "a token of another kind is left alone": "abcdef.0123456789",
  "a token that only looks like one is left alone": "header.%%%.signature",
  "a token that ends before it begins is left alone": tokenOf({ ...BOUND, exp: 1 }),
  "no token at all is left alone": "",
};
for (const [behaviour, token] of Object.entries(others)) {
  test(behaviour, () => {
    expect(readBoundToken(token)).toBeUndefined();
  });
}

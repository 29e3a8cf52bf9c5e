import { expect, test } from "vitest";
import { failingNow } from "./rule-events.ts";

const NOW_MS = 10_000_000;
const event = (object: string, reason: string, message: string, ageMs: number) => ({
  object,
  reason,
  message,
  atMs: NOW_MS - ageMs,
});

test("a rule that failed and has not succeeded since is failing; a failure that would have been repeated is past", () => {
  const failing = failingNow(
    [
      event("Deployment shop/web", "GetReplicasFailed", "a", 2_000),
      event("Deployment shop/cart", "GetReplicasFailed", "b", 2_000),
      event("Deployment shop/cart", "GetReplicasSucceed", "", 1_000),
      event("Deployment shop/old", "GetReplicasFailed", "c", 600_000),
      event("Deployment shop/divided", "DivideFailed", "d", 3_599_999),
      event("Deployment shop/forgotten", "DivideFailed", "e", 3_600_000),
    ],
    NOW_MS,
  );

  expect(failing.map(({ object }) => object)).toEqual(["Deployment shop/web", "Deployment shop/divided"]);
});

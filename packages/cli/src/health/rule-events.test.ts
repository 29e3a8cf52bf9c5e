import { expect, test } from "vitest";
import { failingNow } from "./rule-events.ts";

const NOW_MS = 10_000_000;
const event = (object: string, reason: string, message: string, ageMs: number) => ({
  object,
  reason,
  message,
  atMs: NOW_MS - ageMs,
});

test("a rule that failed and has not succeeded since is failing", () => {
  const failing = failingNow(
    [
      event("Deployment shop/web", "GetReplicasFailed", "a", 2_000),
      event("Deployment shop/cart", "GetReplicasFailed", "b", 2_000),
      event("Deployment shop/cart", "GetReplicasSucceed", "", 1_000),
      event("Deployment shop/old", "GetReplicasFailed", "c", 3_600_001),
    ],
    NOW_MS,
  );

  expect(failing.map(({ object }) => object)).toEqual(["Deployment shop/web"]);
});

test("a failure that the template reports too is not repeated for its Works", () => {
  const failing = failingNow(
    [
      event("Work karmada-es-m1/web", "InterpretHealthFailed", "nil", 2_000),
      event("Deployment shop/web", "InterpretHealthFailed", "on m1: nil", 1_000),
      event("Work karmada-es-m2/cart", "InterpretHealthFailed", "other", 2_000),
    ],
    NOW_MS,
  );

  expect(failing.map(({ object }) => object)).toEqual(["Deployment shop/web", "Work karmada-es-m2/cart"]);
});

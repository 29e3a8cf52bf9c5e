import { expect, test } from "vitest";
import { makeReview, problemsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type Lease } from "./lease-kind.ts";
import { rules } from "./lease-rules.ts";

const makeLease = (spec: Lease["spec"]): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "a", namespace: "shop" },
  spec,
});

test("a lease duration must be positive and its transitions not negative", () => {
  expect(problemsOf(rules, makeLease({ leaseDurationSeconds: 0, leaseTransitions: -1 }))).toEqual([
    "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
    "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
  ]);
});

test("fields of coordinated leader election are dropped, as on a stock server", () => {
  const kept = rules[0]?.prepare?.(
    makeReview(makeLease({ holderIdentity: "h", strategy: "OldestEmulationVersion", preferredHolder: "p" })),
  ) as Lease;

  expect(kept.spec).toEqual({ holderIdentity: "h" });
});

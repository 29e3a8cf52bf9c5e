import { describe, expect, test } from "vitest";
import type { DeepReadonly } from "@flotilla/base";
import type { Review } from "@flotilla/apimachinery";
import { makeReview } from "../../../apimachinery/src/kind/test-review.ts";
import { OverridePolicy } from "../overridepolicy/overridepolicy-kind.ts";
import { denial, karmadaAdmission } from "./webhook.ts";

const TABLE = "policy-karmada-v1alpha1";
const policy = (spec: object, metadata: object = {}): OverridePolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "OverridePolicy",
  metadata: { name: "p", namespace: "shop", ...metadata },
  spec,
});
const refuseAll = karmadaAdmission(OverridePolicy, {
  name: "example.karmada.io",
  completes: { table: TABLE },
  check: () => [{ type: "Invalid", field: "spec", message: "Invalid value: no" }],
});
const settledOf = (
  old: DeepReadonly<OverridePolicy>,
  object: DeepReadonly<OverridePolicy>,
): Review<OverridePolicy> => ({ ...makeReview<OverridePolicy>(object, old), settled: old });

describe("a Karmada webhook", () => {
  test("writes an object as its Go struct", () => {
    const review = makeReview<OverridePolicy>(policy({ resourceSelectors: [], overrideRules: null }));

    expect(refuseAll.mutate?.(review).spec).toEqual({ overriders: {} });
  });

  test("denies an invalid object with 403", () => {
    expect(refuseAll.webhook).toMatchObject({ name: "example.karmada.io", reason: "Forbidden" });
    expect(refuseAll.webhook?.code("CREATE")).toBe(403);
    expect(denial("example.karmada.io", "never")).toMatchObject({
      status: {
        code: 403,
        reason: "Forbidden",
        message: 'admission webhook "example.karmada.io" denied the request: never',
      },
    });
  });

  test("skips an object that passed before", () => {
    const old = policy({ overrideRules: [] });

    const again = settledOf(old, { ...old, metadata: { ...old.metadata, ownerReferences: [] } });

    expect(refuseAll.mutate?.(again)).toBe(again.object);
    expect(refuseAll.validate?.(again)).toEqual([]);
  });

  test("validates again when labels, annotations or finalizers changed", () => {
    const old = policy({ overrideRules: [] });

    const changed = ["labels", "annotations", "finalizers"].map((part) =>
      settledOf(old, policy(old.spec, { [part]: part === "finalizers" ? [] : {} })),
    );

    for (const review of changed) expect(refuseAll.validate?.(review)).toHaveLength(1);
  });

  test("ignores subresource writes", () => {
    const review = makeReview<OverridePolicy>(policy({ overrideRules: "wrong" }), policy({}), "status");

    expect(refuseAll.mutate?.(review)).toBe(review.object);
    expect(refuseAll.validate?.(review)).toEqual([]);
  });

  test("reads only one version, also through a subresource", () => {
    const older = { ...policy({}), apiVersion: "policy.karmada.io/v1beta1" };

    expect(() => refuseAll.mutate?.(makeReview<OverridePolicy>(older, policy({}), "status"))).toThrow(
      "unable to decode policy.karmada.io/v1beta1, Kind=OverridePolicy into *v1alpha1.OverridePolicy",
    );
  });
});

import { describe, expect, test } from "vitest";
import { problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import type { ClusterTaintPolicy } from "./clustertaintpolicy-kind.ts";
import { clusterTaintPolicyRules } from "./clustertaintpolicy-rules.ts";

const admissions = clusterTaintPolicyRules();
const policy = (spec: object): ClusterTaintPolicy => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "p" },
  spec: { taints: [], ...spec },
});
const taint = { key: "a", effect: "NoSchedule" };

describe("a taint policy", () => {
  test("may add NoSchedule taints", () => {
    expect(problemsOf(admissions, policy({ taints: [taint, { key: "b", effect: "NoSchedule" }] }))).toEqual([]);
  });

  test("may add NoExecute taints only when administrators allow it", () => {
    const evicting = policy({ taints: [{ key: "a", effect: "NoExecute" }] });

    expect(problemsOf(admissions, evicting)).toEqual([
      "spec.taints[0]: Forbidden: Configuring taint with NoExecute effect is not allowed, this capability must " +
        "be explicitly enabled by administrators through command-line flags",
    ]);
    expect(problemsOf(clusterTaintPolicyRules({ allowNoExecute: true }), evicting)).toEqual([]);
  });

  test("rejects duplicate taints, and reports all but the last", () => {
    const duplicateError = (index: number): string =>
      `spec.taints[${index}]: Duplicate value: "Duplicate taint with the same key(a) and effect(NoSchedule) is not allowed"`;

    expect(problemsOf(admissions, policy({ taints: [taint, { ...taint, value: "x" }, taint] }))).toEqual([
      duplicateError(0),
      duplicateError(1),
    ]);
  });

  test("warns of unknown operators and effects", () => {
    const given = policy({
      targetClusters: { fieldSelector: { matchExpressions: [{ key: "planet", operator: "In" }] } },
      addOnConditions: [{ conditionType: "Ready", operator: "Is", statusValues: ["Maybe"] }],
      taints: [{ key: "a", effect: "PreferNoSchedule" }],
    });

    expect(warningsOf(admissions, given)).toEqual([
      "spec.targetClusters.fieldSelector: Invalid value: " +
        '{"matchExpressions":[{"key":"planet","operator":"In"}]}: unsupported key "planet", must be provider, ' +
        "region, or zone; no cluster matches",
      "spec.addOnConditions[0].operator: Is is not one of In, NotIn; the condition is never met",
      "spec.addOnConditions[0].statusValues: Maybe is not one of True, False, Unknown",
      "spec.taints[0].effect: PreferNoSchedule is not one of NoSchedule, NoExecute; a Cluster rejects it",
    ]);
  });
});

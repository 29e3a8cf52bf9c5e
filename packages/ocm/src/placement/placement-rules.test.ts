import { describe, expect, test } from "vitest";
import { placementRules } from "./placement-rules.ts";
import type { OcmPlacement } from "./placement-kind.ts";
import { admitted, warningsBy } from "../test-objects.ts";

function makePlacement(spec: OcmPlacement["spec"] = {}, namespace = "shop"): OcmPlacement {
  return {
    apiVersion: "cluster.open-cluster-management.io/v1beta1",
    kind: "Placement",
    metadata: { name: "all", namespace },
    spec,
  };
}
const selecting = (...celExpressions: string[]): OcmPlacement =>
  makePlacement({ predicates: [{ requiredClusterSelector: { celSelector: { celExpressions } } }] });
const bound = (...names: string[]) => ({
  read: { list: () => names.map((name) => ({ metadata: { name } }) as never) },
});

describe("a CEL expression", () => {
  const AT = "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions";

  test("a CEL expression that compiles is accepted", () => {
    const placement = selecting(
      'managedCluster.metadata.name.startsWith("eu-")',
      'managedCluster.scores("cost").all(s, s.value > 0)',
    );

    expect(admitted(placementRules, placement)).toBe(placement);
  });

  test("a CEL expression that does not compile is rejected with its position", () => {
    expect(admitted(placementRules, selecting("true", "1 +"))).toMatch(
      new RegExp(
        `^${AT.replaceAll(/[[\].]/g, "\\$&")}\\[1\\]: Invalid value: "1 \\+": compilation failed: ERROR: <input>:1:4: Syntax error`,
      ),
    );
    expect(admitted(placementRules, selecting('"yes"'))).toBe(
      `${AT}[0]: Invalid value: "\\"yes\\"": must evaluate to bool, not string`,
    );
  });

  test("a CEL expression that is already stored does not block updates", () => {
    const old = selecting("1 +");
    const changed = { ...old, spec: { ...old.spec, numberOfClusters: 2 } };

    expect(admitted(placementRules, changed, { old })).toBe(changed);
  });

  test("has a size limit, and there is a limit on their number", () => {
    expect(admitted(placementRules, selecting(`"${"x".repeat(20_000)}" == ""`))).toContain("Too long");
    expect(admitted(placementRules, selecting(...Array.from({ length: 101 }, (_, index) => `${index} > 0`)))).toBe(
      "spec.predicates: Too many: 101: must have at most 100 items",
    );
  });
});

describe("warnings", () => {
  const cases: Record<string, [placement: OcmPlacement, sets: string[], want: string[]]> = {
    "are not returned for a Placement in a bound namespace": [makePlacement({ clusterSets: ["eu"] }), ["eu"], []],
    "are returned for a namespace without a set binding": [
      makePlacement({ clusterSets: ["default"] }),
      [],
      ["namespace shop has no ManagedClusterSetBinding; no cluster is selected"],
    ],
    "are returned when the default set counts as bound in the default namespace": [
      makePlacement({ clusterSets: ["default"] }, "default"),
      [],
      [
        "namespace default has no ManagedClusterSetBinding to default, but the set default counts as bound " +
          "there; the canonical form is a ManagedClusterSetBinding with the name and spec.clusterSet default",
      ],
    ],
    "are returned when the default set counts as bound next to another binding": [
      makePlacement({ clusterSets: ["default", "us"] }, "default"),
      ["eu"],
      [
        "namespace default has no ManagedClusterSetBinding to default, but the set default counts as bound " +
          "there; the canonical form is a ManagedClusterSetBinding with the name and spec.clusterSet default",
        "spec.clusterSets: namespace default has no ManagedClusterSetBinding to us; no cluster of it is selected",
      ],
    ],
    "are returned for sets without a binding": [
      makePlacement({ clusterSets: ["eu", "us"] }),
      ["eu"],
      ["spec.clusterSets: namespace shop has no ManagedClusterSetBinding to us; no cluster of it is selected"],
    ],
    "are returned for unknown values": [
      makePlacement({
        prioritizerPolicy: { mode: "Some" },
        tolerations: [{ value: "v" }, { key: "a", operator: "Is" }, { key: "a", operator: "Exists", value: "v" }],
      }),
      ["default"],
      [
        "spec.prioritizerPolicy.mode: Some is not one of Additive, Exact; the Placement will be misconfigured",
        "spec.tolerations[0].operator: must be Exists when there is no key; the Placement will be misconfigured",
        "spec.tolerations[1].operator: Is is not one of Equal, Exists; the Placement will be misconfigured",
        "spec.tolerations[2].value: must be empty when the operator is Exists; the Placement will be misconfigured",
      ],
    ],
    "are returned for invalid selectors": [
      makePlacement({
        predicates: [
          {},
          {
            requiredClusterSelector: {
              labelSelector: { matchExpressions: [{ key: "env", operator: "Within", values: ["prod"] }] },
              claimSelector: { matchExpressions: [{ key: "nodes", operator: "Gt", values: ["3"] }] },
            },
          },
        ],
        decisionStrategy: {
          groupStrategy: {
            decisionGroups: [
              { groupName: "first", groupClusterSelector: { labelSelector: { matchLabels: { "not a key": "x" } } } },
            ],
          },
        },
      }),
      ["default"],
      [
        'spec.predicates[1].requiredClusterSelector.labelSelector: "Within" is not a valid label selector operator; the Placement will be misconfigured',
        'spec.predicates[1].requiredClusterSelector.claimSelector: "Gt" is not a valid label selector operator; the Placement will be misconfigured',
        expect.stringMatching(
          /^spec\.decisionStrategy\.groupStrategy\.decisionGroups\[0\]\.groupClusterSelector\.labelSelector: key: Invalid value: "not a key": .*; the Placement will be misconfigured$/,
        ),
      ],
    ],
    "are returned for unknown prioritizers with a weight": [
      makePlacement({
        prioritizerPolicy: {
          mode: "Additive",
          configurations: [
            { scoreCoordinate: { type: "BuiltIn", builtIn: "NoSuch" }, weight: 1 },
            { scoreCoordinate: { type: "BuiltIn", builtIn: "NoSuch" }, weight: 0 },
            { scoreCoordinate: { type: "AddOn" }, weight: 1 },
            { scoreCoordinate: { type: "BuiltIn", builtIn: "Steady" }, weight: 3 },
          ],
        },
      }),
      ["default"],
      [
        "spec.prioritizerPolicy.configurations[0].scoreCoordinate.builtIn: NoSuch is not one of Balance, " +
          "Steady, ResourceAllocatableCPU, ResourceAllocatableMemory; the Placement will be misconfigured",
        "spec.prioritizerPolicy.configurations[2].scoreCoordinate.addOn: is missing; the Placement will be misconfigured",
      ],
    ],
    "are returned for a numberOfClusters that selects nothing": [
      makePlacement({ numberOfClusters: -1 }),
      ["default"],
      ["spec.numberOfClusters: -1 selects no cluster"],
    ],
  };
  for (const [behaviour, [placement, sets, want]] of Object.entries(cases)) {
    test(behaviour, () => {
      expect(warningsBy(placementRules, placement, bound(...sets))).toEqual(want);
    });
  }
});

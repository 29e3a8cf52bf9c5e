import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { parseQuantity } from "@flotilla/apimachinery";
import { placedRequirements, quantityIn } from "./operator-pods.ts";

const owner: KubernetesObject = { apiVersion: "example.io/v1", kind: "Widget", metadata: { name: "w" } };
const nothing = new Map();

test("a pod without requests and node constraints has no requirements", () => {
  expect(placedRequirements(owner, nothing, {})).toEqual({});
  expect(placedRequirements(owner, nothing, { nodeSelector: null, affinity: {}, priorityClassName: "" })).toEqual({});
});

test("converts amounts, nodes and priority to the format of a binding", () => {
  const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: "gpu", operator: "Exists" }] }] };

  const requirements = placedRequirements(owner, new Map([["cpu", parseQuantity("0.5")]]), {
    nodeSelector: { zone: "a" },
    tolerations: [{ operator: "Exists", unheardOf: true }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    priorityClassName: "high",
  });

  expect(requirements).toEqual({
    nodeClaim: { hardNodeAffinity: required, nodeSelector: { zone: "a" }, tolerations: [{ operator: "Exists" }] },
    resourceRequest: { cpu: "500m" },
    priorityClassName: "high",
  });
});

test("a resource may have any name", () => {
  const { resourceRequest } = placedRequirements(owner, new Map([["__proto__", parseQuantity("1")]]), {});

  expect(Object.entries(resourceRequest ?? {})).toEqual([["__proto__", "1"]]);
});

const wrong: Record<string, Parameters<typeof placedRequirements>[2]> = {
  "a selector that is not a map of strings": { nodeSelector: { zone: 1 } },
  "tolerations that are not a list": { tolerations: { operator: "Exists" } },
  "a priority that is not a string": { priorityClassName: 7 },
};
for (const [what, placement] of Object.entries(wrong)) {
  test(`${what} is rejected with the name of the object`, () => {
    expect(() => placedRequirements(owner, nothing, placement)).toThrow(
      "reading the node constraints of the pods of Widget w: json: cannot unmarshal",
    );
  });
}

test("rejects an invalid quantity with the name of its field", () => {
  for (const value of ["1g", "", true, {}, []]) {
    expect(() => quantityIn(owner, "spec.memory", value)).toThrow(
      "reading spec.memory of Widget w: it is not a quantity",
    );
  }
});

import { expect, test } from "vitest";
import { ruleMatches } from "./match-rules.ts";
import type { Rule, Target } from "./match-rules.ts";

const TARGET: Target = {
  group: "apps",
  version: "v1",
  resource: "deployments",
  subresource: undefined,
  operation: "CREATE",
  namespaced: true,
};
const RULE: Rule = { operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] };

const cases: Record<string, [rule: Rule, target: Partial<Target>, matches: boolean]> = {
  "the named resource": [{}, {}, true],
  "another operation": [{}, { operation: "UPDATE" }, false],
  "every operation": [{ operations: ["*"] }, { operation: "CONNECT" }, true],
  "another group": [{}, { group: "" }, false],
  "every group and version": [{ apiGroups: ["*"], apiVersions: ["*"] }, { group: "x", version: "v9" }, true],
  "a subresource that is not named": [{}, { subresource: "status" }, false],
  "a named subresource": [{ resources: ["deployments/status"] }, { subresource: "status" }, true],
  "a resource with all its subresources": [{ resources: ["deployments/*"] }, { subresource: "scale" }, true],
  "the resource itself of a rule for all its subresources": [{ resources: ["deployments/*"] }, {}, true],
  "every resource": [{ resources: ["*"] }, {}, true],
  "no subresource of every resource": [{ resources: ["*"] }, { subresource: "scale" }, false],
  "a subresource of every resource": [{ resources: ["*/scale"] }, { subresource: "scale" }, true],
  everything: [{ resources: ["*/*"] }, { subresource: "scale" }, true],
  "only resources of the scope": [{ scope: "Cluster" }, {}, false],
  "any scope": [{ scope: "*" }, { namespaced: false }, true],
  "no operation": [{ operations: undefined }, {}, false],
};
for (const [what, [rule, target, matches]] of Object.entries(cases)) {
  test(`a rule matches ${what}: ${matches}`, () => {
    expect(ruleMatches({ ...RULE, ...rule }, { ...TARGET, ...target })).toBe(matches);
  });
}

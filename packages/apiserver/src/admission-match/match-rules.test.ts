import { expect, test } from "vitest";
import type { ServedVersion } from "../resources/resources.ts";
import { equivalentVersion, ruleMatches } from "./match-rules.ts";
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
test("an equivalent version is that of the first rule that names one", () => {
  const make = (version: string): ServedVersion =>
    ({ version, resource: { name: { group: "apps", resource: "deployments" }, namespaced: true } }) as ServedVersion;
  const [v1, v2, v3] = ["v1", "v2", "v3"].map(make);
  const rules = ["v3", "v2"].map((version) => ({ ...RULE, apiVersions: [version] }));
  const target = { served: v1 as ServedVersion, subresource: undefined, operation: "CREATE" as const };

  expect(equivalentVersion(rules, target, [v2 as ServedVersion, v3 as ServedVersion])).toBe(v3);
  expect(equivalentVersion(rules, target, [v2 as ServedVersion])).toBe(v2);
  expect(equivalentVersion(rules, target, [])).toBeUndefined();
});

for (const [what, [rule, target, matches]] of Object.entries(cases)) {
  test(`a rule matches ${what}: ${matches}`, () => {
    expect(ruleMatches({ ...RULE, ...rule }, { ...TARGET, ...target })).toBe(matches);
  });
}

import { expect, test } from "vitest";
import type { AdmissionInput } from "./admission-types.ts";
import { compileMatchConditions, type MatchOutcome } from "./match-conditions.ts";

const configMaps = { group: "", version: "v1", resource: "configmaps" };
const input: AdmissionInput = {
  request: {
    kind: { group: "", version: "v1", kind: "ConfigMap" },
    resource: configMaps,
    requestKind: { group: "", version: "v1", kind: "ConfigMap" },
    requestResource: configMaps,
    name: "m",
    namespace: "shop",
    operation: "CREATE",
    userInfo: { username: "alice" },
    dryRun: false,
  },
  object: { data: { a: "1" } },
  authorize: () => ({ allowed: true, reason: "" }),
};

const match = (...expressions: string[]): MatchOutcome =>
  compileMatchConditions(expressions.map((expression, index) => ({ name: `c${index}`, expression }))).match(input);

const missing = "expression 'object.data.x == '1'' resulted in error: no such key: x";
const cases: Record<string, [expressions: string[], outcome: MatchOutcome]> = {
  "a request matches when there are no conditions": [[], { matches: true }],
  "a request matches when all conditions are true": [["true", "object.data.a == '1'"], { matches: true }],
  "a false condition is reported by its name": [["true", "false"], { matches: false, failedCondition: "c1" }],
  "a condition that cannot be evaluated is an error": [["object.data.x == '1'"], { error: missing }],
  "a false condition decides before errors do": [
    ["object.data.x == '1'", "false"],
    { matches: false, failedCondition: "c1" },
  ],
  "several errors are listed": [
    ["object.data.x == '1'", "object.y == '1'"],
    { error: `[${missing}, expression 'object.y == '1'' resulted in error: no such key: y]` },
  ],
  "all conditions share a budget, which eight authorization checks exceed": [
    Array.from({ length: 4 }, () => "['/a', '/b'].all(p, authorizer.path(p).check('get').allowed())"),
    { error: "validation failed due to running out of cost budget, no further validation rules will be run" },
  ],
};
for (const [name, [expressions, outcome]] of Object.entries(cases)) {
  test(name, () => {
    expect(match(...expressions)).toEqual(outcome);
  });
}

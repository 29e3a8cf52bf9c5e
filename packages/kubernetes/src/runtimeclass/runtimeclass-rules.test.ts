import { expect, test } from "vitest";
import { problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type RuntimeClass } from "./runtimeclass-kind.ts";
import { rules } from "./runtimeclass-rules.ts";

const makeClass = (rest: object): RuntimeClass =>
  ({ apiVersion: "node.k8s.io/v1", kind: "RuntimeClass", metadata: { name: "a" }, ...rest }) as RuntimeClass;

const cases: Record<string, [rest: object, old: object | undefined, want: string[]]> = {
  "a class needs a handler": [{}, undefined, ["handler: Required value"]],
  "a handler must be a DNS label": [
    { handler: "a.b" },
    undefined,
    ['handler: Invalid value: "a.b": must not contain dots'],
  ],
  "the handler is immutable": [{ handler: "b" }, { handler: "a" }, ['handler: Invalid value: "b": field is immutable']],
  "overhead follows the rules of container resources": [
    { handler: "a", overhead: { podFixed: { foo: "1" } } },
    undefined,
    [
      'overhead.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
      'overhead.limits[foo]: Invalid value: "foo": must be a standard resource for containers',
    ],
  ],
  "a toleration must be unique": [
    { handler: "a", scheduling: { tolerations: [{ key: "k" }, { key: "k", tolerationSeconds: undefined }] } },
    undefined,
    [
      'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"","Value":"","Effect":"","TolerationSeconds":null}',
    ],
  ],
};
for (const [behaviour, [rest, old, want]] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(problemsOf(rules, makeClass(rest), old && makeClass(old))).toEqual(want);
  });
}

test("warns of deprecated node labels", () => {
  expect(
    warningsOf(rules, makeClass({ handler: "a", scheduling: { nodeSelector: { "beta.kubernetes.io/os": "linux" } } })),
  ).toEqual(['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead']);
});

import { describe, expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { rules as mutatingRules } from "./mutating-webhook-configuration.ts";
import type { MutatingWebhookConfiguration } from "./mutating-webhook-configuration-kind.ts";
import { rules } from "./validating-webhook-configuration.ts";
import type { ValidatingWebhookConfiguration } from "./validating-webhook-configuration-kind.ts";

const rule = (fields: object = {}): object => ({
  operations: ["CREATE"],
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["pods"],
  ...fields,
});
const webhook = (fields: object = {}): object => ({
  name: "pods.example.com",
  clientConfig: { service: { namespace: "shop", name: "hook" } },
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  rules: [rule()],
  ...fields,
});
const configuration = (...webhooks: object[]): ValidatingWebhookConfiguration =>
  ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name: "a" },
    webhooks,
  }) as ValidatingWebhookConfiguration;
const mutating = (fields: object): MutatingWebhookConfiguration => ({
  ...configuration(webhook(fields)),
  kind: "MutatingWebhookConfiguration",
});

test("a webhook defaults to Fail, Equivalent, all objects, ten seconds and port 443", () => {
  expect(completedBy(rules, configuration(webhook())).webhooks).toEqual([
    {
      ...webhook(),
      clientConfig: { service: { namespace: "shop", name: "hook", port: 443 } },
      rules: [rule({ scope: "*" })],
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
    },
  ]);
});

test("a mutating webhook is not called again by default", () => {
  expect(completedBy(mutatingRules, mutating({})).webhooks?.[0]?.reinvocationPolicy).toBe("Never");
});

const accepted: Record<string, object> = {
  "a URL": { clientConfig: { url: "https://hooks.example.com/pods" } },
  "a version that the server does not know beside one that it knows": { admissionReviewVersions: ["v9", "v1"] },
  "subresources and wildcards": { rules: [rule({ resources: ["*", "pods/status", "deployments/*"] })] },
  "a condition on the requesting user": {
    matchConditions: [{ name: "no-nodes", expression: "!('system:nodes' in request.userInfo.groups)" }],
  },
  "a condition on what the user may do": {
    matchConditions: [
      {
        name: "example.com/breakglass",
        expression: "!authorizer.group('example.com').resource('webhooks').name('a').check('breakglass').allowed()",
      },
    ],
  },
};
for (const [what, fields] of Object.entries(accepted)) {
  test(`accepts ${what}`, () => {
    expect(problemsOf(rules, configuration(webhook(fields)))).toEqual([]);
  });
}

const refused: Record<string, [fields: object, want: string[]]> = {
  "a name that is not a DNS name": [
    { name: "A" },
    [expect.stringMatching(/^webhooks\[0\]\.name: Invalid value: "A": a lowercase RFC 1123 subdomain must/)],
  ],
  "a repeated review version": [
    { admissionReviewVersions: ["v1", "v1"] },
    ['webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
  ],
  "a rule without anything": [
    { rules: [{}] },
    [
      "webhooks[0].rules[0].operations: Required value",
      "webhooks[0].rules[0].apiGroups: Required value",
      "webhooks[0].rules[0].apiVersions: Required value",
      "webhooks[0].rules[0].resources: Required value",
    ],
  ],
  "an empty version": [
    { rules: [rule({ apiVersions: [""] })] },
    ["webhooks[0].rules[0].apiVersions[0]: Required value"],
  ],
  "a subresource that a wildcard before it covers": [
    { rules: [rule({ resources: ["pods/*", "pods/log", "*/scale", "deployments/scale"] })] },
    [
      "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify pods/log",
      "webhooks[0].rules[0].resources[3]: Invalid value: \"deployments/scale\": if '*/scale' is present, must not specify deployments/scale",
    ],
  ],
  "resources beside all of them": [
    { rules: [rule({ resources: ["*/*", "pods"] })] },
    [
      'webhooks[0].rules[0].resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify other resources',
    ],
  ],
  "a condition without a name or an expression": [
    { matchConditions: [{ name: "", expression: " " }] },
    [
      "webhooks[0].matchConditions[0].expression: Required value",
      "webhooks[0].matchConditions[0].name: Required value",
    ],
  ],
  "a condition on params, which webhooks do not have": [
    { matchConditions: [{ name: "a", expression: "params == null" }] },
    [
      'webhooks[0].matchConditions[0].expression: Invalid value: "params == null": compilation failed: ' +
        "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^",
    ],
  ],
  "more than 64 conditions": [
    { matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `c${index}`, expression: "true" })) },
    ["webhooks[0].matchConditions: Too many: 65: must have at most 64 items"],
  ],
};
for (const [what, [fields, want]] of Object.entries(refused)) {
  test(`rejects ${what}`, () => {
    expect(problemsOf(rules, configuration(webhook(fields)))).toEqual(want);
  });
}

test("rejects two webhooks with one name", () => {
  expect(problemsOf(rules, configuration(webhook(), webhook()))).toEqual([
    'webhooks[1].name: Duplicate value: "pods.example.com"',
  ]);
});

describe("an update of a stored configuration", () => {
  const stored: Record<string, object[]> = {
    "with side effects": [webhook({ sideEffects: "Some" })],
    "with unknown review versions": [webhook({ admissionReviewVersions: ["v9"] })],
    "with two webhooks of one name": [webhook(), webhook()],
    "with an invalid label value in a selector": [
      webhook({ objectSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] } }),
    ],
    "with a condition that does not compile any more": [
      webhook({ matchConditions: [{ name: "a", expression: "gone()" }] }),
    ],
  };
  for (const [what, webhooks] of Object.entries(stored)) {
    test(`accepts one ${what}, which a new one must not have`, () => {
      const changed = configuration(...webhooks.map((one) => ({ ...one, timeoutSeconds: 5 })));

      expect(problemsOf(rules, changed, configuration(...webhooks))).toEqual([]);
      expect(problemsOf(rules, changed)).not.toEqual([]);
    });
  }

  test("compiles conditions that change", () => {
    const before = configuration(webhook({ matchConditions: [{ name: "a", expression: "true" }] }));
    const after = configuration(webhook({ matchConditions: [{ name: "a", expression: "1" }] }));

    expect(problemsOf(rules, after, before)).toEqual([
      'webhooks[0].matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ]);
  });
});

test("warns of a name that is reserved for configurations in files", () => {
  const reserved = { ...configuration(), metadata: { name: "a.static.k8s.io" } };

  expect(warningsOf(rules, reserved)).toEqual([
    'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
  ]);
});

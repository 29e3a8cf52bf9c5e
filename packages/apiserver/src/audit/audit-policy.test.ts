import { describe, expect, test } from "vitest";
import { readAuditPolicy } from "./audit-policy.ts";
import type { AuditAttributes } from "./audit-policy.ts";

const policyOf = (rules: string) =>
  readAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`, "policy.yaml");
const ANN = { name: "ann", groups: ["shop", "system:authenticated"] };
const asked = (resource: string, more: Partial<AuditAttributes> = {}, namespace = "default"): AuditAttributes => {
  const [plural = "", subresource] = resource.split("/");
  return {
    user: ANN,
    verb: "get",
    path: "",
    resource: { group: "", resource: plural, subresource, namespace, name: "a" },
    ...more,
  };
};
const page = (path: string): AuditAttributes => ({ user: ANN, verb: "get", path });

describe("the first rule that matches decides", () => {
  const cases: Record<string, { rules: string; request: AuditAttributes; want: string }> = {
    "no rule: None": { rules: 'rules: [{level: Metadata, users: ["bob"]}]', request: asked("pods"), want: "None" },
    "the order of rules counts": {
      rules: "rules: [{level: None, verbs: [get]}, {level: Metadata}]",
      request: asked("pods"),
      want: "None",
    },
    "by group of the user": {
      rules: "rules: [{level: Metadata, userGroups: [shop]}]",
      request: asked("pods"),
      want: "Metadata",
    },
    "a request without a user does not match a user": {
      rules: "rules: [{level: Metadata, users: [ann]}]",
      request: asked("pods", { user: undefined }),
      want: "None",
    },
    "a resource does not include its subresources": {
      rules: "rules: [{level: Metadata, resources: [{resources: [pods]}]}]",
      request: asked("pods/log"),
      want: "None",
    },
    "pods/* is the subresources of pods": {
      rules: 'rules: [{level: Metadata, resources: [{resources: ["pods/*"]}]}]',
      request: asked("pods/log"),
      want: "Metadata",
    },
    "*/status is that subresource of every kind": {
      rules: 'rules: [{level: Metadata, resources: [{resources: ["*/status"]}]}]',
      request: asked("pods/status"),
      want: "Metadata",
    },
    "by the name of the object": {
      rules: "rules: [{level: Metadata, resources: [{resources: [pods], resourceNames: [b]}]}]",
      request: asked("pods"),
      want: "None",
    },
    "the group must be the same": {
      rules: "rules: [{level: Metadata, resources: [{group: apps}]}]",
      request: asked("pods"),
      want: "None",
    },
    'the namespace "" is objects without one': {
      rules: 'rules: [{level: Metadata, namespaces: [""]}]',
      request: asked("nodes", {}, ""),
      want: "Metadata",
    },
    "a rule for resources does not match a path": {
      rules: "rules: [{level: Metadata, resources: [{resources: [pods]}]}]",
      request: page("/version"),
      want: "None",
    },
    "paths match by prefix": {
      rules: 'rules: [{level: Metadata, nonResourceURLs: ["/healthz*"]}]',
      request: page("/healthz/ping"),
      want: "Metadata",
    },
    "a rule without a selection matches both": {
      rules: "rules: [{level: Request}]",
      request: page("/version"),
      want: "Request",
    },
  };
  test.each(Object.entries(cases))("%s", (_, { rules, request, want }) => {
    expect(policyOf(rules).decide(request).level).toBe(want);
  });
});

describe("bodies that are secrets are recorded only where a rule names the resource", () => {
  const levels = (rules: string, ...resources: string[]): string[] =>
    resources.map((resource) => policyOf(rules).decide(asked(resource)).level);

  test("a rule for everything, or for a group, records their metadata", () => {
    const secret = ["secrets", "configmaps", "serviceaccounts/token"];

    expect(levels("rules: [{level: RequestResponse}]", ...secret, "pods")).toEqual([
      "Metadata",
      "Metadata",
      "Metadata",
      "RequestResponse",
    ]);
    expect(levels('rules: [{level: Request, resources: [{resources: ["*"]}]}]', ...secret, "pods")).toEqual([
      "Metadata",
      "Metadata",
      "Metadata",
      "Request",
    ]);
    expect(levels('rules: [{level: Request, resources: [{group: ""}]}]', "secrets")).toEqual(["Metadata"]);
  });

  test("a rule that names it records it", () => {
    expect(levels("rules: [{level: Request, resources: [{resources: [secrets]}]}]", "secrets")).toEqual(["Request"]);
  });

  test("the server adds resources that contain other objects", () => {
    const text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Request}]";
    const policy = readAuditPolicy(text, "policy.yaml", [{ group: "", resource: "works" }]);

    expect(policy.decide(asked("works")).level).toBe("Metadata");
  });
});

test("stages and managedFields of a rule come on top of those of the policy", () => {
  const policy = policyOf(
    "omitStages: [RequestReceived]\nomitManagedFields: true\nrules: [{level: Request, verbs: [get], " +
      "omitStages: [ResponseStarted], omitManagedFields: false}, {level: Request}]",
  );

  const [own, plain] = [policy.decide(asked("pods")), policy.decide(asked("pods", { verb: "list" }))];

  expect([[...own.omitStages], own.omitManagedFields]).toEqual([["RequestReceived", "ResponseStarted"], false]);
  expect([[...plain.omitStages], plain.omitManagedFields]).toEqual([["RequestReceived"], true]);
});

describe("a policy that is not valid is rejected with the reason", () => {
  const cases: Record<string, [rules: string, reason: string]> = {
    "no rules": ["rules: []", "policy.yaml: rules: Required value"],
    "an unknown level": ["rules: [{level: Full}]", 'rules[0].level: Unsupported value: "Full"'],
    "an unknown field": ["rules: [{level: None, user: [ann]}]", "unknown field rules[0].user"],
    "an unknown stage": ["omitStages: [Done]\nrules: [{level: None}]", 'Unsupported value: "Done"'],
    "paths and resources in one rule": [
      'rules: [{level: None, nonResourceURLs: ["/x"], namespaces: [a]}]',
      "rules cannot apply to both regular resources and non-resource URLs",
    ],
    "a relative path": ["rules: [{level: None, nonResourceURLs: [x]}]", "must begin with a '/'"],
    "a wildcard in the middle": ['rules: [{level: None, nonResourceURLs: ["/a*b"]}]', "must be the final character"],
    "names without a resource": [
      "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
      "using resourceNames requires at least one resource",
    ],
  };
  test.each(Object.entries(cases))("%s", (_, [rules, reason]) => {
    expect(() => policyOf(rules)).toThrow(reason);
  });

  test("another kind, and text that is not YAML", () => {
    expect(() => readAuditPolicy("kind: List\napiVersion: v1", "p")).toThrow(
      "p: expected kind Policy of audit.k8s.io/v1",
    );
    expect(() => readAuditPolicy("{", "p")).toThrow("p cannot be read as YAML or JSON");
  });
});

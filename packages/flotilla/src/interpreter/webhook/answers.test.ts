import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { readComponents, readDependencies, readHealth, readReplicas, readStatus } from "./answers.ts";
import { failureOf } from "./test-webhook.ts";

describe("a response to InterpretReplica", () => {
  test("returns replicas and their requirements, with canonical quantities", () => {
    const answer = {
      replicas: 3,
      replicaRequirements: {
        nodeClaim: {
          nodeSelector: { disk: "ssd" },
          tolerations: [{ key: "gpu" }],
          hardNodeAffinity: { nodeSelectorTerms: [] },
        },
        resourceRequest: { cpu: "1000m", memory: 1024 },
        namespace: "shop",
        priorityClassName: "high",
      },
    };

    const replicas = readReplicas(answer);

    expect(replicas).toEqual({
      replicas: 3,
      requirements: {
        nodeClaim: {
          nodeSelector: { disk: "ssd" },
          tolerations: [{ key: "gpu" }],
          hardNodeAffinity: { nodeSelectorTerms: [] },
        },
        resourceRequest: { cpu: "1", memory: "1024" },
        namespace: "shop",
        priorityClassName: "high",
      },
    });
  });

  test("treats null as absent, as Go does", () => {
    const empty = { replicas: 0, replicaRequirements: { nodeClaim: null, resourceRequest: null, namespace: null } };
    const inside = {
      replicas: 1,
      replicaRequirements: {
        nodeClaim: { nodeSelector: { disk: null }, tolerations: [null] },
        resourceRequest: { cpu: null },
      },
    };

    expect(readReplicas(empty)).toEqual({ replicas: 0, requirements: {} });
    expect(readReplicas(inside)).toEqual({
      replicas: 1,
      requirements: { nodeClaim: { nodeSelector: { disk: "" }, tolerations: [{}] }, resourceRequest: { cpu: "0" } },
    });
  });

  const wrong: Record<string, [JsonObject, string]> = {
    "lacks replicas": [{}, "response.replicas is missing"],
    "has replicas as a string": [{ replicas: "3" }, "response.replicas is not an integer from 0 to 2147483647"],
    "has a fraction of a replica": [{ replicas: 1.5 }, "response.replicas is not an integer from 0 to 2147483647"],
    "has negative replicas": [{ replicas: -1 }, "response.replicas is not an integer from 0 to 2147483647"],
    "has more replicas than fit into 32 bits": [
      { replicas: 2 ** 31 },
      "response.replicas is not an integer from 0 to 2147483647",
    ],
    "has requirements that are a list": [
      { replicas: 1, replicaRequirements: [] },
      "response.replicaRequirements is not an object",
    ],
    "has an invalid quantity": [
      { replicas: 1, replicaRequirements: { resourceRequest: { cpu: "1Kib" } } },
      "response.replicaRequirements is invalid: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    "has a number in a node selector": [
      { replicas: 1, replicaRequirements: { nodeClaim: { nodeSelector: { zone: 1 } } } },
      "response.replicaRequirements is invalid: json: cannot unmarshal number into Go struct field NodeClaim.nodeClaim.nodeSelector of type string",
    ],
    "has node selector terms that are a string": [
      { replicas: 1, replicaRequirements: { nodeClaim: { hardNodeAffinity: { nodeSelectorTerms: "all" } } } },
      "response.replicaRequirements is invalid: json: cannot unmarshal string into Go struct field " +
        "NodeSelector.nodeClaim.hardNodeAffinity.nodeSelectorTerms of type []v1.NodeSelectorTerm",
    ],
  };
  for (const [mistake, [answer, message]] of Object.entries(wrong)) {
    test(`is rejected when it ${mistake}`, () => {
      const failure = failureOf(() => readReplicas(answer));

      expect(failure.reason).toBe("answer");
      expect(failure.message).toBe(message);
    });
  }
});

describe("a response to InterpretComponent", () => {
  test("returns the components, and none when it lists none", () => {
    const named = readComponents({
      components: [
        { name: "job", replicas: 1, replicaRequirements: { resourceRequest: { cpu: "500m" } } },
        { name: "task", replicaRequirements: { namespace: "elsewhere" } },
      ],
    });
    const none = readComponents({ components: null });

    expect(named).toEqual([
      { name: "job", replicas: 1, requirements: { resourceRequest: { cpu: "500m" } } },
      { name: "task", replicas: 0, requirements: {} },
    ]);
    expect(none).toEqual([]);
  });

  const wrong: Record<string, [Json, string]> = {
    "is not a list": [{}, "response.components is not a list of objects"],
    "has a component without a name": [
      [{ replicas: 1 }],
      "response.components[0].name is not a name of 1 to 32 characters",
    ],
    "has two components of the same name": [
      [{ name: "a" }, { name: "a" }],
      'response.components[1].name: duplicate name "a"',
    ],
  };
  for (const [mistake, [components, message]] of Object.entries(wrong)) {
    test(`is rejected when it ${mistake}`, () => {
      expect(failureOf(() => readComponents({ components })).message).toBe(message);
    });
  }
});

describe("a response to InterpretDependency", () => {
  test("returns references by name or by labels, without unknown fields", () => {
    const answer: JsonObject = {
      dependencies: [
        { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings", extra: 1 },
        {
          apiVersion: "v1",
          kind: "Secret",
          name: null,
          labelSelector: {
            matchLabels: { app: "web" },
            matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }],
          },
        },
      ],
    };

    const dependencies = readDependencies(answer);

    expect(dependencies).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" },
      {
        apiVersion: "v1",
        kind: "Secret",
        labelSelector: {
          matchLabels: { app: "web" },
          matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }],
        },
      },
    ]);
  });

  const wrong: Record<string, [JsonObject, RegExp]> = {
    "lacks apiVersion": [{ kind: "ConfigMap", name: "a" }, /lacks apiVersion$/],
    "lacks kind": [{ apiVersion: "v1", name: "a" }, /lacks kind$/],
    "has neither name nor labels": [{ apiVersion: "v1", kind: "ConfigMap" }, /neither name nor labelSelector$/],
    "has a name that is a number": [
      { apiVersion: "v1", kind: "ConfigMap", name: 1 },
      /dependencies\[0\]\.name is not a text$/,
    ],
    "selects with an unknown operator": [
      { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      /"Like" is not a valid label selector operator/,
    ],
    "selects by an invalid key": [
      { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: { "a b": "c" } } },
      /labelSelector is invalid/,
    ],
    "selects by values that are numbers": [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: [1] }] },
      },
      /labelSelector is invalid: json: cannot unmarshal number/,
    ],
  };
  for (const [mistake, [dependency, message]] of Object.entries(wrong)) {
    test(`is rejected when a reference ${mistake}`, () => {
      expect(failureOf(() => readDependencies({ dependencies: [dependency] })).message).toMatch(message);
    });
  }
});

test("a response to InterpretStatus must contain an object", () => {
  expect(readStatus({ rawStatus: { readyReplicas: 2 } })).toEqual({ readyReplicas: 2 });
  expect(failureOf(() => readStatus({ rawStatus: null })).message).toBe("response.rawStatus is missing");
  expect(failureOf(() => readStatus({ rawStatus: "fine" })).message).toBe("response.rawStatus is not an object");
});

test("a response to InterpretHealth must be true or false", () => {
  expect(readHealth({ healthy: false })).toBe(false);
  expect(failureOf(() => readHealth({})).message).toBe("response.healthy is not true or false");
  expect(failureOf(() => readHealth({ healthy: "true" })).message).toBe("response.healthy is not true or false");
});

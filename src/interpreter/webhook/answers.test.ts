import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../base/index.ts";
import { readComponents, readDependencies, readHealth, readReplicas, readStatus } from "./answers.ts";
import { failureOf } from "./test-webhook.ts";

describe("an answer to InterpretReplica", () => {
  test("gives replicas and what each asks for, with amounts in canonical form", () => {
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

  test("takes null for nothing, as Go does", () => {
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
    "has replicas as a text": [{ replicas: "3" }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has a fraction of a replica": [{ replicas: 1.5 }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has fewer than no replicas": [{ replicas: -1 }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has more replicas than 32 bits hold": [
      { replicas: 2 ** 31 },
      "response.replicas is not a whole number from 0 to 2147483647",
    ],
    "has requirements that are a list": [
      { replicas: 1, replicaRequirements: [] },
      "response.replicaRequirements is not an object",
    ],
    "has an amount that is none": [
      { replicas: 1, replicaRequirements: { resourceRequest: { cpu: "1Kib" } } },
      "response.replicaRequirements cannot be read: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    "selects nodes by a number": [
      { replicas: 1, replicaRequirements: { nodeClaim: { nodeSelector: { zone: 1 } } } },
      "response.replicaRequirements cannot be read: json: cannot unmarshal number into Go struct field NodeClaim.nodeClaim.nodeSelector of type string",
    ],
    "has terms that are a text": [
      { replicas: 1, replicaRequirements: { nodeClaim: { hardNodeAffinity: { nodeSelectorTerms: "all" } } } },
      "response.replicaRequirements cannot be read: json: cannot unmarshal string into Go struct field NodeSelector.nodeClaim.hardNodeAffinity.nodeSelectorTerms of type []v1.NodeSelectorTerm",
    ],
  };
  for (const [mistake, [answer, message]] of Object.entries(wrong)) {
    test(`is not used when it ${mistake}`, () => {
      const failure = failureOf(() => readReplicas(answer));

      expect(failure.reason).toBe("answer");
      expect(failure.message).toBe(message);
    });
  }
});

describe("an answer to InterpretComponent", () => {
  test("gives the components, and none when it names none", () => {
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
    "is no list": [{}, "response.components is not a list of objects"],
    "has a component without a name": [
      [{ replicas: 1 }],
      "response.components[0].name is not a name of 1 to 32 characters",
    ],
    "has two components of a name": [
      [{ name: "a" }, { name: "a" }],
      'response.components[1].name is "a" a second time',
    ],
  };
  for (const [mistake, [components, message]] of Object.entries(wrong)) {
    test(`is not used when it ${mistake}`, () => {
      expect(failureOf(() => readComponents({ components })).message).toBe(message);
    });
  }
});

describe("an answer to InterpretDependency", () => {
  test("gives references by name or by labels, without fields that nobody knows", () => {
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
    "selects with an operator that nobody knows": [
      { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } },
      /"Like" is not a valid label selector operator/,
    ],
    "selects by a key that is none": [
      { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: { "a b": "c" } } },
      /labelSelector cannot be used/,
    ],
    "selects by values that are numbers": [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: [1] }] },
      },
      /labelSelector cannot be read: json: cannot unmarshal number/,
    ],
  };
  for (const [mistake, [dependency, message]] of Object.entries(wrong)) {
    test(`is not used when a reference ${mistake}`, () => {
      expect(failureOf(() => readDependencies({ dependencies: [dependency] })).message).toMatch(message);
    });
  }
});

test("an answer to InterpretStatus gives an object and nothing else", () => {
  expect(readStatus({ rawStatus: { readyReplicas: 2 } })).toEqual({ readyReplicas: 2 });
  expect(failureOf(() => readStatus({ rawStatus: null })).message).toBe("response.rawStatus is missing");
  expect(failureOf(() => readStatus({ rawStatus: "fine" })).message).toBe("response.rawStatus is not an object");
});

test("an answer to InterpretHealth is true or false", () => {
  expect(readHealth({ healthy: false })).toBe(false);
  expect(failureOf(() => readHealth({})).message).toBe("response.healthy is not true or false");
  expect(failureOf(() => readHealth({ healthy: "true" })).message).toBe("response.healthy is not true or false");
});

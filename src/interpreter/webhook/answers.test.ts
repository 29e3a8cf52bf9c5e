import { describe, expect, test } from "vitest";
import { deepFreeze, messageOf } from "../../base/index.ts";
import type { Json, JsonObject } from "../../base/index.ts";
import { readComponents, readDependencies, readHealth, readPatched, readReplicas, readStatus } from "./answers.ts";
import { WebhookError } from "./webhook-error.ts";

const workload = deepFreeze({ apiVersion: "workload.example.io/v1alpha1", kind: "Workload", metadata: { name: "web", namespace: "shop", labels: { app: "web" } }, spec: { replicas: 3, template: { image: "web:1" } } });

const base64 = (operations: Json): string => Buffer.from(JSON.stringify(operations)).toString("base64");
const patching = (...operations: JsonObject[]): JsonObject => ({ patchType: "JSONPatch", patch: base64(operations) });
/** Parsed, because a key such as `__proto__` cannot be written in a literal. */
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

function failureOf(read: () => unknown): WebhookError {
  try {
    read();
  } catch (error) {
    if (error instanceof WebhookError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("an answer to InterpretReplica", () => {
  test("gives replicas and what each asks for, with amounts in canonical form", () => {
    const answer = { replicas: 3, replicaRequirements: { nodeClaim: { nodeSelector: { disk: "ssd" }, tolerations: [{ key: "gpu" }], hardNodeAffinity: { nodeSelectorTerms: [] } }, resourceRequest: { cpu: "1000m", memory: 1024 }, namespace: "shop", priorityClassName: "high" } };

    const replicas = readReplicas(answer);

    expect(replicas).toEqual({
      replicas: 3,
      requirements: { nodeClaim: { nodeSelector: { disk: "ssd" }, tolerations: [{ key: "gpu" }], hardNodeAffinity: { nodeSelectorTerms: [] } }, resourceRequest: { cpu: "1", memory: "1024" }, namespace: "shop", priorityClassName: "high" },
    });
  });

  test("takes null for nothing, as Go does", () => {
    const answer = { replicas: 0, replicaRequirements: { nodeClaim: null, resourceRequest: null, namespace: null } };

    const replicas = readReplicas(answer);

    expect(replicas).toEqual({ replicas: 0, requirements: {} });
  });

  const wrong: Record<string, [JsonObject, string]> = {
    "lacks replicas": [{}, "response.replicas is missing"],
    "has replicas as a text": [{ replicas: "3" }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has a fraction of a replica": [{ replicas: 1.5 }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has fewer than no replicas": [{ replicas: -1 }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has more replicas than 32 bits hold": [{ replicas: 2 ** 31 }, "response.replicas is not a whole number from 0 to 2147483647"],
    "has requirements that are a list": [{ replicas: 1, replicaRequirements: [] }, "response.replicaRequirements is not an object"],
    "has an amount that is none": [{ replicas: 1, replicaRequirements: { resourceRequest: { cpu: "much" } } }, 'response.replicaRequirements.resourceRequest["cpu"] is not a quantity'],
    "selects nodes by a number": [{ replicas: 1, replicaRequirements: { nodeClaim: { nodeSelector: { zone: 1 } } } }, "response.replicaRequirements.nodeClaim.nodeSelector is not a map of texts"],
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
    const named = readComponents({ components: [{ name: "job", replicas: 1, replicaRequirements: { resourceRequest: { cpu: "500m" } } }, { name: "task" }] });
    const none = readComponents({ components: null });

    expect(named).toEqual([{ name: "job", replicas: 1, requirements: { resourceRequest: { cpu: "500m" } } }, { name: "task", replicas: 0 }]);
    expect(none).toEqual([]);
  });

  const wrong: Record<string, [Json, string]> = {
    "is no list": [{}, "response.components is not a list of objects"],
    "has a component without a name": [[{ replicas: 1 }], "response.components[0].name is not a name of 1 to 32 characters"],
    "has two components of a name": [[{ name: "a" }, { name: "a" }], 'response.components[1].name is "a" a second time'],
  };
  for (const [mistake, [components, message]] of Object.entries(wrong)) {
    test(`is not used when it ${mistake}`, () => {
      expect(failureOf(() => readComponents({ components })).message).toBe(message);
    });
  }
});

describe("an answer to InterpretDependency", () => {
  test("gives references by name or by labels, without fields that nobody knows", () => {
    const answer: JsonObject = { dependencies: [{ apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings", extra: 1 }, { apiVersion: "v1", kind: "Secret", name: null, labelSelector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }] } }] };

    const dependencies = readDependencies(answer);

    expect(dependencies).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" },
      { apiVersion: "v1", kind: "Secret", labelSelector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "In", values: ["a"] }] } },
    ]);
  });

  const wrong: Record<string, [JsonObject, RegExp]> = {
    "lacks apiVersion": [{ kind: "ConfigMap", name: "a" }, /lacks apiVersion$/],
    "lacks kind": [{ apiVersion: "v1", name: "a" }, /lacks kind$/],
    "has neither name nor labels": [{ apiVersion: "v1", kind: "ConfigMap" }, /neither name nor labelSelector$/],
    "has a name that is a number": [{ apiVersion: "v1", kind: "ConfigMap", name: 1 }, /dependencies\[0\]\.name is not a text$/],
    "selects with an operator that nobody knows": [{ apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } }, /"Like" is not a valid label selector operator/],
    "selects by a key that is none": [{ apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: { "a b": "c" } } }, /labelSelector selects nothing that can be found/],
    "selects by values that are numbers": [{ apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: [1] }] } }, /matchExpressions\[0\]\.values is not a list of texts$/],
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

describe("an answer with a patch", () => {
  test("changes a copy that shares what stays the same", () => {
    const patched = readPatched(patching({ op: "replace", path: "/spec/replicas", value: 1 }), workload);

    expect(patched).toEqual({ ...workload, spec: { replicas: 1, template: { image: "web:1" } } });
    expect(patched.metadata).toBe(workload.metadata);
    expect(workload.spec.replicas).toBe(3);
  });

  test("leaves the object as it is when there is no patch", () => {
    expect(readPatched({}, workload)).toBe(workload);
    expect(readPatched({ patch: null, patchType: null }, workload)).toBe(workload);
  });

  test("may add the whole object, as Karmada's library takes it", () => {
    const patched = readPatched(patching({ op: "add", path: "", value: { ...workload, spec: { replicas: 9 } } }), workload);

    expect(patched).toEqual({ ...workload, spec: { replicas: 9 } });
  });

  test("makes keys that look like a prototype plain ones", () => {
    const patch = parsed('{"op":"add","path":"/spec/__proto__","value":{"polluted":true}}');

    const patched = readPatched(patching(patch), workload) as unknown as { spec: object };

    expect(Object.keys(patched.spec)).toContain("__proto__");
    expect("polluted" in patched.spec).toBe(false);
    expect("polluted" in {}).toBe(false);
  });

  const wrong: Record<string, [JsonObject, RegExp]> = {
    "has a type that is not JSON patch": [{ ...patching(), patchType: "MergePatch" }, /^response\.patchType is not JSONPatch$/],
    "has no type": [{ patch: base64([]) }, /^response\.patchType is not JSONPatch$/],
    "has a type and no patch": [{ patchType: "JSONPatch" }, /^response\.patch is missing$/],
    "is not base64": [{ patchType: "JSONPatch", patch: "[{}]" }, /^response\.patch is not base64$/],
    "is base64 without its padding": [{ patchType: "JSONPatch", patch: "W10" }, /^response\.patch is not base64$/],
    "is not JSON": [{ patchType: "JSONPatch", patch: Buffer.from("[").toString("base64") }, /^response\.patch is not JSON/],
    "is nested without end": [{ patchType: "JSONPatch", patch: Buffer.from("[".repeat(100_000)).toString("base64") }, /^response\.patch is nested more than 1000 levels deep$/],
    "is no list": [{ patchType: "JSONPatch", patch: base64({}) }, /^response\.patch does not fit the object/],
    "removes what is not there": [patching({ op: "remove", path: "/spec/paused" }), /^response\.patch does not fit the object/],
    "reaches for a prototype": [patching({ op: "add", path: "/__proto__/polluted", value: true }), /^response\.patch does not fit the object/],
    "reaches for a constructor": [patching({ op: "add", path: "/constructor/prototype/polluted", value: true }), /^response\.patch does not fit the object/],
    "changes the name": [patching({ op: "replace", path: "/metadata/name", value: "other" }), /changes metadata\.name/],
    "changes the namespace": [patching({ op: "remove", path: "/metadata/namespace" }), /changes metadata\.namespace/],
    "changes the kind": [patching({ op: "replace", path: "/kind", value: "Secret" }), /changes kind/],
    "changes the version": [patching({ op: "replace", path: "/apiVersion", value: "v1" }), /changes apiVersion/],
    "replaces the object by a list": [patching({ op: "replace", path: "", value: [] }), /leaves no object/],
    "replaces the metadata by a text": [patching({ op: "replace", path: "/metadata", value: "none" }), /leaves no object/],
  };
  for (const [mistake, [answer, message]] of Object.entries(wrong)) {
    test(`is not used when it ${mistake}`, () => {
      const failure = failureOf(() => readPatched(answer, workload));

      expect(failure.reason).toBe("answer");
      expect(messageOf(failure)).toMatch(message);
    });
  }
});

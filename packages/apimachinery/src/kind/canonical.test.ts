import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import { canonicalObject } from "./canonical.ts";
import type { KubernetesObject } from "./meta.ts";

const deployment = (spec: object, rest: object = {}): KubernetesObject =>
  ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec, ...rest }) as KubernetesObject;
const specOf = (object: KubernetesObject): unknown =>
  (canonicalObject("apps-v1", "Deployment", deepFreeze(object)) as { spec?: unknown }).spec;

test("omits zeros of fields that are not pointers and keeps those of pointers", () => {
  const spec = specOf(
    deployment({
      replicas: 0,
      minReadySeconds: 0,
      paused: false,
      selector: {},
      template: { spec: { containers: [] } },
    }),
  );

  expect(spec).toEqual({
    replicas: 0,
    selector: {},
    strategy: {},
    template: { metadata: {}, spec: { containers: [] } },
  });
});

test("omits nulls, empty lists and empty maps", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", labels: {}, creationTimestamp: null },
    data: {},
    binaryData: null,
  } as unknown as KubernetesObject;

  expect(canonicalObject("core-v1", "ConfigMap", deepFreeze(object))).toEqual({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
  });
});

test("writes empty structs, and zero counts in the status", () => {
  const object = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "a" },
    spec: { selector: {} },
  } as unknown as KubernetesObject;

  expect(canonicalObject("apps-v1", "ReplicaSet", deepFreeze(object))).toMatchObject({
    spec: { template: { metadata: {} } },
    status: { replicas: 0 },
  });
});

test("normalizes quantities and times", () => {
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", creationTimestamp: "2024-05-01T14:00:00.5+02:00" },
    spec: { containers: [{ name: "c", resources: { limits: { cpu: "1000m", memory: 1024 } } }] },
  } as unknown as KubernetesObject;

  expect(canonicalObject("core-v1", "Pod", deepFreeze(pod))).toMatchObject({
    metadata: { creationTimestamp: "2024-05-01T12:00:00Z" },
    spec: { containers: [{ resources: { limits: { cpu: "1", memory: "1024" } } }] },
  });
});

test("returns the same object when it is already canonical", () => {
  const object = canonicalObject(
    "apps-v1",
    "Deployment",
    deployment({ replicas: 1, selector: {}, template: { metadata: {} } }),
  ) as KubernetesObject;

  expect(canonicalObject("apps-v1", "Deployment", object)).toBe(object);
});

test("leaves a missing required field to validation", () => {
  expect(specOf(deployment({ template: { spec: { containers: [{ name: "" }] } } }))).toEqual({
    strategy: {},
    template: { metadata: {}, spec: { containers: [{ resources: {} }] } },
  });
});

test("the canonical form of an object keeps unknown fields", () => {
  expect(specOf(deployment({ someday: { x: null } }))).toMatchObject({ someday: { x: null } });
});

test("treats a __proto__ key as an ordinary key", () => {
  const object = JSON.parse(
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[],"overhead":{"__proto__":"1000m"}}}',
  ) as KubernetesObject;

  const { spec } = canonicalObject("core-v1", "Pod", object) as unknown as { spec: { overhead: object } };

  expect(Object.entries(spec.overhead)).toEqual([["__proto__", "1"]]);
  expect(Object.getPrototypeOf(spec.overhead)).toBe(Object.prototype);
});

const wrongTypes: Record<string, [spec: object, message: string]> = {
  "rejects a string where a number belongs": [
    { replicas: "3" },
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "rejects a fraction where an integer belongs": [
    { replicas: 1.5 },
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "rejects an object where a list belongs": [
    { template: { spec: { containers: {} } } },
    "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
  ],
  "rejects an invalid quantity": [
    { template: { spec: { containers: [{ resources: { limits: { cpu: "1x" } } }] } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  "rejects a number that is too large": [
    { replicas: 2 ** 31 },
    "json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "rejects an unknown quantity suffix": [
    { template: { spec: { containers: [{ resources: { limits: { cpu: "1Kk" } } }] } } },
    "unable to parse quantity's suffix",
  ],
  "rejects a map value that is not a string": [
    { template: { metadata: { labels: { a: 5 } } } },
    "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
  ],
  "rejects an invalid time": [
    { template: { metadata: { creationTimestamp: "yesterday" } } },
    'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
  ],
};
for (const [behaviour, [spec, message]] of Object.entries(wrongTypes)) {
  test(behaviour, () => {
    expect(() => specOf(deployment(spec))).toThrow(
      `Deployment in version "v1" cannot be handled as a Deployment: ${message}`,
    );
  });
}

test("the error of a canonical form does not repeat a secret value that is not base64", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a" },
    data: { password: "hunter2!" },
  } as unknown as KubernetesObject;

  expect(() => canonicalObject("core-v1", "Secret", secret)).toThrow(/: illegal base64 data at input byte 7$/);
});

test("omits a map that holds only nulls, and its output is already canonical", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a" },
    data: { a: null },
  } as unknown as KubernetesObject;

  const canonical = canonicalObject("core-v1", "Secret", deepFreeze(secret));

  expect(canonical).toEqual({ apiVersion: "v1", kind: "Secret", metadata: { name: "a" } });
  expect(canonicalObject("core-v1", "Secret", canonical)).toBe(canonical);
});

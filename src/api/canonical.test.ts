import { expect, test } from "vitest";
import { deepFreeze } from "../base/index.ts";
import { canonicalObject } from "./canonical.ts";
import type { KubernetesObject } from "./meta.ts";

const deployment = (spec: object, rest: object = {}): KubernetesObject =>
  ({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec, ...rest }) as KubernetesObject;
const specOf = (object: KubernetesObject): unknown =>
  (canonicalObject("apps-v1", "Deployment", deepFreeze(object)) as { spec?: unknown }).spec;

test("leaves out zeros of fields that are not pointers and keeps those of pointers", () => {
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

test("leaves out nulls, empty lists and empty maps", () => {
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

test("writes structs that are empty and counts that are zero in the status", () => {
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

test("gives quantities and times their one form", () => {
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

test("returns an object that has the form already as it is", () => {
  const object = canonicalObject(
    "apps-v1",
    "Deployment",
    deployment({ replicas: 1, selector: {}, template: { metadata: {} } }),
  ) as KubernetesObject;

  expect(canonicalObject("apps-v1", "Deployment", object)).toBe(object);
});

test("leaves a required field that is missing to validation", () => {
  expect(specOf(deployment({ template: { spec: { containers: [{ name: "" }] } } }))).toEqual({
    strategy: {},
    template: { metadata: {}, spec: { containers: [{ resources: {} }] } },
  });
});

test("keeps fields that it does not know", () => {
  expect(specOf(deployment({ someday: { x: null } }))).toMatchObject({ someday: { x: null } });
});

test("keeps a hostile key an ordinary key", () => {
  const object = JSON.parse(
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[],"overhead":{"__proto__":"1000m"}}}',
  ) as KubernetesObject;

  const { spec } = canonicalObject("core-v1", "Pod", object) as unknown as { spec: { overhead: object } };

  expect(Object.entries(spec.overhead)).toEqual([["__proto__", "1"]]);
  expect(Object.getPrototypeOf(spec.overhead)).toBe(Object.prototype);
});

const wrongTypes: Record<string, [spec: object, message: string]> = {
  "refuses a text where a number belongs": [
    { replicas: "3" },
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "refuses a fraction where a whole number belongs": [
    { replicas: 1.5 },
    "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "refuses an object where a list belongs": [
    { template: { spec: { containers: {} } } },
    "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
  ],
  "refuses what is no quantity": [
    { template: { spec: { containers: [{ resources: { limits: { cpu: "1x" } } }] } } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  "refuses a number that is too large": [
    { replicas: 2 ** 31 },
    "json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32",
  ],
  "refuses a suffix that means nothing": [
    { template: { spec: { containers: [{ resources: { limits: { cpu: "1Kk" } } }] } } },
    "unable to parse quantity's suffix",
  ],
  "refuses an item of a map that is no text": [
    { template: { metadata: { labels: { a: 5 } } } },
    "json: cannot unmarshal number into Go struct field ObjectMeta.spec.template.metadata.labels of type string",
  ],
  "refuses a time that is none": [
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

test("does not repeat a secret that is not base64", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "a" },
    data: { password: "hunter2!" },
  } as unknown as KubernetesObject;

  expect(() => canonicalObject("core-v1", "Secret", secret)).toThrow(/: illegal base64 data at input byte 7$/);
});

test("leaves out a map that holds nothing but nulls, and is content with what it made", () => {
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

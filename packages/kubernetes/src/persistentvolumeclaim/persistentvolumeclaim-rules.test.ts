import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../../../apimachinery/src/kind/test-review.ts";
import { type PersistentVolumeClaim } from "./persistentvolumeclaim-kind.ts";
import { rules, prepareClaim } from "./persistentvolumeclaim-rules.ts";

const claim = (spec: object = {}, status: object = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  status,
});
const sized = (storage: string): object => ({ resources: { requests: { storage } } });
const IMMUTABLE =
  "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

const updates: Record<string, [before: object, after: object, want: RegExp]> = {
  "a claim without a volume can be bound to one": [{}, { volumeName: "v" }, /^$/],
  "a bound volumeName is immutable": [{ volumeName: "v" }, { volumeName: "w" }, /^spec: Forbidden/],
  "a storage class can be set where there was none": [{}, { storageClassName: "fast" }, /^$/],
  "the storage class is immutable": [
    { storageClassName: "slow" },
    { storageClassName: "fast" },
    /changed: `spec.storageClassName`$/,
  ],
  "access modes are immutable": [{}, { accessModes: ["ReadWriteMany"] }, /changed: `spec.accessModes\[0\]`$/],
  "an unbound claim cannot be resized": [{}, sized("2Gi"), /changed: `spec.resources.requests.storage`$/],
};
for (const [rule, [before, after, want]] of Object.entries(updates)) {
  test(`on update: ${rule}`, () => {
    const problems = problemsOf(rules, claim(after), completedBy(rules, claim(before)));

    expect(problems.join()).toMatch(want);
  });
}

test("a bound claim can grow, and cannot shrink below its capacity", () => {
  const status = { phase: "Bound", capacity: { storage: "2Gi" } };
  const old = completedBy(rules, claim(sized("3Gi"), status));

  expect(problemsOf(rules, claim(sized("4Gi"), status), old)).toEqual([]);
  expect(problemsOf(rules, claim(sized("2500Mi"), status), old)).toEqual([]);
  expect(problemsOf(rules, claim(sized("1Gi"), status), old)).toEqual([
    "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
  ]);
});

test("an update of an immutable spec is rejected with the changed fields", () => {
  const [problem] = problemsOf(rules, claim(sized("2Gi")), completedBy(rules, claim()));

  expect(problem).toBe(`${IMMUTABLE}; changed: \`spec.resources.requests.storage\``);
});

const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "x" };
const sources: Record<string, [spec: object, want: object]> = {
  "dataSource and dataSourceRef must agree": [
    { dataSourceRef: snapshot },
    { dataSource: snapshot, dataSourceRef: snapshot },
  ],
  "dataSource alone is enough": [{ dataSource: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
  "unsupported kinds are dropped from dataSource": [{ dataSource: { kind: "X", name: "x" } }, {}],
  "a data source in another namespace is not supported": [{ dataSourceRef: { ...snapshot, namespace: "other" } }, {}],
};
for (const [rule, [spec, want]] of Object.entries(sources)) {
  test(rule, () => {
    const { dataSource, dataSourceRef } = prepareClaim(claim(spec), undefined).spec ?? {};

    expect({ dataSource, dataSourceRef }).toEqual(want);
  });
}

test("an unchanged claim stays the same object", () => {
  const object = claim();

  expect(prepareClaim(object, object)).toBe(object);
});

test("warns of a fractional byte value", () => {
  expect(warningsOf(rules, claim(sized("1500m")))).toEqual([
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

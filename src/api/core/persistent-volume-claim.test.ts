import { expect, test } from "vitest";
import { completedBy, problemsOf, warningsOf } from "../test-review.ts";
import { admissions, prepareClaim, type PersistentVolumeClaim } from "./persistent-volume-claim.ts";

const claim = (spec: object = {}, status: object = {}): PersistentVolumeClaim => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "c", namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  status,
});
const sized = (storage: string): object => ({ resources: { requests: { storage } } });
const IMMUTABLE =
  "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n";

const updates: Record<string, [before: object, after: object, want: RegExp]> = {
  "a volume is named once": [{}, { volumeName: "v" }, /^$/],
  "and then stays": [{ volumeName: "v" }, { volumeName: "w" }, /^spec: Forbidden/],
  "a class may be named where there was none": [{}, { storageClassName: "fast" }, /^$/],
  "another class is another claim": [
    { storageClassName: "slow" },
    { storageClassName: "fast" },
    /"StorageClassName": "fast"/,
  ],
  "access modes stay": [{}, { accessModes: ["ReadWriteMany"] }, /-  "ReadWriteOnce"\n\+  "ReadWriteMany"/],
  "a claim without a volume does not grow": [{}, sized("2Gi"), /-   "storage": "1Gi"\n\+   "storage": "2Gi"/],
};
for (const [rule, [before, after, want]] of Object.entries(updates)) {
  test(`on update: ${rule}`, () => {
    const problems = problemsOf(admissions, claim(after), completedBy(admissions, claim(before)));

    expect(problems.join()).toMatch(want);
  });
}

test("a bound claim grows, and does not shrink below what it has", () => {
  const status = { phase: "Bound", capacity: { storage: "2Gi" } };
  const old = completedBy(admissions, claim(sized("3Gi"), status));

  expect(problemsOf(admissions, claim(sized("4Gi"), status), old)).toEqual([]);
  expect(problemsOf(admissions, claim(sized("2500Mi"), status), old)).toEqual([]);
  expect(problemsOf(admissions, claim(sized("1Gi"), status), old)).toEqual([
    "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity",
  ]);
});

test("the difference is printed as the server prints it", () => {
  const [problem] = problemsOf(admissions, claim(sized("2Gi")), completedBy(admissions, claim()));

  expect(problem).toBe(
    `${IMMUTABLE}@@ -6,7 +6,7 @@\n  "Resources": {\n   "Limits": null,\n   "Requests": {\n-   "storage": "1Gi"\n+   "storage": "2Gi"\n   }\n  },\n  "VolumeName": "",\n`,
  );
});

const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "x" };
const sources: Record<string, [spec: object, want: object]> = {
  "both names of a source agree": [{ dataSourceRef: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
  "the older one alone is enough": [{ dataSource: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
  "what the older one never took is dropped": [{ dataSource: { kind: "X", name: "x" } }, {}],
  "a source in another namespace is not supported": [{ dataSourceRef: { ...snapshot, namespace: "other" } }, {}],
};
for (const [rule, [spec, want]] of Object.entries(sources)) {
  test(rule, () => {
    const { dataSource, dataSourceRef } = prepareClaim(claim(spec), undefined).spec ?? {};

    expect({ dataSource, dataSourceRef }).toEqual(want);
  });
}

test("a claim that is left as it is stays the very same object", () => {
  const object = claim();

  expect(prepareClaim(object, object)).toBe(object);
});

test("a fraction of a byte is warned of", () => {
  expect(warningsOf(admissions, claim(sized("1500m")))).toEqual([
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

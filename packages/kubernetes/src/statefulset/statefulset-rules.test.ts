import { expect, test } from "vitest";
import { review } from "../../../apimachinery/src/kind/test-review.ts";
import type { StatefulSet } from "./statefulset-kind.ts";
import { rules } from "./statefulset-rules.ts";

const base = {
  serviceName: "s",
  selector: { matchLabels: { app: "a" } },
  template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
};
const make = (spec: object = {}): StatefulSet => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "a", namespace: "shop" },
  spec: { ...base, ...spec },
});
const claim = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

test("a StatefulSet defaults to ordered pods, rolling updates and retained claims", () => {
  expect(review(rules, make()).object.spec).toMatchObject({
    podManagementPolicy: "OrderedReady",
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    replicas: 1,
    revisionHistoryLimit: 10,
  });
});

test("a claim template is defaulted as a PersistentVolumeClaim and can be mounted", () => {
  const template = {
    ...base.template,
    spec: { containers: [{ name: "c", image: "i", volumeMounts: [{ name: "data", mountPath: "/d" }] }] },
  };

  const { object, problems } = review(rules, make({ volumeClaimTemplates: [claim], template }));

  expect(problems).toEqual([]);
  expect(object.spec.volumeClaimTemplates?.[0]).toMatchObject({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    spec: { volumeMode: "Filesystem" },
    status: { phase: "Pending" },
  });
});

const refusals: Record<string, [spec: object, want: string[]]> = {
  "an unknown update strategy": [
    { updateStrategy: { type: "X" } },
    [`spec.updateStrategy: Invalid value: {"type":"X"}: must be 'RollingUpdate' or 'OnDelete'`],
  ],
  "a claim without a storage request": [
    { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }] },
    ["spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"],
  ],
  "an empty selector": [
    { selector: {} },
    ["spec.selector: Invalid value: {}: empty selector is invalid for statefulset"],
  ],
};
for (const [behaviour, [spec, want]] of Object.entries(refusals)) {
  test(`rejects ${behaviour}`, () => {
    expect(review(rules, make(spec)).problems).toEqual(want);
  });
}

test("rejects changes to fields other than the mutable ones", () => {
  const old = review(rules, make()).object;
  const changed = (spec: object): string[] =>
    review(rules, { ...old, spec: { ...old.spec, ...spec } }, { old }).problems;

  expect(changed({ replicas: 3, minReadySeconds: 5 })).toEqual([]);
  expect(changed({ serviceName: "t" })[0]).toMatch(
    /^spec: Forbidden: updates to statefulset spec for fields other than/,
  );
});

test("status counts cannot exceed status.replicas", () => {
  const old = review(rules, make()).object;

  const { problems } = review<StatefulSet>(
    rules,
    { ...old, status: { replicas: 1, readyReplicas: 2 } },
    { old, subresource: "status" },
  );

  expect(problems).toEqual(["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"]);
});

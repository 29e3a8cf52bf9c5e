import { describe, expect, test } from "vitest";
import { concerns, entryOf, fieldsOf } from "./history-entries.ts";

const web = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" };
const about = (kind: string, namespace: string | undefined, name: string) => ({
  metadata: { name: "event", namespace: namespace ?? "default" },
  involvedObject: { kind, namespace, name },
});

describe("the history of a Deployment", () => {
  const cases: Record<string, { event: ReturnType<typeof about>; want: boolean }> = {
    "has events of the Deployment": { event: about("Deployment", "shop", "web"), want: true },
    "has events of its binding": { event: about("ResourceBinding", "shop", "web-deployment"), want: true },
    "has events of its Works": { event: about("Work", "karmada-es-oslo", "web-56d6c779bb"), want: true },
    "has no events of a Deployment of that name in another namespace": {
      event: about("Deployment", "test", "web"),
      want: false,
    },
    "has no events of a binding of that name in another namespace": {
      event: about("ResourceBinding", "test", "web-deployment"),
      want: false,
    },
    "has no events of a binding whose name only begins like its own": {
      event: about("ResourceBinding", "shop", "web-deployment-2-deployment"),
      want: false,
    },
    "has no events of a ConfigMap that is named like its binding": {
      event: about("ConfigMap", "shop", "web-deployment"),
      want: false,
    },
    "has no events of another kind of that name": { event: about("Service", "shop", "web"), want: false },
    "has no events of Works of that name from another namespace": {
      event: about("Work", "karmada-es-oslo", "web-569d9b6446"),
      want: false,
    },
  };
  for (const [behaviour, { event, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(concerns(event, web)).toBe(want);
    });

  test("of an object without a namespace has the events of the object, wherever they are", () => {
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", namespace: "", name: "view" };

    expect(concerns(about("ClusterRole", undefined, "view"), role)).toBe(true);
    expect(concerns(about("Work", "karmada-es-oslo", "view-8774ddb95"), role)).toBe(true);
    expect(concerns(about("ClusterResourceBinding", undefined, "view-clusterrole"), role)).toBe(true);
  });
});

describe("an event in a history", () => {
  const cases: Record<string, { event: Parameters<typeof entryOf>[0]; want: Partial<ReturnType<typeof entryOf>> }> = {
    "names the member of a Work": {
      event: { ...about("Work", "karmada-es-oslo", "web-1"), reason: "WorkApplied", message: "applied", count: 3 },
      want: {
        place: "oslo",
        object: "Work karmada-es-oslo/web-1",
        text: "WorkApplied: applied",
        type: "event",
        count: 3,
      },
    },
    "names the member of a Cluster": { event: about("Cluster", undefined, "oslo"), want: { place: "oslo" } },
    "is on the hub otherwise": { event: about("Deployment", "shop", "web"), want: { place: "hub", count: 1 } },
    "is a warning": { event: { ...about("Deployment", "shop", "web"), type: "Warning" }, want: { type: "warning" } },
    "is a decision of the scheduler even when it failed": {
      event: { ...about("ResourceBinding", "shop", "web-deployment"), type: "Warning", reason: "FailedScheduling" },
      want: { type: "decision" },
    },
    "is drift": {
      event: { ...about("Work", "karmada-es-oslo", "web-1"), type: "Warning", reason: "DriftCorrected" },
      want: { type: "drift" },
    },
    "has the time when it was last seen": {
      event: {
        ...about("Deployment", "shop", "web"),
        lastTimestamp: "2026-05-01T12:00:00Z",
        eventTime: "2026-05-01T11:00:00Z",
      },
      want: { at: "2026-05-01T12:00:00Z" },
    },
    "without any time has none": { event: about("Deployment", "shop", "web"), want: { at: "" } },
  };
  for (const [behaviour, { event, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(entryOf(event)).toMatchObject(want);
    });
});

describe("the fields of a manager", () => {
  const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`f:key${index}`, {}]));
  const cases: Record<string, { fields: Parameters<typeof fieldsOf>[0]; want: string[] }> = {
    "are none without fields": { fields: undefined, want: [] },
    "are named by their paths": {
      fields: { "f:spec": { "f:replicas": {} }, "f:metadata": { "f:labels": { ".": {}, "f:app": {} } } },
      want: ["spec.replicas", "metadata.labels.app"],
    },
    "end after three levels": {
      fields: { "f:spec": { "f:template": { "f:spec": { "f:containers": {}, "f:volumes": {} } } } },
      want: ["spec.template.spec"],
    },
    "are counted beyond twelve": {
      fields: { "f:data": many },
      want: [...Array.from({ length: 12 }, (_, index) => `data.key${index}`), "and 2 more"],
    },
    "of an unexpected type are fields": { fields: { "f:spec": "x" }, want: ["spec"] },
  };
  for (const [behaviour, { fields, want }] of Object.entries(cases))
    test(behaviour, () => {
      expect(fieldsOf(fields)).toEqual(want);
    });
});

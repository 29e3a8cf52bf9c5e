import { describe, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { Pod } from "@flotilla/kubernetes";
import { podTrouble } from "./pod-trouble.ts";

const UPDATED = "2026-05-01T12:00:00Z";
const inPlace = {
  annotations: {
    "apps.kruise.io/inplace-update-state": JSON.stringify({ revision: "web-2", updateTimestamp: UPDATED }),
  },
};
const pull = (image: string): JsonObject => ({
  state: { waiting: { reason: "ImagePullBackOff", message: `Back-off pulling image "${image}"` } },
});
const crash = (finishedAt: string): JsonObject => ({
  restartCount: 5,
  state: { waiting: { reason: "CrashLoopBackOff" } },
  lastState: { terminated: { exitCode: 1, finishedAt } },
});

interface Given {
  kind?: string;
  owner?: { kind: string; name: string };
  metadata?: object;
  container?: object;
  status: JsonObject;
  updateRevision?: string;
  template?: JsonObject;
}

function troubleOf({ kind = "CloneSet", owner, metadata, container, status, updateRevision, template }: Given) {
  const pod = {
    metadata: {
      name: "web-x",
      ownerReferences: [{ apiVersion: "v1", uid: "u", kind: "CloneSet", name: "web", controller: true, ...owner }],
      ...metadata,
    },
    spec: { containers: [{ name: "web", image: "web:2", ...container }, { name: "injected" }] },
    status: { containerStatuses: [{ name: "web", ready: false, restartCount: 0, ...status }] },
  } as unknown as Pod;
  const copy = {
    apiVersion: kind === "Deployment" ? "apps/v1" : "apps.kruise.io/v1beta1",
    kind,
    metadata: { name: "web" },
    spec: { template: template ?? { spec: { containers: [{ name: "web", image: "web:2" }] } } },
  } as unknown as KubernetesObject;
  return podTrouble([pod], { copy, updateRevision, maxRestarts: 3 })?.message;
}

describe("a pod that does not start", () => {
  const counted: Record<string, Given> = {
    "with the image of the copy": { status: pull("web:2") },
    "of the revision that the member updates to": {
      metadata: { labels: { "controller-revision-hash": "web-7f" } },
      updateRevision: "web-7f",
      status: pull("web:2"),
    },
    "of this revision, whose label is its hash alone": {
      metadata: { labels: { "controller-revision-hash": "7f" } },
      updateRevision: "web-7f",
      status: pull("web:2"),
    },
    "of a ReplicaSet of the Deployment": {
      kind: "Deployment",
      owner: { kind: "ReplicaSet", name: "web-5d" },
      status: pull("web:2"),
    },
    "with a quantity in another form": {
      kind: "Deployment",
      owner: { kind: "ReplicaSet", name: "web-5d" },
      container: { resources: { limits: { cpu: "1" } } },
      template: { spec: { containers: [{ name: "web", resources: { limits: { cpu: "1000m" } } }] } },
      status: pull("web:2"),
    },
    "after it was updated in place": { metadata: inPlace, status: pull("registry.example.com/web:2") },
    "and has crashed since it was updated in place": { metadata: inPlace, status: crash("2026-05-01T12:00:09Z") },
    "and restarted too often": { status: { restartCount: 4 } },
  };
  for (const [which, given] of Object.entries(counted))
    test(`${which} counts`, () => {
      expect(troubleOf(given)).toMatch(/^pod web-x: container web/);
    });

  const ignored: Record<string, Given> = {
    "of another revision, with the same image": {
      metadata: { labels: { "controller-revision-hash": "web-6e" } },
      updateRevision: "web-7f",
      status: pull("web:2"),
    },
    "of another workload with the same labels": { owner: { kind: "CloneSet", name: "cart" }, status: pull("web:2") },
    "of a ReplicaSet of another Deployment": {
      kind: "Deployment",
      owner: { kind: "ReplicaSet", name: "cart-5d" },
      status: pull("web:2"),
    },
    "with another image": { container: { image: "web:1" }, status: pull("web:1") },
    "with another variable": {
      kind: "Deployment",
      owner: { kind: "ReplicaSet", name: "web-5d" },
      container: { env: [{ name: "PORT", value: "none" }] },
      template: { spec: { containers: [{ name: "web", env: [{ name: "PORT", value: "80" }] }] } },
      status: pull("web:2"),
    },
    "and reports the image from before its update in place": { metadata: inPlace, status: pull("web:broken") },
    "and last crashed before its update in place": { metadata: inPlace, status: crash("2026-05-01T11:59:59Z") },
    "and restarted often before its update in place": { metadata: inPlace, status: { restartCount: 9 } },
    "and is being deleted": { metadata: { deletionTimestamp: UPDATED }, status: pull("web:2") },
  };
  for (const [which, given] of Object.entries(ignored))
    test(`${which} does not count`, () => {
      expect(troubleOf(given)).toBeUndefined();
    });
});

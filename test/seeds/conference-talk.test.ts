/**
 * The talk on OpenKruise and Argo Workflows in a federation: its rules as on the slides, and the slides' updates by
 * overrides, migration and rollback.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { Deployment, Pod } from "@flotilla/kubernetes";
import { OverridePolicy, ResourceBinding } from "@flotilla/karmada";
import { Workflow } from "@flotilla/argo";
import { read, walkThrough, type WalkThrough } from "./walk-through.ts";

const MEMBERS = ["member1", "member2"];
const CLONE_SET = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" };

let walk: WalkThrough;
beforeEach(async () => {
  walk = await walkThrough();
});
afterEach(() => walk.fleet.stop());

/** A CloneSet of four that updates in place, on both members. */
async function publish(): Promise<void> {
  const sample = read("workloads/guide-sample-cloneset");
  await walk.apply("interpreters/talk-cloneset");
  await walk.applyObject({
    ...sample,
    spec: { ...(sample["spec"] as object), replicas: 4, updateStrategy: { type: "InPlaceIfPossible" } },
  });
  await walk.apply("policies/guide-sample-cloneset-propagation");
  await walk.settle();
}
async function overrideOn(
  cluster: string,
  overriders: object,
  selector: object = { ...CLONE_SET, name: "sample-cloneset" },
): Promise<void> {
  await walk.applyObject({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { name: "update", namespace: "default" },
    spec: {
      resourceSelectors: [selector],
      overrideRules: [{ targetCluster: { clusterNames: [cluster] }, overriders }],
    },
  });
  await walk.settle();
}
const partition = (value: number, image: string): object => ({
  plaintext: [
    { path: "/spec/updateStrategy/partition", operator: "add", value },
    { path: "/spec/template/spec/containers/0/image", operator: "replace", value: image },
  ],
});
const images = async (member: string) =>
  (await walk.pods(member, "sample")).map(({ spec }) => spec.containers[0]?.image ?? "").sort();
const uids = async (member: string) =>
  (await walk.pods(member, "sample")).map(({ metadata }) => metadata.uid ?? "").sort();
const fleetStatus = async () => (await walk.get(CloneSet, "hub", "sample-cloneset")).status;

test("update by ImageOverrider: one member gets the new image in its existing pods", async () => {
  await publish();
  const before = await uids("member1");

  await overrideOn("member1", {
    imageOverrider: [
      {
        predicate: { path: "/spec/template/spec/containers/0/image" },
        component: "Tag",
        operator: "replace",
        value: "1.22",
      },
    ],
  });

  expect(await images("member1")).toEqual(Array.from({ length: 4 }, () => "nginx:1.22"));
  expect(await uids("member1")).toEqual(before);
  expect(await images("member2")).toEqual(Array.from({ length: 4 }, () => "nginx:1.21"));
  expect(await fleetStatus()).toMatchObject({ replicas: 8, readyReplicas: 8, updatedReplicas: 8 });
});

test("update by CommandOverrider and ArgsOverrider: one member runs another command", async () => {
  const template = {
    metadata: { labels: { app: "sample" } },
    spec: { containers: [{ name: "nginx", image: "nginx:1.21", command: ["nginx"], args: ["-g", "daemon off;"] }] },
  };
  await walk.applyObject({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: { replicas: 1, selector: { matchLabels: { app: "sample" } }, template },
  });
  await walk.applyObject({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "web", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web" }],
      placement: { clusterAffinity: { clusterNames: MEMBERS } },
    },
  });

  await overrideOn(
    "member2",
    {
      commandOverrider: [{ containerName: "nginx", operator: "add", value: ["-q"] }],
      argsOverrider: [{ containerName: "nginx", operator: "remove", value: ["-g", "daemon off;"] }],
    },
    { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  );

  const container = async (member: string) =>
    (await walk.get(Deployment, member, "web")).spec.template.spec?.containers[0];
  expect(await container("member1")).toMatchObject({ command: ["nginx"], args: ["-g", "daemon off;"] });
  expect(await container("member2")).toMatchObject({ command: ["nginx", "-q"] });
  expect((await container("member2"))?.args ?? []).toEqual([]);
});

test("Partition Upgrade Case: one member updates pod by pod, the hub shows the progress, and the same steps roll back", async () => {
  await publish();
  const change = async (value: number, image: string) =>
    walk.change(OverridePolicy, "update", {
      spec: { overrideRules: [{ targetCluster: { clusterNames: ["member1"] }, overriders: partition(value, image) }] },
    });
  const updated = async () => (await images("member1")).filter((image) => image === "nginx:1.22").length;

  await overrideOn("member1", partition(3, "nginx:1.22"));
  const steps = [[await updated(), (await fleetStatus())?.updatedReplicas]];
  for (const [value, image] of [
    [1, "nginx:1.22"],
    [0, "nginx:1.22"],
    [2, "nginx:1.21"],
    [0, "nginx:1.21"],
  ] as const) {
    await change(value, image);
    steps.push([await updated(), (await fleetStatus())?.updatedReplicas]);
  }

  // On the hub the pods of member2, which has nothing to update, count as updated.
  expect(steps).toEqual([
    [1, 5],
    [3, 7],
    [4, 8],
    [2, 6],
    [0, 8],
  ]);
  expect(await images("member2")).toEqual(Array.from({ length: 4 }, () => "nginx:1.21"));
});

test("Online business migration: a member's workload is adopted with its pods", async () => {
  await walk.applyObject(read("workloads/guide-sample-cloneset"), "member1");
  await walk.settle();
  const before = await uids("member1");

  const policy = read("policies/guide-sample-cloneset-propagation");
  await walk.apply("interpreters/talk-cloneset", "workloads/guide-sample-cloneset");
  await walk.applyObject({ ...policy, spec: { ...(policy["spec"] as object), conflictResolution: "Overwrite" } });
  await walk.settle();

  expect(before).toHaveLength(2);
  expect(await uids("member1")).toEqual(before);
  expect(await fleetStatus()).toMatchObject({ replicas: 4, readyReplicas: 4 });
});

test("Online business rollback: an annotation ends the management at once, and all pods keep running", async () => {
  await publish();
  const before = await uids("member1");

  await walk.change(CloneSet, "sample-cloneset", { metadata: { annotations: { "flotilla.dev/unmanaged": "true" } } });
  await walk.change(CloneSet, "sample-cloneset", { spec: { replicas: 1 } });

  expect(await uids("member1")).toEqual(before);
  expect((await walk.get(CloneSet, "member1", "sample-cloneset")).spec.replicas).toBe(4);
});

test("Example Code For Workflow: it runs on the members, and a member's suspension is retained", async () => {
  await walk.apply("interpreters/talk-workflow");
  await walk.applyObject({
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Workflow",
    metadata: { name: "report", namespace: "default" },
    spec: {
      entrypoint: "main",
      templates: [{ name: "main", container: { image: "busybox:1.28", command: ["true"] } }],
    },
  });
  await walk.applyObject({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "report", namespace: "default" },
    spec: {
      resourceSelectors: [{ apiVersion: "argoproj.io/v1alpha1", kind: "Workflow", name: "report" }],
      placement: { clusterAffinity: { clusterNames: MEMBERS } },
    },
  });
  await walk.fleet.settle();
  await walk.fleet.client.patch(
    Workflow,
    { cluster: "member1", namespace: "default", name: "report" },
    { spec: { suspend: true } },
    { type: "merge" },
  );
  await walk.settle();

  await walk.change(Workflow, "report", { metadata: { labels: { team: "a" } } });

  const suspended = async (member: string) => (await walk.get(Workflow, member, "report")).spec.suspend;
  expect(await suspended("member1")).toBe(true);
  expect(await suspended("member2")).toBeUndefined();
  expect(
    (await walk.get(ResourceBinding, "hub", "report-workflow")).status?.aggregatedStatus?.map(
      ({ clusterName, applied }) => [clusterName, applied],
    ),
  ).toEqual(MEMBERS.map((name) => [name, true]));
  expect((await walk.fleet.client.list(Pod, { cluster: "member2", namespace: "default" })).items).toHaveLength(1);
});

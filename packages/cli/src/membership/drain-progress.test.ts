import { expect, test } from "vitest";
import { DRAIN_TAINT } from "@flotilla/flotilla";
import type { Event } from "@flotilla/kubernetes";
import type { Cluster, ResourceBinding, Work } from "@flotilla/karmada";
import { claimsLeaving, copiesOn, previewDrain, remainingOn, renderDrain } from "./drain-progress.ts";

const SINCE = Date.parse("2026-01-01T00:00:00Z");

function binding(name: string, spec: Partial<ResourceBinding["spec"]>): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { namespace: "shop", name: `${name}-deployment` },
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name }, ...spec },
  };
}
const failure = (name: string, at: string): Event =>
  ({
    metadata: { name: "e", namespace: "shop" },
    reason: "EvictWorkloadFromClusterFailed",
    message: "Evict from cluster member2 failed: no other cluster fits",
    involvedObject: { kind: "ResourceBinding", namespace: "shop", name: `${name}-deployment` },
    lastTimestamp: at,
  }) as Event;
const on = (...names: string[]) => names.map((name) => ({ name, replicas: 1 }));

test("bindings on other members do not count", () => {
  expect(remainingOn("member2", [binding("web", { clusters: on("member1") })], [], SINCE)).toEqual([]);
});

test("a binding that is leaving waits for its replacement", () => {
  const leaving = binding("web", {
    clusters: on("member1"),
    gracefulEvictionTasks: [{ fromCluster: "member2", reason: "TaintUntolerated", producer: "TaintManager" }],
  });

  expect(remainingOn("member2", [leaving], [], SINCE)).toEqual([
    { resource: "Deployment shop/web", reason: "waits until it is healthy on member1", state: "leaving" },
  ]);
});

test("a binding that is leaving shows why its replacement is not healthy", () => {
  const leaving = binding("web", {
    clusters: on("member1"),
    gracefulEvictionTasks: [{ fromCluster: "member2", reason: "TaintUntolerated", producer: "TaintManager" }],
  });
  const condition = {
    type: "Healthy",
    status: "False",
    reason: "PodsNotReady",
    message: "member1: 1 of 1 pod is not ready",
  };
  const status = { conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }] };

  expect(remainingOn("member2", [{ ...leaving, status } as ResourceBinding], [], SINCE)).toMatchObject([
    { state: "leaving", unhealthy: "member1: 1 of 1 pod is not ready" },
  ]);
});

test("a binding whose eviction failed is blocked, with the reason", () => {
  const stuck = binding("web", { clusters: on("member2") });

  expect(remainingOn("member2", [stuck], [failure("web", "2026-01-01T00:00:05Z")], SINCE)).toEqual([
    { resource: "Deployment shop/web", reason: "no other cluster fits", state: "blocked" },
  ]);
});

test("a binding whose policy tolerates the drain stays", () => {
  const tolerant = binding("web", {
    clusters: on("member2"),
    placement: { clusterTolerations: [{ key: DRAIN_TAINT, operator: "Exists" }] },
  });

  expect(remainingOn("member2", [tolerant], [], SINCE)).toMatchObject([{ state: "stays" }]);
});

test("a policy that tolerates the drain for some time does not keep its object", () => {
  const tolerant = binding("web", {
    clusters: on("member2"),
    placement: { clusterTolerations: [{ key: DRAIN_TAINT, operator: "Exists", tolerationSeconds: 300 }] },
  });

  expect(remainingOn("member2", [tolerant], [], SINCE)).toMatchObject([{ state: "waiting" }]);
});

const definition = (name: string, spec: Partial<ResourceBinding["spec"]> = {}): ResourceBinding =>
  binding(name, {
    clusters: on("member2"),
    resource: { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name },
    ...spec,
  });

test("a cluster-scoped object stays unless its policy has failover for members", () => {
  const moving = definition("b.example.dev", { failover: { cluster: { purgeMode: "Gracefully" } } });

  expect(remainingOn("member2", [definition("a.example.dev"), moving], [], SINCE)).toMatchObject([
    { resource: "CustomResourceDefinition a.example.dev", state: "stays" },
    { resource: "CustomResourceDefinition b.example.dev", state: "waiting" },
  ]);
});

test("what leaves and what stays is listed, with the reasons and a bounded number of names", () => {
  const definitions = ["a", "b", "c", "d", "e", "f", "g"].map((name) => definition(`${name}.dev`));
  const all = remainingOn("member2", [binding("web", { clusters: on("member2") }), ...definitions], [], SINCE);

  expect(renderDrain("member2", all)).toEqual([
    "leaves member2: Deployment shop/web",
    "stays on member2 (cluster-scoped, and its policy has no failover.cluster): CustomResourceDefinition " +
      "a.dev, CustomResourceDefinition b.dev, CustomResourceDefinition c.dev, CustomResourceDefinition d.dev, " +
      "CustomResourceDefinition e.dev, and 2 more",
  ]);
  expect(renderDrain("member2", [])).toEqual(["nothing leaves member2"]);
});

test("what leaves only when its replacement is healthy is named with what the hub reports about it", () => {
  const [resource, reason] = ["Deployment shop/web", "waits until it is healthy on member1"];
  const unhealthy = "member1: 1 of 1 pod is not ready";

  expect(renderDrain("member2", [{ resource, reason, state: "leaving", unhealthy }])).toEqual([
    "cannot leave member2 before it is healthy on member1 (member1: 1 of 1 pod is not ready): Deployment shop/web",
  ]);
});

test("a preview for programs has everything that the text has", () => {
  const at = (name: string) => ({ resource: `Deployment shop/${name}`, reason: `why ${name}` });

  const preview = previewDrain([
    { ...at("a"), state: "waiting", note: "pods start again elsewhere" },
    { ...at("b"), state: "leaving" },
    { ...at("c"), state: "leaving", unhealthy: "member1: 1 of 1 pod is not ready" },
    { ...at("d"), state: "blocked" },
    { ...at("e"), state: "stays" },
  ]);

  expect(preview).toEqual({
    leaves: ["Deployment shop/a", "Deployment shop/b"],
    notes: [{ resource: "Deployment shop/a", note: "pods start again elsewhere" }],
    waits: [{ ...at("c"), unhealthy: "member1: 1 of 1 pod is not ready" }],
    cannotLeave: [at("d")],
    stays: [at("e")],
  });
});

test("claims lose their data if they leave, or if all objects that require them leave", () => {
  const claim = (name: string, spec: Partial<ResourceBinding["spec"]>): ResourceBinding =>
    binding(name, { resource: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace: "shop", name }, ...spec });
  const requiredBy = (...names: string[]) => ({
    requiredBy: names.map((name) => ({ namespace: "shop", name: `${name}-deployment`, clusters: on("member2") })),
  });
  const tolerant = { clusterTolerations: [{ key: DRAIN_TAINT, operator: "Exists" as const }] };
  const bindings = [
    binding("web", { clusters: on("member2") }),
    binding("stays", { clusters: on("member2"), placement: tolerant }),
    claim("placed", { clusters: on("member2") }),
    claim("elsewhere", { clusters: on("member1") }),
    claim("required", requiredBy("web")),
    claim("shared", requiredBy("web", "stays")),
  ];

  expect(claimsLeaving("member2", bindings)).toEqual([
    "PersistentVolumeClaim shop/placed",
    "PersistentVolumeClaim shop/required",
  ]);
});

test("a finished Job stays", () => {
  const job = binding("import", {
    clusters: on("member2"),
    resource: { apiVersion: "batch/v1", kind: "Job", namespace: "shop", name: "import" },
  });
  const status = { conditions: [{ type: "Complete", status: "True" }], succeeded: 1 };
  const finished = {
    ...job,
    status: { aggregatedStatus: [{ clusterName: "member2", status }] },
  } as unknown as ResourceBinding;

  const unfinished = remainingOn("member2", [job], [], SINCE);
  expect(unfinished).toMatchObject([{ state: "waiting" }]);
  expect(renderDrain("member2", unfinished)).toEqual([
    "leaves member2 (pods that have not finished start again elsewhere): Job shop/import",
  ]);
  expect(remainingOn("member2", [finished], [], SINCE)).toMatchObject([{ state: "stays" }]);
});

test("failures of an earlier drain, or of other bindings, do not count", () => {
  const fresh = binding("web", { clusters: on("member2") });
  const events = [failure("web", "2025-12-31T23:59:59Z"), failure("cart", "2026-01-01T00:00:05Z")];

  expect(remainingOn("member2", [fresh], events, SINCE)).toMatchObject([{ state: "waiting" }]);
});

const memberThat = (ready: "True" | "False"): Cluster =>
  ({
    metadata: { name: "member2" },
    status: { conditions: [{ type: "Ready", status: ready, reason: "", message: "", lastTransitionTime: "" }] },
  }) as unknown as Cluster;
const work = (name: string, deletionTimestamp?: string): Work =>
  ({
    metadata: { name, namespace: "karmada-es-member2", deletionTimestamp },
    spec: { workload: { manifests: [{ kind: "Deployment", metadata: { namespace: "shop", name } }] } },
  }) as unknown as Work;

test("a copy that the member has not deleted yet is still there", () => {
  expect(copiesOn(memberThat("True"), [work("cart"), work("web", "2026-01-01T00:00:00Z")])).toEqual([
    { resource: "Deployment shop/web", reason: "its copy is not deleted on member2 yet", state: "leaving" },
  ]);
});

test("an unreachable member keeps its copies, and the drain does not wait for it", () => {
  expect(copiesOn(memberThat("False"), [work("web", "2026-01-01T00:00:00Z")])).toEqual([
    {
      resource: "Deployment shop/web",
      reason: "member2 is unreachable, and runs its copy until it is back",
      state: "blocked",
    },
  ]);
});

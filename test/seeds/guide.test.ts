/**
 * What the guide to OpenKruise with Karmada describes in words, and details of its examples, on a fake clock: its files
 * as written, with the objects that a section leaves to its reader. `test/e2e/guide.test.ts` types its code blocks.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AdvancedStatefulSet, CloneSet, SidecarSet, UnitedDeployment } from "@flotilla/openkruise";
import { ClusterResourceBinding, PropagationPolicy, ResourceBinding } from "@flotilla/karmada";
import { CustomResourceDefinition, Event, PersistentVolumeClaim } from "@flotilla/kubernetes";
import type { Kind } from "@flotilla/apimachinery";
import type { Pod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import { UnreachableError, type Transport } from "@flotilla/client";
import { read, walkThrough, type WalkThrough } from "./walk-through.ts";

const MEMBERS = ["member1", "member2"];
const INTERPRETERS = ["cloneset", "statefulset", "sidecarset", "uniteddeployment"].map(
  (kind) => `interpreters/guide-${kind}`,
);
const WORKLOADS = ["cloneset", "advancedstatefulset", "sidecarset", "uniteddeployment"].map(
  (kind) => `workloads/guide-sample-${kind}`,
);
const POLICIES = ["sample-cloneset", "advancedstatefulset", "sidecarset", "uniteddeployment"].map(
  (name) => `policies/guide-${name}-propagation`,
);

let walk: WalkThrough;
const statusOf = async (kind: Kind, cluster: string, name: string): Promise<unknown> =>
  ((await walk.get(kind, cluster, name)) as { status?: unknown }).status;
const names = (pods: readonly DeepReadonly<Pod>[]): (string | undefined)[] =>
  pods.map(({ spec }) => spec.containers.map(({ name }) => name).join(" "));
const ready = (pods: readonly DeepReadonly<Pod>[]): number =>
  pods.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"))
    .length;
const isFull = async (kind: Kind, name: string): Promise<unknown> =>
  (
    (await walk.get(kind, "hub", name)) as { status?: { conditions?: { type: string; status: string }[] } }
  ).status?.conditions?.find(({ type }) => type === "FullyApplied")?.status;

/** A policy for one workload of the chapter on recommended configurations, which leaves policies to the reader. */
const policyFor = (apiVersion: string, kind: string, name: string): object => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name, namespace: "default" },
  spec: { resourceSelectors: [{ apiVersion, kind, name }], placement: { clusterAffinity: { clusterNames: MEMBERS } } },
});
/** "Use OverridePolicy for …": one value at one path of one workload on one member. */
const override = (
  apiVersion: string,
  kind: string,
  name: string,
  cluster: string,
  path: string,
  value: unknown,
  operator = "add",
): object => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: kind === "SidecarSet" ? "ClusterOverridePolicy" : "OverridePolicy",
  metadata: { name: `${name}-${cluster}`, namespace: kind !== "SidecarSet" ? "default" : undefined },
  spec: {
    resourceSelectors: [{ apiVersion, kind, name }],
    overrideRules: [
      { targetCluster: { clusterNames: [cluster] }, overriders: { plaintext: [{ path, operator, value }] } },
    ],
  },
});

describe("with two members", () => {
  beforeEach(async () => {
    walk = await walkThrough();
  });
  afterEach(() => walk.fleet.stop());

  test("Deploying CloneSet: both members run it, and the hub aggregates the status", async () => {
    await walk.apply(
      "interpreters/guide-cloneset",
      "workloads/guide-sample-cloneset",
      "policies/guide-sample-cloneset-propagation",
    );
    await walk.settle();

    for (const member of MEMBERS) {
      expect(await statusOf(CloneSet, member, "sample-cloneset")).toMatchObject({
        replicas: 2,
        readyReplicas: 2,
        updatedReplicas: 2,
      });
      expect(ready(await walk.pods(member, "sample"))).toBe(2);
    }
    expect(await statusOf(CloneSet, "hub", "sample-cloneset")).toMatchObject({
      replicas: 4,
      updatedReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 4,
      updatedReadyReplicas: 4,
      expectedUpdatedReplicas: 4,
    });
    expect(
      (await walk.get(ResourceBinding, "hub", "sample-cloneset-cloneset")).status?.aggregatedStatus?.map(
        ({ clusterName, applied, health }) => [clusterName, applied, health],
      ),
    ).toEqual(MEMBERS.map((name) => [name, true, "Healthy"]));
  });

  test("Deploying Advanced StatefulSet: its pods have ordinals and volumes on both members, and the hub aggregates the status", async () => {
    await walk.apply(
      "interpreters/guide-statefulset",
      "workloads/guide-sample-advancedstatefulset",
      "policies/guide-advancedstatefulset-propagation",
    );
    await walk.settle();

    for (const member of MEMBERS) {
      expect((await walk.pods(member, "sample-advancedstatefulset")).map(({ metadata }) => metadata.name)).toEqual([
        "sample-advancedstatefulset-0",
        "sample-advancedstatefulset-1",
      ]);
      expect((await walk.get(PersistentVolumeClaim, member, "data-sample-advancedstatefulset-1")).status?.phase).toBe(
        "Bound",
      );
    }
    expect(await statusOf(AdvancedStatefulSet, "hub", "sample-advancedstatefulset")).toMatchObject({
      replicas: 4,
      readyReplicas: 4,
      currentReplicas: 4,
      updatedReplicas: 4,
    });
  });

  test("Deploying SidecarSet: pods get the sidecar on both members, although file and policy specify a namespace", async () => {
    await walk.apply("interpreters/guide-sidecarset", "workloads/guide-sample-sidecarset");
    const warnings = await walk.apply("policies/guide-sidecarset-propagation");
    await walk.settle();
    await walk.apply("workloads/guide-sample-cloneset", "policies/guide-sample-cloneset-propagation");
    await walk.settle();

    expect(warnings).toEqual([
      "spec.resourceSelectors[0]: SidecarSet is in no namespace but is still selected; the canonical form is a ClusterPropagationPolicy",
    ]);
    for (const member of MEMBERS)
      expect(names(await walk.pods(member, "sample"))).toEqual(["sidecar nginx", "sidecar nginx"]);
    expect((await walk.get(SidecarSet, "hub", "sample-sidecarset")).metadata.namespace).toBeUndefined();
    expect(await statusOf(SidecarSet, "hub", "sample-sidecarset")).toEqual({
      matchedPods: 4,
      updatedPods: 4,
      readyPods: 4,
    });
    expect(await isFull(ClusterResourceBinding, "sample-sidecarset-sidecarset")).toBe("True");
  });

  test("Deploying UnitedDeployment: two pods in each of two zones of both members, and the hub aggregates the status", async () => {
    await walk.apply(
      "interpreters/guide-uniteddeployment",
      "workloads/guide-sample-uniteddeployment",
      "policies/guide-uniteddeployment-propagation",
    );
    await walk.settle();

    for (const member of MEMBERS) {
      const zones = (await walk.pods(member, "sample-uniteddeployment")).map(
        ({ metadata }) => metadata.labels?.["topology.kubernetes.io/zone"] ?? "",
      );
      expect(zones.sort()).toEqual(["zone-a", "zone-a", "zone-b", "zone-b"]);
      expect(await statusOf(UnitedDeployment, member, "sample-uniteddeployment")).toMatchObject({
        replicas: 4,
        readyReplicas: 4,
      });
    }
    expect(await statusOf(UnitedDeployment, "hub", "sample-uniteddeployment")).toMatchObject({
      replicas: 8,
      readyReplicas: 8,
    });
  });

  test("Apply the Resources, Verify the Status: workloads first and policies after them, and the printed numbers add up", async () => {
    await walk.apply(...INTERPRETERS, ...WORKLOADS, ...POLICIES);
    await walk.settle();

    const kruise = (version: string, plural: string) => walk.rows("hub", `/apis/apps.kruise.io/${version}/${plural}`);
    expect((await kruise("v1alpha1", "clonesets")).map((cells) => cells.slice(0, 4))).toEqual([
      ["sample-cloneset", "2", "4", "4"],
    ]);
    expect((await kruise("v1beta1", "statefulsets")).map((cells) => cells.slice(0, 3))).toEqual([
      ["sample-advancedstatefulset", "2", "4"],
    ]);
    expect((await kruise("v1alpha1", "sidecarsets")).map(([name]) => name)).toEqual(["sample-sidecarset"]);
    expect((await kruise("v1alpha1", "uniteddeployments")).map((cells) => cells.slice(0, 3))).toEqual([
      ["sample-uniteddeployment", "4", "8"],
    ]);
    for (const member of MEMBERS) {
      const pods = await walk.rows(member, "/api/v1/namespaces/default/pods");
      expect(pods).toHaveLength(8);
      expect(new Set(pods.map(([, , phase]) => phase))).toEqual(new Set(["Running"]));
    }
    walk.fleet.resetWrites();
    await walk.settle();
    expect(walk.fleet.writes()).toEqual([]);
  });

  test("Testing & Verification: a policy reports its matched resources and their clusters", async () => {
    await walk.apply(...WORKLOADS, ...POLICIES);
    await walk.settle();

    for (const file of POLICIES) {
      const { status } = await walk.get(PropagationPolicy, "hub", (read(file)["metadata"] as { name: string }).name);
      expect(status, file).toMatchObject({ matched: 1, scheduled: 1, applied: 1, clusters: MEMBERS });
    }
  });

  test("Best practices, CloneSet: it runs without a selector, and an OverridePolicy gives one member its own partition", async () => {
    const warnings = await walk.apply("workloads/guide-recommended-cloneset");
    await walk.applyObject(policyFor("apps.kruise.io/v1alpha1", "CloneSet", "my-cloneset"));
    await walk.applyObject(
      override("apps.kruise.io/v1alpha1", "CloneSet", "my-cloneset", "member2", "/spec/updateStrategy/partition", 2),
    );
    await walk.settle();

    await walk.change(CloneSet, "my-cloneset", {
      spec: { template: { spec: { containers: [{ name: "app", image: "my-app:v2.0.0" }] } } },
    });

    const images = async (member: string) =>
      (await walk.pods(member, "my-app")).map(({ spec }) => spec.containers[0]?.image ?? "").sort();
    expect(warnings).toEqual([
      expect.stringContaining("spec.selector is missing"),
      expect.stringContaining('"RollingUpdate" was taken for "ReCreate"'),
    ]);
    expect(await images("member1")).toEqual(["my-app:v2.0.0", "my-app:v2.0.0", "my-app:v2.0.0"]);
    expect(await images("member2")).toEqual(["my-app:v1.0.0", "my-app:v1.0.0", "my-app:v2.0.0"]);
    expect(await statusOf(CloneSet, "hub", "my-cloneset")).toMatchObject({
      replicas: 6,
      readyReplicas: 6,
      updatedReplicas: 4,
    });
  });

  test("Best practices, Advanced StatefulSet: without a selector it runs in order with its volumes, and a member keeps its own partition", async () => {
    const warnings = await walk.apply("workloads/guide-recommended-statefulset");
    await walk.applyObject(policyFor("apps.kruise.io/v1beta1", "StatefulSet", "my-statefulset"));
    await walk.applyObject(
      override(
        "apps.kruise.io/v1beta1",
        "StatefulSet",
        "my-statefulset",
        "member1",
        "/spec/updateStrategy/rollingUpdate/partition",
        2,
      ),
    );
    await walk.settle();

    await walk.change(AdvancedStatefulSet, "my-statefulset", {
      spec: { template: { spec: { containers: [{ name: "app", image: "my-app:v2.0.0" }] } } },
    });

    const images = async (member: string) =>
      (await walk.pods(member, "my-app")).map(({ spec }) => spec.containers[0]?.image);
    expect(warnings).toEqual([expect.stringContaining("spec.selector")]);
    expect(await images("member1")).toEqual(["my-app:v1.0.0", "my-app:v1.0.0", "my-app:v2.0.0"]);
    expect(await images("member2")).toEqual(["my-app:v2.0.0", "my-app:v2.0.0", "my-app:v2.0.0"]);
    expect((await walk.get(PersistentVolumeClaim, "member1", "data-my-statefulset-2")).status?.phase).toBe("Bound");
  });

  test(
    "Best practices, SidecarSet: one that requests its own version is injected unchanged with a warning, and an " +
      "override adapts its selector to one member",
    async () => {
      const warnings = await walk.apply("workloads/guide-recommended-sidecarset");
      await walk.applyObject({
        ...policyFor("apps.kruise.io/v1alpha1", "SidecarSet", "my-sidecarset"),
        kind: "ClusterPropagationPolicy",
        metadata: { name: "my-sidecarset" },
      });
      await walk.applyObject(
        override(
          "apps.kruise.io/v1alpha1",
          "SidecarSet",
          "my-sidecarset",
          "member2",
          "/spec/selector/matchLabels/app",
          "other",
          "replace",
        ),
      );
      await walk.settle();

      await walk.apply("workloads/guide-recommended-cloneset");
      await walk.applyObject(policyFor("apps.kruise.io/v1alpha1", "CloneSet", "my-cloneset"));
      await walk.settle();

      // OpenKruise itself would require an existing revision of this version.
      expect(warnings).toEqual([expect.stringContaining('the set itself was given version "v1"')]);
      expect(
        (await walk.get(ClusterResourceBinding, "hub", "my-sidecarset-sidecarset")).status?.aggregatedStatus,
      ).toMatchObject(MEMBERS.map((clusterName) => ({ clusterName, applied: true })));
      expect(names(await walk.pods("member1", "my-app"))).toEqual(["sidecar app", "sidecar app", "sidecar app"]);
      expect(names(await walk.pods("member2", "my-app"))).toEqual(["app", "app", "app"]);
      expect(await statusOf(SidecarSet, "hub", "my-sidecarset")).toMatchObject({ matchedPods: 3, updatedPods: 3 });
    },
  );

  test("Best practices, UnitedDeployment: it chooses zones within a cluster, the policy chooses clusters", async () => {
    await walk.apply("workloads/guide-recommended-uniteddeployment");
    await walk.applyObject(policyFor("apps.kruise.io/v1alpha1", "UnitedDeployment", "my-uniteddeployment"));
    await walk.settle();

    for (const member of MEMBERS) expect(ready(await walk.pods(member, "my-app"))).toBe(4);
    expect(await statusOf(UnitedDeployment, "hub", "my-uniteddeployment")).toMatchObject({
      replicas: 8,
      readyReplicas: 8,
    });
  });
});

describe("Advanced: Automating OpenKruise Deployment", () => {
  afterEach(() => walk.fleet.stop());

  test("a policy propagates OpenKruise's CRDs to members without it, and its workloads follow", async () => {
    walk = await walkThrough({ members: ["member-cluster-1", "member-cluster-2"], kruise: "none" });
    const definitions = async (member: string) =>
      (await walk.fleet.client.list(CustomResourceDefinition, { cluster: member })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.endsWith(".kruise.io"));
    const before = await definitions("member-cluster-1");

    await walk.apply("policies/guide-openkruise-crds");
    await walk.settle();
    await walk.apply("workloads/guide-sample-cloneset");
    await walk.applyObject({
      ...read("policies/guide-sample-cloneset-propagation"),
      spec: { ...(read("policies/guide-sample-cloneset-propagation")["spec"] as object), placement: {} },
    });
    await walk.settle();

    expect(before).toEqual([]);
    for (const member of ["member-cluster-1", "member-cluster-2"]) {
      expect(await definitions(member)).toEqual(
        expect.arrayContaining([
          "clonesets.apps.kruise.io",
          "sidecarsets.apps.kruise.io",
          "statefulsets.apps.kruise.io",
          "uniteddeployments.apps.kruise.io",
        ]),
      );
      expect(ready(await walk.pods(member, "sample"))).toBe(2);
    }
  });
});

describe("Troubleshooting", () => {
  beforeEach(async () => {
    walk = await walkThrough();
  });
  afterEach(() => walk.fleet.stop());
  const reported = async (reason: string) =>
    (await walk.fleet.client.list(Event, { cluster: "hub", namespace: "default" })).items
      .filter((event) => event.reason === reason)
      .map(({ involvedObject, message }) => `${involvedObject.kind}/${involvedObject.name}: ${message}`);

  test("ResourceInterpreterCustomization Script Errors: a script that does not compile is rejected, and one that fails is reported on the object", async () => {
    const script = (luaScript: string): object => ({
      ...read("interpreters/guide-cloneset"),
      metadata: { name: "broken" },
      spec: {
        target: { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" },
        customizations: { statusAggregation: { luaScript } },
      },
    });
    await expect(walk.applyObject(script("function AggregateStatus(desiredObj, statusItems"))).rejects.toThrow(
      "spec.customizations.statusAggregation.luaScript",
    );

    await walk.applyObject(
      script("function AggregateStatus(desiredObj, statusItems)\n  return desiredObj.nothing.here\nend"),
    );
    await walk.apply("workloads/guide-sample-cloneset", "policies/guide-sample-cloneset-propagation");
    await walk.settle();

    expect(await reported("AggregateStatusFailed")).toEqual([
      expect.stringMatching(/^CloneSet\/sample-cloneset: .*ResourceInterpreterCustomization broken.*line 2/),
    ]);
    expect(ready(await walk.pods("member1", "sample"))).toBe(2);
  });

  test("PropagationPolicy Not Working: a policy reports that it matches nothing, and a binding why no cluster fits", async () => {
    await walk.applyObject(policyFor("apps.kruise.io/v1alpha1", "CloneSet", "misspelt"));
    await walk.apply("workloads/guide-sample-cloneset");
    await walk.applyObject({
      ...policyFor("apps.kruise.io/v1alpha1", "CloneSet", "sample-cloneset"),
      spec: {
        ...(read("policies/guide-sample-cloneset-propagation")["spec"] as object),
        placement: { clusterAffinity: { clusterNames: ["nowhere"] } },
      },
    });
    await walk.settle();

    expect((await walk.get(PropagationPolicy, "hub", "misspelt")).status).toMatchObject({
      matched: 0,
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "Matched", status: "False", reason: "NothingMatched" }),
      ]) as unknown,
    });
    expect((await walk.get(ResourceBinding, "hub", "sample-cloneset-cloneset")).status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Scheduled", status: "False", reason: "NoClusterFit" }),
    );
  });
});

describe("FAQ", () => {
  afterEach(() => walk.fleet.stop());

  test(
    "What happens if a cluster becomes unavailable: the others keep running, the binding reports the problem, " +
      "and the cluster receives pending changes",
    async () => {
      let isDown = false;
      const refuse = async <T>(cluster: string, send: () => Promise<T>): Promise<T> => {
        if (isDown && cluster === "member2") throw new UnreachableError("no route to member2");
        return send();
      };
      const wrap = (transport: Transport, part: string): Transport =>
        part === "execute"
          ? {
              ...transport,
              send: (request, signal) => refuse(request.path.cluster, () => transport.send(request, signal)),
              raw: (request, signal) => refuse(request.cluster, () => transport.raw(request, signal)),
            }
          : transport;
      walk = await walkThrough({ wrap });
      await walk.apply(
        "interpreters/guide-cloneset",
        "workloads/guide-sample-cloneset",
        "policies/guide-sample-cloneset-propagation",
      );
      await walk.settle();
      const replicas = () =>
        Promise.all(MEMBERS.map(async (member) => (await walk.get(CloneSet, member, "sample-cloneset")).spec.replicas));
      const complaints = async () =>
        (await walk.get(ResourceBinding, "hub", "sample-cloneset-cloneset")).status?.aggregatedStatus?.map(
          ({ appliedMessage }) => appliedMessage,
        );

      isDown = true;
      await walk.change(CloneSet, "sample-cloneset", { spec: { replicas: 3 } });
      const [reported, meanwhile] = [await complaints(), await replicas()];
      isDown = false;
      await walk.fleet.run(10 * 60_000);

      expect(reported).toEqual([undefined, expect.stringContaining("no route to member2")]);
      expect(meanwhile).toEqual([3, 2]);
      expect(await replicas()).toEqual([3, 3]);
      expect(await complaints()).toEqual([undefined, undefined]);
    },
  );
});

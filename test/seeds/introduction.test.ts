/**
 * The introduction to OpenKruise with Karmada and Open Cluster Management: rules with paths instead of scripts, a policy
 * that divides, and CRDs that reach the members first.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  AdvancedStatefulSet,
  CloneSet,
  SidecarSet,
  UnitedDeployment,
  type CloneSetV1alpha1,
} from "@flotilla/openkruise";
import { ManifestWork } from "@flotilla/ocm";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { findCondition, inVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { read, walkThrough, type WalkThrough } from "./walk-through.ts";

const CloneSetInV1alpha1 = inVersion<CloneSetV1alpha1>(CloneSet, "v1alpha1");
const MEMBERS = ["member1", "member2"];

let walk: WalkThrough;
beforeEach(async () => {
  walk = await walkThrough();
});
afterEach(() => walk.fleet.stop());

test("CloneSet in Karmada: its replicas are divided, its status is on the hub, and a member keeps its own strategy", async () => {
  await walk.apply(
    "interpreters/introduction-cloneset",
    "policies/introduction-cloneset-propagation",
    "workloads/guide-sample-cloneset",
  );
  await walk.settle();
  const shares = await Promise.all(
    MEMBERS.map(async (member) => (await walk.get(CloneSet, member, "sample-cloneset")).spec.replicas),
  );
  await walk.fleet.client.patch(
    CloneSetInV1alpha1,
    { cluster: "member1", namespace: "default", name: "sample-cloneset" },
    { spec: { updateStrategy: { partition: 1, maxUnavailable: 1 } } },
    { type: "merge" },
  );

  await walk.change(CloneSet, "sample-cloneset", { spec: { replicas: 6 } });

  expect(shares).toEqual([1, 1]);
  expect((await walk.get(CloneSet, "hub", "sample-cloneset")).status).toMatchObject({ replicas: 6, readyReplicas: 6 });
  expect((await walk.get(CloneSetInV1alpha1, "member1", "sample-cloneset")).spec).toMatchObject({
    replicas: 3,
    updateStrategy: { partition: 1, maxUnavailable: 1 },
  });
  expect((await walk.get(CloneSetInV1alpha1, "member2", "sample-cloneset")).spec).toMatchObject({
    replicas: 3,
    updateStrategy: { partition: 0 },
  });
});

test("Advanced StatefulSet in Karmada: the same with its own rules", async () => {
  const policy = read("policies/introduction-cloneset-propagation");
  await walk.apply("interpreters/introduction-statefulset", "workloads/guide-sample-advancedstatefulset");
  await walk.applyObject({
    ...policy,
    spec: {
      ...(policy["spec"] as object),
      resourceSelectors: [{ apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" }],
    },
  });
  await walk.settle();

  const shares = await Promise.all(
    MEMBERS.map(
      async (member) => (await walk.get(AdvancedStatefulSet, member, "sample-advancedstatefulset")).spec.replicas,
    ),
  );

  expect(shares).toEqual([1, 1]);
  expect((await walk.get(AdvancedStatefulSet, "hub", "sample-advancedstatefulset")).status).toMatchObject({
    replicas: 2,
    readyReplicas: 2,
    currentReplicas: 2,
  });
});

test("OpenKruise CRD Distribution: ManifestWorks bring the CRDs to a member without OpenKruise, and the earlier workloads follow", async () => {
  const workloads: Readonly<Record<string, { kind: Kind; name: string }>> = {
    "cloneset-example": { kind: CloneSet, name: "sample-cloneset" },
    "advanced-statefulset-example": { kind: AdvancedStatefulSet, name: "sample-advanced-statefulset" },
    "sidecarset-example": { kind: SidecarSet, name: "sample-sidecarset" },
    "uniteddeployment-example": { kind: UnitedDeployment, name: "sample-uniteddeployment" },
  };
  await walk.fleet.stop();
  walk = await walkThrough({ members: ["cluster1"], kruise: "none" });
  const applied = async () =>
    (await walk.fleet.client.list(ManifestWork, { cluster: "hub", namespace: "cluster1" })).items.map(
      ({ metadata, status }) => [metadata.name, findCondition(status?.conditions, "Applied")?.status],
    );
  await walk.apply(...Object.keys(workloads).map((name) => `ocm/guide-${name}`));
  await walk.settle();
  const before = await applied();

  for (const { kind } of Object.values(workloads)) {
    const name = `${kind.plural}.${kind.group}`;
    const { apiVersion, kind: definition, spec } = await walk.get(CustomResourceDefinition, "hub", name);
    await walk.applyObject({
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { name: `crd-${kind.plural}`, namespace: "cluster1" },
      spec: { workload: { manifests: [{ apiVersion, kind: definition, metadata: { name }, spec }] } },
    });
  }
  await walk.fleet.run(5 * 60_000);

  expect(before.map(([, status]) => status)).toEqual(["False", "False", "False", "False"]);
  expect((await applied()).map(([, status]) => status)).toEqual(Array.from({ length: 8 }, () => "True"));
  for (const { kind, name } of Object.values(workloads))
    expect(await walk.find(kind, "cluster1", name), name).toBeDefined();
});

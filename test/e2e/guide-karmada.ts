/** The blocks of 000, and of Karmada's half of 001. */
import { expect } from "vitest";
import {
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  ResourceInterpreterCustomization,
} from "@flotilla/karmada";
import { CustomResourceDefinition, PersistentVolumeClaim, Pod } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { AdvancedStatefulSet, CloneSet, SidecarSet, UnitedDeployment } from "@flotilla/openkruise";
import { condition, INSTALLS, ready } from "./guide-entry.ts";
import type { GuideTable } from "./guide-entry.ts";
import type { GuideFleet } from "./guide-fleet.ts";

const MEMBERS = ["member1", "member2"] as const;
const CUSTOM_VERSION =
  /Warning: spec\.injectionStrategy\.revision\.customVersion: .* the set itself was given version "v1"/;
const SELECTOR = /Warning: spec\.selector is missing and was taken from spec\.template\.metadata\.labels/;
const BARE_STATUS = /Warning: .*AggregateStatus returns a bare status/;
const shorthand = (field: string): RegExp => new RegExp(`Warning: spec\\.customizations\\.${field} is shorthand`);
/** kubectl resolves the name to `apps/v1`, as on any cluster with OpenKruise; `asts` is the Advanced StatefulSet. */
const OF_APPS = /No resources found/;

const cloneSet = (name: string, replicas: number): object => ({
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "CloneSet",
  metadata: { name, namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image: "web:1" }] } },
  },
});
/** A release of some pods of the fleet. Merge patches replace lists, so the container is whole. */
const release = (partition: number): object => ({
  spec: {
    updateStrategy: { rollingUpdate: { partition } },
    template: { spec: { containers: [{ name: "main", image: "web:2" }] } },
  },
});
const policy = (name: string, spec: object): object => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name, namespace: "default" },
  spec,
});
const cloneSetsOf = (fleet: GuideFleet, name: string) =>
  Promise.all(MEMBERS.map((member) => fleet.get(member, CloneSet, name)));

/** The CloneSet keeps its members' update strategy: the hub may not release by partition, and says so. */
async function memberDecides(fleet: GuideFleet): Promise<void> {
  await fleet.becomes("hub", CloneSet, "example", ready(5));
  const before = await cloneSetsOf(fleet, "example");
  expect(new Set(before.map(({ spec }) => spec.replicas))).toEqual(new Set([2, 3]));

  await fleet.change("hub", CloneSet, "example", release(4));
  await fleet.becomes("hub", ResourceBinding, "example-cloneset", condition("FullyApplied", "False"));
  const [why, status] = [await fleet.type("flotilla why cloneset/example"), await fleet.type("flotilla status")];
  const during = await cloneSetsOf(fleet, "example");

  expect(why).toMatch(/the Retain rule of .*openkruise-cloneset-interpreter.*: the member decides/);
  expect(why).toMatch(/PROBLEMS\n\s+member1: the release is not sent/);
  expect(status).toMatch(/UNHEALTHY: .*\n.*default\/example-cloneset: .*member1: the release is not sent/);
  expect(during.map(({ metadata }) => metadata.generation)).toEqual(before.map(({ metadata }) => metadata.generation));

  await fleet.change("hub", CloneSet, "example", { spec: { updateStrategy: { rollingUpdate: { partition: null } } } });
  await fleet.becomes("hub", CloneSet, "example", { status: { readyReplicas: 5, updatedReplicas: 5 } });
  await fleet.becomes("hub", ResourceBinding, "example-cloneset", condition("FullyApplied", "True"));
}

export const introduction: GuideTable = {
  "000 CloneSet in Karmada 1": {
    hash: "f66d8997",
    prints: [
      ...["replicas", "scale", "statusReflection"].map((rule) => shorthand(`${rule}\\.jsonPath`)),
      shorthand("retention\\.jsonPaths"),
      /Warning: .*the Retain rule leaves spec\.updateStrategy to the members/,
    ],
  },
  "000 CloneSet in Karmada 2": {
    hash: "23603ed8",
    given: (fleet) => fleet.create("hub", CloneSet, cloneSet("example", 5)),
    effect: memberDecides,
  },
  "000 Advanced StatefulSet in Karmada 1": {
    hash: "e68b650c",
    async effect(fleet) {
      await fleet.create("hub", AdvancedStatefulSet, {
        ...cloneSet("example-ordered", 3),
        kind: "StatefulSet",
      });
      const selector = { apiVersion: "apps.kruise.io/v1beta1", kind: "StatefulSet" };
      const placement = {
        clusterAffinity: { clusterNames: MEMBERS },
        replicaScheduling: { replicaSchedulingType: "Divided" },
      };
      await fleet.create("hub", PropagationPolicy, policy("ordered", { resourceSelectors: [selector], placement }));
      await fleet.becomes("hub", AdvancedStatefulSet, "example-ordered", ready(3));
      const shares = await Promise.all(
        MEMBERS.map(async (member) => (await fleet.get(member, AdvancedStatefulSet, "example-ordered")).spec.replicas),
      );
      expect(new Set(shares)).toEqual(new Set([1, 2]));
    },
  },
  "000 ManifestWork for OpenKruise Workloads 1": {
    hash: "2b61694a",
    async effect(fleet) {
      await fleet.becomes("cluster1", CloneSet, "example-cloneset", ready(3));
      await fleet.becomes("hub", ManifestWork, "example-cloneset", condition("Available", "True"), {
        namespace: "cluster1",
      });
      await fleet.isGone("cluster2", CloneSet, "example-cloneset");
    },
  },
  "000 Best Practices for OCM Integration 1": {
    hash: "04ddbd0f",
    prints: [/is taken for the CloneSet default\/example-cloneset .*, as it is stored/],
    async effect(fleet) {
      const values = expect.arrayContaining([
        { name: "ReadyReplicas", fieldValue: { type: "Integer", integer: 3 } },
      ]) as unknown;
      await fleet.becomes(
        "hub",
        ManifestWork,
        "example-cloneset",
        { status: { resourceStatus: { manifests: [{ statusFeedback: { values } }] } } },
        { namespace: "cluster1" },
      );
      await fleet.becomes("cluster1", CloneSet, "example-cloneset", { spec: { replicas: 3 } });
    },
  },
};

/** All four samples run on both members, with the status on the hub. */
async function samplesRun(fleet: GuideFleet): Promise<void> {
  await fleet.becomes("hub", CloneSet, "sample-cloneset", { status: { readyReplicas: 4, updatedReplicas: 4 } });
  await fleet.becomes("hub", AdvancedStatefulSet, "sample-advancedstatefulset", ready(4));
  await fleet.becomes("hub", UnitedDeployment, "sample-uniteddeployment", {
    status: { replicas: 8, readyReplicas: 8 },
  });
  for (const name of [
    "sample-cloneset-cloneset",
    "sample-advancedstatefulset-statefulset",
    "sample-uniteddeployment-uniteddeployment",
  ])
    await fleet.becomes("hub", ResourceBinding, name, condition("FullyApplied", "True"));
  await fleet.becomes("hub", ClusterResourceBinding, "sample-sidecarset-sidecarset", condition("FullyApplied", "True"));
  for (const member of MEMBERS) {
    await fleet.becomes(member, CloneSet, "sample-cloneset", ready(2));
    await fleet.becomes(member, AdvancedStatefulSet, "sample-advancedstatefulset", ready(2));
    await fleet.becomes(member, UnitedDeployment, "sample-uniteddeployment", ready(4));
    await fleet.becomes(member, SidecarSet, "sample-sidecarset", {});
    await fleet.becomes(member, PersistentVolumeClaim, "data-sample-advancedstatefulset-1", {
      status: { phase: "Bound" },
    });
  }
  // The SidecarSet is applied after the CloneSet: a pod that is created now has the sidecar.
  await fleet.client.deleteCollection(Pod, { cluster: "member1", namespace: "default", labelSelector: "app=sample" });
  await expect
    .poll(() => fleet.containers("member1", "sample"), { timeout: 30_000 })
    .toEqual(["sidecar nginx", "sidecar nginx"]);
  await fleet.becomes("hub", CloneSet, "sample-cloneset", ready(4));
}

/** The rules of the guide leave the division to the hub: a partition of 2 of 6 counts the pods of the fleet. */
async function partitionIsDivided(fleet: GuideFleet): Promise<void> {
  await fleet.create("hub", CloneSet, cloneSet("divided", 6));
  const selector = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet", name: "divided" };
  const placement = {
    clusterAffinity: { clusterNames: MEMBERS },
    replicaScheduling: { replicaSchedulingType: "Divided" },
  };
  await fleet.create("hub", PropagationPolicy, policy("divided", { resourceSelectors: [selector], placement }));
  await fleet.becomes("hub", CloneSet, "divided", { status: { readyReplicas: 6, updatedReplicas: 6 } });

  await fleet.change("hub", CloneSet, "divided", release(2));

  await fleet.becomes("hub", CloneSet, "divided", { status: { readyReplicas: 6, updatedReplicas: 4 } });
  expect((await cloneSetsOf(fleet, "divided")).map(({ spec }) => spec.replicas)).toEqual([3, 3]);
  await fleet.client.delete(CloneSet, { cluster: "hub", namespace: "default", name: "divided" });
  await fleet.client.delete(PropagationPolicy, { cluster: "hub", namespace: "default", name: "divided" });
  for (const member of MEMBERS) await fleet.isGone(member, CloneSet, "divided");
}

export const karmada: GuideTable = {
  "001 Method 1: Using karmadactl (Recommended) 1": {
    hash: "e6417e50",
    without: { "curl -s": INSTALLS("karmadactl"), "karmadactl init": INSTALLS("Karmada") },
    async effect(fleet) {
      expect(await fleet.type('echo "$KUBECONFIG"')).toMatch(/\.kube\/karmada\.config:.*\.kube\/config\n/);
      expect(await fleet.type("kubectl config current-context && flotilla status")).toMatch(
        /^hub\n[^]*member-cluster-2/,
      );
    },
  },
  "001 Method 2: Using Local Development Script 1": { hash: "346b9510", notRun: INSTALLS("Karmada") },
  "001 Installing OpenKruise 1": {
    hash: "ecde58d7",
    notRun: INSTALLS("OpenKruise from a chart repository"),
  },
  "001 Check Karmada Control Plane 1": {
    hash: "8d67807b",
    prints: [
      /karmada-controller-manager-\S+ +1\/1 +Running/,
      /karmada-scheduler-\S+ +1\/1 +Running/,
      /karmada-webhook-\S+ +1\/1 +Running/,
      /member1 +\S+ +Push +True .*\nmember2 +\S+ +Push +True /,
    ],
  },
  "001 Check OpenKruise Installation 1": {
    hash: "56bb9876",
    on: "member1",
    prints: [
      /kruise-controller-manager-\S+ +1\/1 +Running/,
      /clonesets\.apps\.kruise\.io[^]*sidecarsets\.apps\.kruise\.io[^]*statefulsets\.apps\.kruise\.io[^]*uniteddeployments\.apps\.kruise\.io/,
    ],
  },
  "001 Registering Member Clusters 1": {
    hash: "e90cf720",
    without: { "karmadactl join": "all clusters have joined; karmadactl.test.ts joins one of another process" },
    prints: [/^member1 +\S+ +Push +True /m],
  },
  "001 Advanced: Automating OpenKruise Deployment 1": {
    hash: "d7a39f50",
    async effect(fleet) {
      for (const plural of ["clonesets", "statefulsets", "sidecarsets", "uniteddeployments"]) {
        const name = `${plural}.apps.kruise.io`;
        await fleet.becomes("hub", ClusterResourceBinding, `${name}-customresourcedefinition`, {
          spec: { clusters: [{ name: "member-cluster-1" }, { name: "member-cluster-2" }] },
          ...condition("FullyApplied", "True"),
        });
        await fleet.becomes("member-cluster-1", CustomResourceDefinition, name, condition("Established", "True"));
      }
    },
  },
  "001 CloneSet Integration 1": {
    hash: "14f2a54f",
    prints: [shorthand("replicas"), shorthand("reviseReplica"), BARE_STATUS],
    effect: partitionIsDivided,
  },
  "001 Advanced StatefulSet Integration 1": {
    hash: "951e9882",
    prints: [shorthand("replicas"), shorthand("reviseReplica"), BARE_STATUS],
    // Under their canonical names, so that they are run.
    effect: (fleet) =>
      fleet.becomes("hub", ResourceInterpreterCustomization, "openkruise-advancedstatefulset-interpreter", {
        spec: {
          customizations: {
            replicaResource: { luaScript: expect.stringContaining("GetReplicas") as unknown },
            replicaRevision: { luaScript: expect.stringContaining("ReviseReplica") as unknown },
            statusAggregation: { luaScript: expect.stringContaining("AggregateStatus") as unknown },
          },
        },
      }),
  },
  "001 SidecarSet Integration 1": {
    hash: "7904502d",
    prints: [/^resourceinterpretercustomization.* created$/m],
    effect: (fleet) =>
      fleet.becomes("hub", ResourceInterpreterCustomization, "openkruise-sidecarset-interpreter", {
        spec: {
          target: { apiVersion: "apps.kruise.io/v1alpha1", kind: "SidecarSet" },
          customizations: {
            statusReflection: { luaScript: expect.stringContaining("matchedPods") as unknown },
            healthInterpretation: { luaScript: expect.stringContaining("updatedPods == matchedPods") as unknown },
          },
        },
      }),
  },
  "001 UnitedDeployment Integration 1": {
    hash: "25e6f708",
    prints: [BARE_STATUS],
    async effect({ client }) {
      const { items } = await client.list(ResourceInterpreterCustomization, { cluster: "hub" });
      expect(items.map(({ spec }) => spec.target.kind)).toEqual([
        "StatefulSet",
        "CloneSet",
        "SidecarSet",
        "UnitedDeployment",
      ]);
    },
  },
  "001 Deploying CloneSet 1": { hash: "299d94e2", file: "sample-cloneset.yaml" },
  "001 Deploying CloneSet 2": { hash: "f067679f", file: "sample-propagationpolicy-cloneset.yaml" },
  "001 Deploying Advanced StatefulSet 1": { hash: "1247b510", file: "sample-advancedstatefulset.yaml" },
  "001 Deploying Advanced StatefulSet 2": {
    hash: "dd5d968f",
    file: "sample-propagationpolicy-advancedstatefulset.yaml",
  },
  "001 Deploying SidecarSet 1": { hash: "9ffa7e0b", file: "sample-sidecarset.yaml" },
  "001 Deploying SidecarSet 2": { hash: "641d1349", file: "sample-propagationpolicy-sidecarset.yaml" },
  "001 Deploying UnitedDeployment 1": { hash: "4a497e45", file: "sample-uniteddeployment.yaml" },
  "001 Deploying UnitedDeployment 2": { hash: "e7ab5b47", file: "sample-propagationpolicy-uniteddeployment.yaml" },
  "001 Apply the Resources 1": {
    hash: "4b6d0f03",
    prints: [/Warning: .*SidecarSet is in no namespace but is still selected/],
    effect: samplesRun,
  },
  "001 Verify the Status 1": { hash: "b6d83305", prints: [/^member1 .*True/m] },
  "001 Verify the Status 2": {
    hash: "7899ad7f",
    prints: [/^default +sample-cloneset +2 +4 +4 +4 +4 +4 /m],
  },
  "001 Verify the Status 3": {
    hash: "337fa2ca",
    prints: [OF_APPS],
    async effect(fleet) {
      await fleet.becomes("hub", AdvancedStatefulSet, "sample-advancedstatefulset", ready(4));
      expect(await fleet.type("kubectl get asts -n default")).toMatch(/^sample-advancedstatefulset +2 +4 /m);
    },
  },
  "001 Verify the Status 4": { hash: "b526b718", prints: [/^sample-sidecarset +\d+ /m] },
  "001 Verify the Status 5": { hash: "112ebb1c", prints: [/^default +sample-uniteddeployment +4 +8 +8 +8 /m] },
  "001 Verify the Status 6": {
    hash: "f82cb3e4",
    prints: [/^pod\/sample-advancedstatefulset-1 +1\/1 +Running /m],
  },
  "001 Testing & Verification 1": { hash: "b6d83305", prints: [/^member1 .*True/m] },
  "001 Testing & Verification 2": {
    hash: "85f9a925",
    prints: [
      /cloneset\.apps\.kruise\.io\/sample-cloneset +2 +4 /,
      /sidecarset\.apps\.kruise\.io\/sample-sidecarset /,
      /uniteddeployment\.apps\.kruise\.io\/sample-uniteddeployment +4 +8 /,
    ],
  },
  "001 Testing & Verification 3": { hash: "f82cb3e4", prints: [/^pod\/sample-cloneset-\S+ +2\/2 +Running /m] },
  "001 Testing & Verification 4": {
    hash: "822f9e40",
    prints: [/^sample-uniteddeployment-subset-a-\S+ +1\/1 +Running /m],
  },
  "001 Testing & Verification 5": { hash: "26fbbdd6", prints: [/nginx/] },
  "001 Testing & Verification 6": {
    hash: "8b0f06e4",
    // The status of a policy is gathered before it is written; a reader of the guide gets here later than a test.
    given: (fleet) =>
      fleet.becomes("hub", PropagationPolicy, "sample-cloneset-propagation", { status: { matched: 1, applied: 1 } }),
    prints: [/^uniteddeployment-propagation /m, /Matched: +1\n/, /Applied: +1\n/],
  },
  "001 CloneSet 1": {
    hash: "254dd583",
    prints: [SELECTOR, /Warning: .*"RollingUpdate" was taken for "ReCreate"/],
  },
  "001 Advanced StatefulSet 1": { hash: "625ef898", prints: [SELECTOR] },
  "001 SidecarSet 1": { hash: "7ffb58f2", prints: [CUSTOM_VERSION] },
  "001 UnitedDeployment 1": {
    hash: "4d757a02",
    async effect(fleet) {
      // The chapter leaves the policies to the reader.
      const kruise = (kind: string, name: string, version = "v1alpha1"): object => ({
        apiVersion: `apps.kruise.io/${version}`,
        kind,
        name,
      });
      const resourceSelectors = [
        kruise("CloneSet", "my-cloneset"),
        kruise("StatefulSet", "my-statefulset", "v1beta1"),
        kruise("SidecarSet", "my-sidecarset"),
        kruise("UnitedDeployment", "my-uniteddeployment"),
      ];
      const placement = { clusterAffinity: { clusterNames: ["member2"] } };
      await fleet.create("hub", PropagationPolicy, policy("recommended", { resourceSelectors, placement }));
      await fleet.becomes("hub", CloneSet, "my-cloneset", ready(3));
      await fleet.becomes("hub", AdvancedStatefulSet, "my-statefulset", ready(3));
      await fleet.becomes("hub", UnitedDeployment, "my-uniteddeployment", ready(4));
      await fleet.becomes("member2", SidecarSet, "my-sidecarset", {});
      await fleet.becomes("member2", PersistentVolumeClaim, "data-my-statefulset-2", { status: { phase: "Bound" } });
    },
  },
};

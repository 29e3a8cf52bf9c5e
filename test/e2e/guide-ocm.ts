/** The blocks of Open Cluster Management's half of 001, and its chapter on debugging. */
import { expect } from "vitest";
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { ClusterRoleBinding, ConfigMap, Namespace, Pod, Secret, StorageClass } from "@flotilla/kubernetes";
import {
  AppliedManifestWork,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  ManifestWork,
  OcmPlacement,
  PlacementDecision,
} from "@flotilla/ocm";
import { AdvancedStatefulSet, CloneSet, SidecarSet, UnitedDeployment } from "@flotilla/openkruise";
import { condition, INSTALLS, ready } from "./guide-entry.ts";
import type { GuideTable } from "./guide-entry.ts";
import type { GuideFleet } from "./guide-fleet.ts";

const OF_HUB = { namespace: "cluster1" };
const IN_DATABASE = { namespace: "database" };
const DOCKER = "asks Docker for the address of a kind cluster; the kubeconfigs have the addresses";
const CLUSTERADM = "clusteradm is not a program of the tests; ocm-registration.test.ts joins clusters with a token";
const CHART = INSTALLS("OpenKruise from a chart repository");
/** The guide: "Clean failed installs (optional)". */
const CLEANS = "deletes the agent of a cluster that has joined";

const workIs = (fleet: GuideFleet, name: string, type: string, status: "True" | "False"): Promise<void> =>
  fleet.becomes("hub", ManifestWork, name, condition(type, status), OF_HUB);
const secret = (name: string, key: string): object => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "database" },
  stringData: { [key]: "secret" },
});
/** The clusters that a Placement of the namespace `default` has selected. */
async function decided({ client }: GuideFleet, placement: string): Promise<string[]> {
  const { items } = await client.list(PlacementDecision, { cluster: "hub", namespace: "default" });
  return items
    .filter(({ metadata }) => metadata.labels?.["cluster.open-cluster-management.io/placement"] === placement)
    .flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName));
}

/** The set and its binding are the reader's: the Placement selects nothing before, as with Open Cluster Management. */
async function placementSelects(fleet: GuideFleet): Promise<void> {
  await fleet.becomes("cluster1", CloneSet, "nginx-cloneset", ready(3));
  await workIs(fleet, "cloneset-nginx-production", "Available", "True");
  await fleet.becomes("hub", OcmPlacement, "production-placement", condition("PlacementSatisfied", "False"));
  const name = "production-clusters";
  const apiVersion = "cluster.open-cluster-management.io/v1beta2";
  await fleet.create("hub", ManagedClusterSet, { apiVersion, kind: "ManagedClusterSet", metadata: { name } });
  await fleet.create("hub", ManagedClusterSetBinding, {
    apiVersion,
    kind: "ManagedClusterSetBinding",
    metadata: { name, namespace: "default" },
    spec: { clusterSet: name },
  });

  await fleet.change("hub", ManagedCluster, "cluster2", {
    metadata: { labels: { "cluster.open-cluster-management.io/clusterset": name, environment: "production" } },
  });

  await expect.poll(() => decided(fleet, "production-placement"), { timeout: 30_000 }).toEqual(["cluster2"]);
}

async function followsLabel(fleet: GuideFleet): Promise<void> {
  await workIs(fleet, "sidecarset-monitoring", "Applied", "False");
  await fleet.isGone("cluster1", SidecarSet, "monitoring-sidecar");

  await fleet.change("hub", ManagedCluster, "cluster1", { metadata: { labels: { monitoring: "enabled" } } });
  await fleet.becomes("cluster1", SidecarSet, "monitoring-sidecar", {});
  await workIs(fleet, "sidecarset-monitoring", "Applied", "True");

  await fleet.change("hub", ManagedCluster, "cluster1", { metadata: { labels: { monitoring: null } } });
  await fleet.isGone("cluster1", SidecarSet, "monitoring-sidecar");
}

/** A ManifestWork creates no namespaces, as with Open Cluster Management; deleting the work deletes its objects. */
async function databaseRuns(fleet: GuideFleet): Promise<void> {
  await workIs(fleet, "statefulset-database", "Applied", "False");
  await fleet.create("cluster1", Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: "database" } });
  await fleet.create("cluster1", Secret, secret("postgres-secret", "password"));
  await fleet.becomes("cluster1", AdvancedStatefulSet, "postgres-statefulset", ready(3), IN_DATABASE);
  await workIs(fleet, "statefulset-database", "Available", "True");

  await fleet.type("kubectl delete manifestwork statefulset-database -n cluster1 --timeout=20s");

  await fleet.isGone("cluster1", AdvancedStatefulSet, "postgres-statefulset", IN_DATABASE);
}

/** "Script errors": a rule that fails when it runs. Resolves when its failure is logged. */
async function ruleFails({ client, change }: GuideFleet): Promise<void> {
  const luaScript = "function AggregateStatus(desiredObj, statusItems)\n  return desiredObj.nothing.here\nend";
  await change("hub", ResourceInterpreterCustomization, "openkruise-uniteddeployment-interpreter", {
    spec: { customizations: { statusAggregation: { luaScript } } },
  });
  const { items } = await client.list(Pod, { cluster: "hub", namespace: "karmada-system" });
  const webhook = items.find(({ metadata }) => metadata.name.startsWith("karmada-webhook"))?.metadata.name ?? "";
  const log = async (): Promise<string> => {
    const path = `/api/v1/namespaces/karmada-system/pods/${webhook}/log`;
    const { body } = await client.raw({ method: "GET", path, cluster: "hub", headers: {} });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  await expect.poll(log, { timeout: 30_000 }).toContain("interpreter rule failed");
}

const kruiseRuns = /kruise-controller-manager-\S+ +1\/1 +Running/;

export const ocm: GuideTable = {
  "001 Step 1: Create KinD Clusters 1": { hash: "bfdbccb0", notRun: INSTALLS("kind clusters") },
  "001 Step 2: Install clusteradm 1": { hash: "364f5061", notRun: INSTALLS("clusteradm") },
  "001 Step 3: Bootstrap the Hub Cluster 1": {
    hash: "344f476d",
    without: {
      "HUB_IP=$(docker": DOCKER,
      'kubectl config set-cluster "$HUB_CONTEXT"': DOCKER,
      "clusteradm init": INSTALLS("Open Cluster Management"),
    },
    prints: [
      /Switched to context "kind-hub"/,
      /Kubernetes control plane.* is running at/,
      /cluster-manager-registration-controller-\S+ +1\/1 +Running/,
      ...["manifestworks.work", "managedclusters.cluster", "placements.cluster", "placementdecisions.cluster"].map(
        (plural) => new RegExp(`^${plural.replace(".", "\\.")}\\.open-cluster-management\\.io `, "m"),
      ),
    ],
  },
  "001 Step 4: Join Managed Clusters 1": {
    hash: "c7e41af1",
    without: {
      "HUB_IP=$(docker": DOCKER,
      "kubectl delete ns": CLEANS,
      "JOIN_TOKEN=$(clusteradm": CLUSTERADM,
      "clusteradm join": CLUSTERADM,
      "clusteradm accept": CLUSTERADM,
    },
    prints: [/cluster1 +true +https:\S+ +True +True .*\ncluster2 +true +https:\S+ +True +True /],
  },
  "001 Step 5: Install OpenKruise on Managed Clusters 1": {
    hash: "eb554ca5",
    without: { "helm repo": CHART, "helm install": CHART },
    prints: [new RegExp(`kind-cluster1[^]*${kruiseRuns.source}[^]*kind-cluster2[^]*${kruiseRuns.source}`)],
  },
  "001 Step 6: Grant RBAC Access to OCM Agent 1": {
    hash: "56e0d803",
    async effect(fleet) {
      for (const cluster of ["cluster1", "cluster2"] as const)
        await fleet.becomes(cluster, ClusterRoleBinding, "ocm-work-agent", {
          roleRef: { name: "cluster-admin" },
          subjects: [{ namespace: "open-cluster-management-agent", name: "klusterlet-work-sa" }],
        });
    },
  },
  "001 Step 7: Verify Complete Setup 1": {
    hash: "eabbd831",
    prints: [
      /cluster1 +true +https:\S+ +True +True .*\ncluster2 +true +https:\S+ +True +True /,
      /cluster-manager-work-controller-\S+ +1\/1 +Running/,
      /kind-cluster1[^]*klusterlet-\S+ +1\/1 +Running[^]*kind-cluster2[^]*klusterlet-\S+ +1\/1 +Running/,
      new RegExp(`kind-cluster1[^]*${kruiseRuns.source}[^]*kind-cluster2[^]*${kruiseRuns.source}`),
      /kind-hub"\.\nNo resources found\n$/,
    ],
  },
  "001 Step 8: Troubleshooting Common Issues 1": {
    hash: "97d84cb8",
    without: { "kubectl describe csr": "clusters of `flotilla up` join without a CertificateSigningRequest" },
    prints: [/ Ready /, /klusterlet of cluster1/, /managed cluster changed .*cluster1/],
  },
  "001 CloneSet with ManifestWork 1": { hash: "c65fb098", file: "cloneset-manifestwork.yaml" },
  "001 Advanced StatefulSet with ManifestWork 1": {
    hash: "7da82133",
    file: "advanced-statefulset-manifestwork.yaml",
  },
  "001 SidecarSet with ManifestWork 1": { hash: "0a6c05c2", file: "sidecarset-manifestwork.yaml" },
  "001 UnitedDeployment with ManifestWork 1": { hash: "9d5585cc", file: "uniteddeployment-manifestwork.yaml" },
  "001 Placement and PlacementDecision 1": {
    hash: "a73fff24",
    prints: [
      /Warning: .*the set default counts as bound/,
      /Warning: .*Placement placement-example creates its own decisions/,
    ],
    async effect(fleet) {
      await fleet.becomes("hub", OcmPlacement, "placement-example", { status: { numberOfSelectedClusters: 2 } });
      expect(await decided(fleet, "placement-example")).toHaveLength(2);
    },
  },
  "001 Deploying CloneSet with OCM 1": {
    hash: "c9b2e7fc",
    prints: [/^cloneset-example /m],
    async effect(fleet) {
      await fleet.becomes("cluster1", CloneSet, "sample-cloneset", ready(3));
      await workIs(fleet, "cloneset-example", "Available", "True");
      await fleet.isGone("cluster2", CloneSet, "sample-cloneset");
      const { items } = await fleet.client.list(AppliedManifestWork, { cluster: "cluster1" });
      expect(items.map(({ spec }) => spec.manifestWorkName)).toContain("cloneset-example");
    },
  },
  "001 Deploying Advanced StatefulSet with OCM 1": {
    hash: "eaea91fc",
    // The last command resolves to `apps/v1`, as on any cluster with OpenKruise.
    prints: [/^advanced-statefulset-example /m, /No resources found in default namespace/],
    async effect(fleet) {
      await fleet.becomes("cluster1", AdvancedStatefulSet, "sample-advanced-statefulset", ready(3));
      await workIs(fleet, "advanced-statefulset-example", "Available", "True");
    },
  },
  "001 Deploying SidecarSet with OCM 1": {
    hash: "89c5d9b6",
    prints: [/^sidecarset-example /m],
    async effect(fleet) {
      await fleet.becomes("cluster1", SidecarSet, "sample-sidecarset", {});
      await workIs(fleet, "sidecarset-example", "Applied", "True");
    },
  },
  "001 Deploying UnitedDeployment with OCM 1": {
    hash: "cee219a1",
    prints: [/topology\.pools was read as spec\.topology\.subsets/, /^uniteddeployment-example /m],
    async effect(fleet) {
      await fleet.becomes("cluster1", UnitedDeployment, "sample-uniteddeployment", ready(4));
      await workIs(fleet, "uniteddeployment-example", "Available", "True");
    },
  },
  "001 Advanced ManifestWork Patterns 1": {
    hash: "509982a6",
    prints: [/Warning: .*no ManagedClusterSetBinding; no cluster is selected/],
    effect: placementSelects,
  },
  "001 Advanced ManifestWork Patterns 2": {
    hash: "6210c008",
    prints: [/Warning: .*ocm\.io\/conditional-deployment is only supported by Flotilla/],
    effect: followsLabel,
  },
  "001 Advanced ManifestWork Patterns 3": { hash: "36d7795b", effect: databaseRuns },
  "001 Workload-Specific Best Practices 1": {
    hash: "9694375f",
    prints: [/Warning: .*"RollingUpdate" was taken for "ReCreate"/],
    async effect(fleet) {
      await fleet.becomes("cluster1", CloneSet, "webapp-cloneset", ready(5));
      await workIs(fleet, "cloneset-webapp-production", "Available", "True");
    },
  },
  "001 Workload-Specific Best Practices 2": {
    hash: "24851116",
    async given(fleet) {
      await fleet.create("cluster1", Secret, secret("mysql-secret", "root-password"));
      await fleet.create("cluster1", StorageClass, {
        apiVersion: "storage.k8s.io/v1",
        kind: "StorageClass",
        metadata: { name: "fast-ssd" },
        provisioner: "example.com/disk",
      });
    },
    async effect(fleet) {
      await fleet.becomes("cluster1", AdvancedStatefulSet, "mysql-statefulset", ready(3), IN_DATABASE);
      await workIs(fleet, "statefulset-database-production", "Available", "True");
    },
  },
  "001 Workload-Specific Best Practices 3": {
    hash: "41d0a72f",
    prints: [/Warning: .*the set itself was given version "v1\.0"/],
    given: (fleet) =>
      fleet.create("cluster1", ConfigMap, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "fluentd-config", namespace: "default" },
      }),
    async effect(fleet) {
      await workIs(fleet, "sidecarset-logging-production", "Available", "True");
      await fleet.client.deleteCollection(Pod, {
        cluster: "cluster1",
        namespace: "default",
        labelSelector: "app=webapp",
      });
      await expect
        .poll(() => fleet.containers("cluster1", "webapp"), { timeout: 30_000 })
        .toEqual(Array.from({ length: 5 }, () => "log-collector webapp"));
    },
  },
  "001 Workload-Specific Best Practices 4": {
    hash: "f6f0136d",
    async effect(fleet) {
      await fleet.becomes("cluster1", UnitedDeployment, "webapp-uniteddeployment", ready(6));
      await workIs(fleet, "uniteddeployment-multizone-production", "Available", "True");
    },
  },
  "001 Karmada Debugging 1": {
    hash: "306502a0",
    given: ruleFails,
    prints: [
      /karmada-controller-manager-\S+ +1\/1 +Running/,
      /^openkruise-sidecarset-interpreter /m,
      /^sidecarset-propagation /m,
      /interpreter rule failed .*openkruise-uniteddeployment-interpreter .*line 2: attempt to index/,
      /^sample-cloneset-cloneset +True +True /m,
      /^sample-sidecarset-sidecarset +True +True /m,
    ],
  },
  "001 OCM Debugging 1": {
    hash: "aa608011",
    // Agents run on the clusters.
    lineOn: { "kubectl get pods -n open-cluster-management-agent": "cluster1" },
    prints: [
      /cluster-manager-placement-controller-\S+ +1\/1 +Running/,
      /^cluster1 +true /m,
      /^cluster1 +cloneset-example +True +True /m,
      /^placement-example .* 2$/m,
      /^placement-example-decision-1 /m,
      /^klusterlet-\S+ +1\/1 +Running/m,
    ],
  },
  "001 OpenKruise Debugging 1": {
    hash: "0c0b29ac",
    on: "member1",
    prints: [
      kruiseRuns,
      /cloneset\.apps\.kruise\.io\/sample-cloneset +2 +2 +2 /,
      /uniteddeployment\.apps\.kruise\.io\/sample-uniteddeployment +4 +4 /,
      /^clonesets\.apps\.kruise\.io /m,
      /sample-cloneset/,
    ],
  },
};

import { describe, expect, test } from "vitest";
import { readCluster } from "../fleet-view.ts";
import {
  affinityOf,
  createView,
  currentTerm,
  fits,
  rejects,
  type BindingSpecView,
  type FilterPlugin,
  type Verdict,
} from "../framework.ts";
import type { ClusterView } from "../fleet-cluster.ts";
import { apiEnablement } from "./api-enablement.ts";
import { clusterAffinity } from "./cluster-affinity.ts";
import { clusterEviction } from "./cluster-eviction.ts";
import { clusterLocality } from "./cluster-locality.ts";
import { spreadConstraint } from "./spread-constraint.ts";
import { taintToleration } from "./taint-toleration.ts";
import { workloadAffinity, workloadAntiAffinity } from "./workload-affinity.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const oslo: ClusterView = {
  metadata: { name: "oslo" },
  spec: { region: "eu", taints: [{ key: "maint", effect: "NoSchedule" }] },
  status: { apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }] },
};
const overflowing: NonNullable<BindingSpecView["placement"]> = {
  clusterAffinities: [
    {
      affinityName: "home",
      clusterNames: ["paris"],
      overflowAffinities: [{ affinityName: "away", clusterNames: ["oslo"] }],
    },
  ],
};
const unknown: ClusterView = { metadata: { name: "oslo" } };

const cases: Record<
  string,
  { plugin: FilterPlugin; spec?: Partial<BindingSpecView>; cluster?: ClusterView; want: Verdict }
> = {
  "a cluster that serves the kind fits": { plugin: apiEnablement, want: fits },
  "a cluster that does not serve the kind is rejected": {
    plugin: apiEnablement,
    cluster: unknown,
    want: rejects("cluster(s) did not have the API resource"),
  },
  "a cluster that serves an OpenKruise kind in its other version fits, because delivery converts": {
    plugin: apiEnablement,
    spec: { resource: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" } },
    cluster: {
      metadata: { name: "oslo" },
      status: {
        apiEnablements: [
          { groupVersion: "apps.kruise.io/v1alpha1", resources: [{ name: "clonesets", kind: "CloneSet" }] },
        ],
      },
    },
    want: fits,
  },
  "a cluster that serves another kind in another version is rejected": {
    plugin: apiEnablement,
    spec: { resource: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" } },
    cluster: {
      metadata: { name: "oslo" },
      status: {
        apiEnablements: [
          { groupVersion: "apps.kruise.io/v1alpha1", resources: [{ name: "statefulsets", kind: "StatefulSet" }] },
        ],
      },
    },
    want: rejects("cluster(s) did not have the API resource"),
  },
  "a cluster that already runs the resource stays, regardless of served kinds": {
    plugin: apiEnablement,
    cluster: unknown,
    spec: { clusters: [{ name: "oslo" }] },
    want: fits,
  },
  "an untolerated taint rejects and is named": {
    plugin: taintToleration,
    want: rejects("cluster(s) had untolerated taint {maint:NoSchedule}"),
  },
  "a tolerated taint does not reject": {
    plugin: taintToleration,
    spec: { placement: { clusterTolerations: [{ key: "maint", operator: "Exists" }] } },
    want: fits,
  },
  "a taint does not reject where the resource already runs": {
    plugin: taintToleration,
    spec: { clusters: [{ name: "oslo" }] },
    want: fits,
  },
  "without an affinity every cluster fits": { plugin: clusterAffinity, want: fits },
  "a cluster outside the affinity is rejected": {
    plugin: clusterAffinity,
    spec: { placement: { clusterAffinity: { clusterNames: ["paris"] } } },
    want: rejects("cluster(s) did not match the placement cluster affinity constraint"),
  },
  "a workload may overflow to a cluster of a further affinity": {
    plugin: clusterAffinity,
    spec: { replicas: 1, placement: overflowing },
    want: fits,
  },
  "a resource without pods does not overflow": {
    plugin: clusterAffinity,
    spec: { placement: overflowing },
    want: rejects("cluster(s) did not match the placement cluster affinity constraint"),
  },
  "a cluster under eviction is rejected": {
    plugin: clusterEviction,
    spec: { gracefulEvictionTasks: [{ fromCluster: "oslo", reason: "TaintUntolerated", producer: "TaintManager" }] },
    want: rejects("cluster(s) is in the process of eviction"),
  },
  "spreading by region requires a region, which oslo has": {
    plugin: spreadConstraint,
    spec: { placement: { spreadConstraints: [{ spreadByField: "region" }] } },
    want: fits,
  },
  "spreading by a label requires the label, which oslo lacks": {
    plugin: spreadConstraint,
    spec: { placement: { spreadConstraints: [{ spreadByLabel: "rack" }] } },
    want: rejects("cluster(s) did not have label rack"),
  },
  "spreading by zone requires a zone, which oslo lacks": {
    plugin: spreadConstraint,
    spec: { placement: { spreadConstraints: [{ spreadByField: "zone" }] } },
    want: rejects("cluster(s) did not have zones property"),
  },
};
for (const [behaviour, { plugin, spec, cluster = oslo, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const only = spec?.placement?.clusterAffinity;
    const term = currentTerm(spec?.placement, { schedulerObservingAffinityName: "home" });
    const view = createView({ resource, ...spec }, only ? { primary: only, overflow: [] } : term && affinityOf(term));

    expect(plugin.filter(view, readCluster(cluster))).toEqual(want);
  });
}

describe("the other bindings of a workload group", () => {
  const elsewhere = { areAllOn: () => false, isTaken: () => true };
  const here = { areAllOn: () => true, isTaken: () => false };
  const judge = (
    plugin: FilterPlugin,
    neighbours: typeof here | undefined,
    clusters: BindingSpecView["clusters"] = [],
  ): Verdict => plugin.filter(createView({ resource, clusters }, undefined, 0, neighbours), readCluster(oslo));

  test("exclude clusters without them by affinity, and clusters with them by anti-affinity", () => {
    expect(judge(workloadAffinity, elsewhere)).toEqual(
      rejects("ResourceBinding with the same affinity group does not target this cluster"),
    );
    expect(judge(workloadAntiAffinity, elsewhere)).toEqual(
      rejects("cluster already has workload with the same anti-affinity group"),
    );
    expect(judge(workloadAffinity, here)).toEqual(fits);
    expect(judge(workloadAntiAffinity, here)).toEqual(fits);
  });

  test("do not move a running binding, nor one without a group", () => {
    for (const plugin of [workloadAffinity, workloadAntiAffinity]) {
      expect(judge(plugin, elsewhere, [{ name: "oslo" }])).toEqual(fits);
      expect(judge(plugin, undefined)).toEqual(fits);
    }
  });
});

test("clusters that already run the resource are preferred", () => {
  const view = createView({ resource, clusters: [{ name: "oslo" }] }, undefined);

  expect(clusterLocality.score(view, readCluster(oslo))).toBe(100);
  expect(clusterLocality.score(view, readCluster({ metadata: { name: "paris" } }))).toBe(0);
});

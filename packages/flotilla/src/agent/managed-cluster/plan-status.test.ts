import type { ClusterClaim, ManagedCluster } from "@flotilla/ocm";
import type { Node } from "@flotilla/kubernetes";
import { describe, expect, test } from "vitest";
import { planManagedStatus } from "./plan-status.ts";
import type { MemberView } from "./plan-status.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
const NOW = "2026-05-01T12:00:00Z";
const EARLIER = "2026-05-01T11:00:00Z";

type Status = NonNullable<ManagedCluster["status"]>;

const accepted = {
  type: "HubAcceptedManagedCluster",
  status: "True",
  reason: "HubClusterAdminAccepted",
  message: "Accepted by hub cluster admin",
  lastTransitionTime: EARLIER,
} as const;
const joined = {
  type: "ManagedClusterJoined",
  status: "True",
  reason: "ManagedClusterJoined",
  message: "Managed cluster joined",
  lastTransitionTime: EARLIER,
} as const;
const available = {
  type: "ManagedClusterConditionAvailable",
  status: "True",
  reason: "ManagedClusterAvailable",
  message: "Managed cluster is available",
  lastTransitionTime: EARLIER,
} as const;

const known: Status = {
  version: { kubernetes: "v1.33.1" },
  capacity: { cpu: "4", memory: "8Gi", "example.com/licenses": "3" },
  allocatable: { cpu: "3", memory: "7Gi" },
  clusterClaims: [
    { name: "id.k8s.io", value: "id-1" },
    { name: "kubeversion.open-cluster-management.io", value: "v1.33.1" },
    { name: "platform.open-cluster-management.io", value: "Other" },
    { name: "product.open-cluster-management.io", value: "Other" },
    { name: "team", value: "shop" },
  ],
  conditions: [accepted, joined, available],
};

const makeCluster = (status?: Status): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "oslo" },
  spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
  status,
});

const makeNode = (name: string, cpu: string, memory: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  status: { capacity: { cpu, memory }, allocatable: { cpu, memory } },
});

const team: ClusterClaim = {
  apiVersion: "cluster.open-cluster-management.io/v1alpha1",
  kind: "ClusterClaim",
  metadata: { name: "team" },
  spec: { value: "shop" },
};

const makeView = (more: Partial<MemberView> = {}): MemberView => ({
  health: "ready",
  detail: "",
  trend: { isReady: true, sinceMs: NOW_MS - 60_000 },
  id: "id-1",
  ...more,
});

const sick = (seconds: number): MemberView =>
  makeView({
    health: "unhealthy",
    detail: "etcd failed",
    trend: { isReady: false, sinceMs: NOW_MS - seconds * 1000 },
  });

describe("the facts of a member", () => {
  const cases: Record<string, { before?: Partial<Status>; view: MemberView; want: Partial<Status> }> = {
    "stay while a healthy member's nodes, claims and version are not known yet": {
      view: makeView(),
      want: known,
    },
    "keep the claim of the version while only claims are known": {
      view: makeView({ claims: [team] }),
      want: known,
    },
    "keep claims while only nodes are known": {
      view: makeView({ version: "v1.33.1", nodes: [makeNode("a", "2", "4Gi")] }),
      want: {
        ...known,
        capacity: { cpu: "2", memory: "4Gi", "example.com/licenses": "3" },
        allocatable: { cpu: "2", memory: "4Gi" },
      },
    },
    "stay while the member is unhealthy": {
      view: { ...sick(5), nodes: [], claims: [], version: "v1.34.0" },
      want: known,
    },
    "are the sums of all nodes": {
      before: { capacity: undefined, allocatable: undefined },
      view: makeView({ nodes: [makeNode("a", "2", "4Gi"), makeNode("b", "500m", "1Gi")] }),
      want: { capacity: { cpu: "2500m", memory: "5Gi" }, allocatable: { cpu: "2500m", memory: "5Gi" } },
    },
    "have nothing to allocate without nodes": { view: makeView({ nodes: [] }), want: { allocatable: undefined } },
    "have the new version, also as a claim": {
      view: makeView({ version: "v1.34.0", claims: [] }),
      want: {
        version: { kubernetes: "v1.34.0" },
        clusterClaims: [
          { name: "id.k8s.io", value: "id-1" },
          { name: "kubeversion.open-cluster-management.io", value: "v1.34.0" },
          { name: "platform.open-cluster-management.io", value: "Other" },
          { name: "product.open-cluster-management.io", value: "Other" },
        ],
      },
    },
  };
  for (const [behaviour, { before, view, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { status } = planManagedStatus(makeCluster({ ...known, ...before }), view, NOW_MS, NOW);

      expect(status).toEqual(expect.objectContaining(want));
    });
});

describe("the conditions of a member", () => {
  const unavailable = {
    type: "ManagedClusterConditionAvailable",
    status: "False",
    reason: "ManagedClusterKubeAPIServerUnavailable",
    message: "The kube-apiserver is not ok: etcd failed",
    lastTransitionTime: NOW,
  } as const;
  const cases: Record<string, { before?: Status["conditions"]; view: MemberView; want: Status["conditions"] }> = {
    "say that an accepted member has joined and is available": {
      before: [accepted],
      view: makeView(),
      want: [accepted, { ...joined, lastTransitionTime: NOW }, { ...available, lastTransitionTime: NOW }],
    },
    "do not report a failure shorter than 20 seconds": { view: sick(19), want: [accepted, joined, available] },
    "report a failure of 20 seconds with its cause": { view: sick(20), want: [accepted, joined, unavailable] },
    "keep the first cause of a failure": {
      before: [accepted, joined, { ...unavailable, message: "first", lastTransitionTime: EARLIER }],
      view: sick(90),
      want: [accepted, joined, { ...unavailable, message: "first", lastTransitionTime: EARLIER }],
    },
    "say until when the certificate is valid": {
      view: makeView({ rotation: { ok: true, expiresMs: Date.parse("2026-06-01T00:00:00Z") } }),
      want: [
        accepted,
        joined,
        available,
        {
          type: "ClusterCertificateRotated",
          status: "True",
          reason: "ClientCertificateUpdated",
          message: "the client certificate is valid until 2026-06-01T00:00:00.000Z",
          lastTransitionTime: NOW,
        },
      ],
    },
    "say why the certificate could not be renewed": {
      view: makeView({ rotation: { ok: false, message: "the request was denied" } }),
      want: [
        accepted,
        joined,
        available,
        {
          type: "ClusterCertificateRotated",
          status: "False",
          reason: "ClientCertificateUpdateFailed",
          message: "the request was denied",
          lastTransitionTime: NOW,
        },
      ],
    },
  };
  for (const [behaviour, { before = known.conditions, view, want }] of Object.entries(cases))
    test(behaviour, () => {
      const { status } = planManagedStatus(makeCluster({ ...known, conditions: before }), view, NOW_MS, NOW);

      expect(status?.conditions).toEqual(want);
    });
});

describe("the status stays as it is", () => {
  const view = makeView({ version: "v1.34.0", nodes: [makeNode("a", "2", "4Gi")], claims: [] });
  const cases: Record<string, { status?: Status; view: MemberView }> = {
    "when the hub has not accepted the cluster": { view },
    "when the hub has denied the cluster": {
      status: { ...known, conditions: [{ ...accepted, status: "False" }] },
      view,
    },
    "when its clock and that of the hub differ": {
      status: {
        ...known,
        conditions: [
          accepted,
          {
            type: "ManagedClusterConditionClockSynced",
            status: "False",
            reason: "ManagedClusterClockOutOfSync",
            message: "out of sync",
            lastTransitionTime: EARLIER,
          },
        ],
      },
      view,
    },
    "when nothing has changed": { status: known, view: makeView({ version: "v1.33.1", claims: [team] }) },
  };
  for (const [behaviour, { status, view: seen }] of Object.entries(cases))
    test(behaviour, () => {
      const cluster = makeCluster(status);

      expect(planManagedStatus(cluster, seen, NOW_MS, NOW)).toBe(cluster);
    });
});

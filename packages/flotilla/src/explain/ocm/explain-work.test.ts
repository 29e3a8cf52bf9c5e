import { describe, expect, test } from "vitest";
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { makeCluster } from "@flotilla/testing/builders.ts";
import { explainWork, type WorkViews } from "./explain-work.ts";

const condition = (type: string, status: "True" | "False" | "Unknown", message = "", observedGeneration = 1) => ({
  type,
  status,
  reason: "Test",
  message,
  observedGeneration,
  lastTransitionTime: "2024-05-01T12:00:00Z",
});
const managedCluster = (extra: Partial<ManagedCluster> = {}): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name: "paris" },
  spec: { hubAcceptsClient: true },
  status: { conditions: [condition("ManagedClusterConditionAvailable", "True")], version: {} },
  ...extra,
});
const cluster: Cluster = makeCluster("paris");
const views = (extra: Partial<WorkViews> = {}): WorkViews => ({
  managedCluster: managedCluster(),
  cluster,
  nowMs: Date.UTC(2024, 4, 1, 12, 5),
  otherOwner: () => undefined,
  ...extra,
});

function makeWork(
  extra: {
    conditions?: ReturnType<typeof condition>[];
    manifest?: ReturnType<typeof condition>[];
    generation?: number;
    count?: number;
    deletionTimestamp?: string;
  } = {},
): ManifestWork {
  const {
    conditions = [condition("Applied", "True")],
    manifest = [condition("Applied", "True"), condition("Available", "True")],
    generation = 1,
    count = 1,
    deletionTimestamp,
  } = extra;
  const names = Array.from({ length: count }, (_item, index) => (index === 0 ? "web" : `web${index}`));
  return {
    apiVersion: "work.open-cluster-management.io/v1",
    kind: "ManifestWork",
    metadata: { namespace: "paris", name: "web", generation, deletionTimestamp: deletionTimestamp || undefined },
    spec: {
      workload: {
        manifests: names.map((name) => ({
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { namespace: "shop", name },
        })),
      },
      manifestConfigs: [
        {
          resourceIdentifier: { group: "apps", resource: "deployments", namespace: "shop", name: "*" },
          updateStrategy: { type: "ServerSideApply" },
        },
      ],
    },
    status: {
      conditions,
      resourceStatus: {
        manifests: names.map((name, ordinal) => ({
          resourceMeta: {
            ordinal,
            group: "apps",
            version: "v1",
            kind: "Deployment",
            resource: "deployments",
            namespace: "shop",
            name,
          },
          conditions: ordinal === count - 1 ? manifest : [condition("Applied", "True"), condition("Available", "True")],
          statusFeedback: { values: [{ name: "ReadyReplicas", fieldValue: { type: "Integer", integer: 2 } }] },
        })),
      },
    },
  };
}

test("lists a healthy object with its strategy, conditions and feedback", () => {
  const { manifests, problems } = explainWork(
    makeWork({
      manifest: [condition("Applied", "True"), condition("Available", "True"), condition("Progressing", "False")],
    }),
    views(),
  );

  expect(manifests).toEqual([
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: "shop",
      name: "web",
      strategy: "ServerSideApply",
      applied: true,
      available: true,
      conditions: { Progressing: "False" },
      feedback: { ReadyReplicas: "2" },
    },
  ]);
  expect(problems).toEqual([]);
});

test("a cluster-scoped object whose manifest names a namespace is the object that a policy owns", () => {
  const work = makeWork({ manifest: [condition("Applied", "False", "conflict")] });
  const [manifest] = work.spec.workload?.manifests ?? [];
  const [reported] = work.status?.resourceStatus?.manifests ?? [];
  Object.assign(manifest ?? {}, { apiVersion: "apps.kruise.io/v1beta1", kind: "SidecarSet" });
  Object.assign(reported?.resourceMeta ?? {}, { resource: "sidecarsets", namespace: "" });
  const owners: unknown[] = [];
  const otherOwner: WorkViews["otherOwner"] = ({ namespace }) => {
    owners.push(namespace);
    return "ClusterPropagationPolicy web";
  };

  const { problems } = explainWork(work, views({ otherOwner }));

  expect(owners).toEqual([undefined]);
  expect(problems[0]?.what).toBe(
    "SidecarSet web was not applied: ClusterPropagationPolicy web already owns it on this member, and an object has one owner",
  );
});

const cases: Record<string, { work?: ManifestWork; seen?: Partial<WorkViews>; what: string }> = {
  "an object that the member rejects": {
    work: makeWork({ manifest: [condition("Applied", "False", "Failed to apply manifest: too large")] }),
    what: "Deployment shop/web was not applied: too large",
  },
  "an object that a policy also propagates to the member": {
    work: makeWork({ manifest: [condition("Applied", "False", "conflict")] }),
    seen: { otherOwner: () => "PropagationPolicy shop/web" },
    what: "Deployment shop/web was not applied: PropagationPolicy shop/web already owns it on this member, and an object has one owner",
  },
  "an object that was deleted on the member": {
    work: makeWork({ manifest: [condition("Applied", "True"), condition("Available", "False")] }),
    what: "Deployment shop/web does not exist on the member",
  },
  "a namespace without a cluster": {
    seen: { managedCluster: undefined, cluster: undefined },
    what: "there is no cluster named paris, so no agent applies works of this namespace",
  },
  "a cluster that is not accepted": {
    seen: { managedCluster: managedCluster({ spec: { hubAcceptsClient: false } }) },
    what: "the hub has not accepted paris",
  },
  "a cluster that stopped reporting": {
    seen: {
      managedCluster: managedCluster({
        status: { conditions: [condition("ManagedClusterConditionAvailable", "Unknown", "no lease")], version: {} },
      }),
    },
    what: "paris is not available: no lease",
  },
  "a work that the member has not received": {
    work: makeWork({ conditions: [] }),
    what: "paris has not applied it yet",
  },
  "a change that the member has not received": {
    work: makeWork({ generation: 2 }),
    what: "paris has not applied this version of it yet",
  },
  "a work that has completed": {
    work: makeWork({ conditions: [condition("Applied", "True"), condition("Complete", "True")] }),
    what: "it has completed: changes are no longer applied",
  },
};
for (const [behaviour, { work = makeWork(), seen = {}, what }] of Object.entries(cases)) {
  test(`reports the problem: ${behaviour}`, () => {
    const { problems } = explainWork(work, views(seen));

    expect(problems[0]?.what).toBe(what);
  });
}

describe("a work that is being deleted", () => {
  const leaving = (extra: Parameters<typeof makeWork>[0] = {}): ManifestWork =>
    makeWork({ generation: 2, deletionTimestamp: "2024-05-01T12:00:00Z", ...extra });

  test("lists its objects that still exist", () => {
    const { manifests, problems } = explainWork(
      leaving({ count: 2, manifest: [condition("Applied", "True"), condition("Available", "False")] }),
      views(),
    );

    expect(manifests).toMatchObject([
      { name: "web", applied: true, available: true, leaving: true },
      { name: "web1", available: false, leaving: true },
    ]);
    expect(problems).toMatchObject([
      { what: "it is being deleted and waits for Deployment shop/web to be removed from the member" },
    ]);
  });

  test("reports why the member rejects the deletion", () => {
    const { problems } = explainWork(
      leaving({
        conditions: [
          condition(
            "Deleting",
            "True",
            'ManifestWork is being deleted, but its cluster rejects the deletion: namespaces "kube-system" is forbidden',
          ),
        ],
      }),
      views(),
    );

    expect(problems).toEqual([
      {
        what: 'it is being deleted, and the member rejects the deletion: namespaces "kube-system" is forbidden',
        try: "allow the deletion there, or keep the object: set spec.deleteOption.propagationPolicy of the work to Orphan",
      },
    ]);
  });
});

const remedies: Record<string, { message: string; want: string }> = {
  "a missing namespace": {
    message: 'Failed to apply manifest: namespaces "nowhere" not found',
    want: "add the Namespace nowhere to the work, or create it on the member",
  },
  "an object in two works": {
    message:
      "Failed to apply manifest: Deployment shop/web is also held by ManifestWork paris/other, which specifies other values and wrote last",
    want: "remove it from one of the two works, or make both specify the same",
  },
};
for (const [behaviour, { message, want }] of Object.entries(remedies)) {
  test(`suggests a fix: ${behaviour}`, () => {
    const { problems } = explainWork(makeWork({ manifest: [condition("Applied", "False", message)] }), views());

    expect(problems[0]?.try).toBe(want);
  });
}

test("a namespace without a cluster is the only problem reported for its works", () => {
  const { problems } = explainWork(
    makeWork({ conditions: [] }),
    views({ managedCluster: undefined, cluster: undefined }),
  );

  expect(problems).toHaveLength(1);
});

test("lists failing objects first when there are very many", () => {
  const { manifests } = explainWork(makeWork({ count: 150, manifest: [condition("Applied", "False", "no")] }), views());

  expect(manifests).toHaveLength(100);
  expect(manifests[0]).toMatchObject({ name: "web149", applied: false });
});

test("a manifest that has not become healthy for longer than a minute is a problem", () => {
  const work = makeWork({
    manifest: [
      condition("Applied", "True"),
      condition("Available", "True"),
      condition("Progressing", "True", "Deployment web is progressing"),
    ],
  });

  expect(explainWork(work, views()).problems.map(({ what }) => what)).toEqual([
    "Deployment shop/web has not been healthy on the member for 5m: Deployment web is progressing",
  ]);
  expect(explainWork(work, views({ nowMs: Date.UTC(2024, 4, 1, 12, 0, 30) })).problems).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { ManifestWork, ManifestWorkReplicaSet, OcmPlacement } from "@flotilla/ocm";
import { ResourceBinding, Work } from "@flotilla/karmada";
import type { Cluster } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Lease } from "@flotilla/kubernetes";
import type { ManagedCluster } from "@flotilla/ocm";
import { makeBinding, makeCluster, makeDeployment } from "@flotilla/testing/builders.ts";
import type { FleetStatus, MemberStatus, UnhealthyObject, WorkloadStatus } from "./fleet-status.ts";
import { summariseMembers, type MemberInput } from "./members.ts";
import { displayWidth } from "../text-layout.ts";
import { renderRun, renderStatus } from "./render-status.ts";
import { createUnhealthyCollector } from "./unhealthy.ts";
import { summariseManifests, summariseWorkload, withAskedReplicas, withReleases } from "./workloads.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const condition = (type: string, status: "True" | "False" | "Unknown", reason = "Test", message = "") => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2024-05-01T11:58:00Z",
});

const cluster = (name: string, change: (cluster: Cluster) => void = () => {}): Cluster =>
  makeCluster(name, (made) => {
    made.metadata.creationTimestamp = "2024-05-01T11:58:00Z";
    made.spec.syncMode = "Push";
    made.status = {
      kubernetesVersion: "v1.36.3",
      nodeSummary: { totalNum: 3, readyNum: 2 },
      conditions: [condition("Ready", "True")],
      resourceSummary: { allocatable: { cpu: "24", memory: "96Gi" }, allocated: { cpu: "1500m", memory: "512Mi" } },
    };
    change(made);
  });
const managed = (name: string, extra: Partial<ManagedCluster> = {}): ManagedCluster => ({
  apiVersion: "cluster.open-cluster-management.io/v1",
  kind: "ManagedCluster",
  metadata: { name, creationTimestamp: "2024-05-01T11:00:00Z" },
  spec: { hubAcceptsClient: true },
  status: { conditions: [condition("ManagedClusterConditionAvailable", "True")], version: { kubernetes: "v1.31.2" } },
  ...extra,
});
const lease = (namespace: string, name: string, renewTime: string): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace, name },
  spec: { renewTime },
});
const members = (input: Partial<MemberInput>): MemberStatus[] =>
  summariseMembers({ clusters: [], managedClusters: [], leases: [], nowMs: NOW, ...input });

describe("a workload that runs once", () => {
  const job = (...statuses: object[]): ResourceBinding =>
    makeBinding({ apiVersion: "batch/v1", kind: "Job", metadata: { name: "seed", namespace: "shop" } })
      .targets({ oslo: 2, paris: 2 })
      .with((binding) => {
        binding.spec.replicas = 4;
        binding.status = {
          aggregatedStatus: statuses.map((status, index) => ({ clusterName: `m${index}`, status: status as never })),
        };
      })
      .build();
  const ended = (type: string): object => ({ succeeded: 2, conditions: [{ type, status: "True" }] });

  test("counts what members had finished before it left them", () => {
    const moved = job(ended("Complete"));
    moved.metadata.annotations = {
      "flotilla.dev/job-record": JSON.stringify([{ cluster: "oslo", succeeded: 3, at: "2026-01-01T00:00:00Z" }]),
    };

    expect(summariseWorkload(moved).run).toMatchObject({ succeeded: 5, finished: "Complete" });
  });

  test("counts a member that left once, while its last status is kept", () => {
    const left = job(ended("Complete"));
    left.metadata.annotations = {
      "flotilla.dev/job-record": JSON.stringify([{ cluster: "m0", succeeded: 2, at: "2026-01-01T00:00:00Z" }]),
    };

    expect(summariseWorkload(left).run).toMatchObject({ succeeded: 2, finished: "Complete" });
  });

  test("is not complete while a member has not taken the rest of its completions", () => {
    const short = job(ended("Complete"));
    short.status = { ...short.status, conditions: [condition("FullyApplied", "False")] };

    expect(renderRun(summariseWorkload(short).run as never)).toBe("0 active, 2 done");
  });

  const cases: Record<string, { statuses: object[]; want: string }> = {
    "shows its pods while it runs": {
      statuses: [
        { active: 1, succeeded: 1 },
        { active: 2, failed: 1 },
      ],
      want: "3 active, 1 done, 1 failed",
    },
    "is complete when it is complete on every member": {
      statuses: [ended("Complete"), ended("Complete")],
      want: "4/4 Complete",
    },
    "has failed when it has ended, and failed on a member": {
      statuses: [ended("Complete"), ended("Failed")],
      want: "Failed: 4 done",
    },
  };
  for (const [name, { statuses, want }] of Object.entries(cases))
    test(name, () => {
      const { run, desired } = summariseWorkload(job(...statuses));

      expect(desired).toBeUndefined();
      expect(run && renderRun(run)).toBe(want);
    });
});

const numbers: Record<
  string,
  { apiVersion: string; kind: string; replicas?: number; statuses: object[]; want: object }
> = {
  "a ReplicationController has the pods of all members": {
    apiVersion: "v1",
    kind: "ReplicationController",
    statuses: [{ replicas: 2, readyReplicas: 2 }, { replicas: 2 }],
    want: { ready: 2, desired: 4 },
  },
  "a ReplicationController that no member has reported has no numbers": {
    apiVersion: "v1",
    kind: "ReplicationController",
    statuses: [],
    want: { desired: undefined },
  },
  "a ReplicaSet without a single ready pod omits the counter": {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    replicas: 3,
    statuses: [{ replicas: 3 }],
    want: { ready: 0, desired: 3 },
  },
};
for (const [title, { apiVersion, kind, replicas, statuses, want }] of Object.entries(numbers))
  test(title, () => {
    const binding = makeBinding(makeDeployment("shop/web").build())
      .with((made) => {
        made.spec.resource = { ...made.spec.resource, apiVersion, kind };
        if (replicas === undefined) delete made.spec.replicas;
        else made.spec.replicas = replicas;
        made.spec.clusters = [];
        made.status = {
          aggregatedStatus: statuses.map((status, index) => ({ clusterName: `m${index}`, status: status as never })),
        };
      })
      .build();

    expect(summariseWorkload(binding)).toMatchObject(want);
  });

describe("a member", () => {
  test("is one row for both its registrations", () => {
    const rows = members({ clusters: [cluster("paris")], managedClusters: [managed("paris")] });

    expect(rows).toEqual([
      {
        name: "paris",
        mode: "push",
        ready: "True",
        available: "True",
        accepted: true,
        version: "v1.36.3",
        nodes: "2/3",
        free: { cpu: "22.5", memory: "95Gi" },
        taints: [],
        age: "60m",
      },
    ]);
  });

  test("registered only through Open Cluster Management is shown too, with its agent's last lease renewal", () => {
    const rows = members({
      managedClusters: [managed("oslo", { spec: { hubAcceptsClient: false } })],
      leases: [
        lease("oslo", "managed-cluster-lease", "2024-05-01T11:59:30.000000Z"),
        lease("oslo", "other", "2024-05-01T11:59:59Z"),
      ],
    });

    expect(rows).toMatchObject([
      {
        name: "oslo",
        mode: "pull",
        available: "True",
        accepted: false,
        version: "v1.31.2",
        heard: "2024-05-01T11:59:30.000000Z",
      },
    ]);
    expect(rows[0]?.ready).toBeUndefined();
  });

  test("whose Cluster has no Karmada agent is not shown as unreachable", () => {
    const rows = members({
      clusters: [cluster("oslo", (made) => Object.assign(made.spec, { syncMode: "Pull" }) && delete made.status)],
      managedClusters: [managed("oslo")],
    });
    const collector = createUnhealthyCollector();
    for (const row of rows) collector.member(row);

    expect(rows).toMatchObject([{ ready: "NoAgent", available: "True" }]);
    expect(collector.result().worst).toEqual([]);
  });

  test("a member in pull mode shows the newer of its lease renewals", () => {
    const rows = members({
      clusters: [cluster("oslo", ({ spec }) => (spec.syncMode = "Pull"))],
      managedClusters: [managed("oslo")],
      leases: [
        lease("oslo", "managed-cluster-lease", "2024-05-01T11:59:30Z"),
        lease("karmada-cluster", "oslo", "2024-05-01T11:59:50Z"),
      ],
    });

    expect(rows).toMatchObject([{ mode: "pull", heard: "2024-05-01T11:59:50Z" }]);
  });

  test("shows a taint of both registrations once", () => {
    const clusters = [
      cluster("paris", ({ spec }) => (spec.taints = [{ key: "gpu", value: "yes", effect: "NoSchedule" }])),
    ];
    const managedClusters = [
      managed("paris", {
        spec: {
          hubAcceptsClient: true,
          taints: [
            { key: "gpu", value: "yes", effect: "NoSelectIfNew" },
            { key: "cluster.open-cluster-management.io/unreachable", effect: "NoSelect" },
          ],
        },
      }),
    ];

    expect(members({ clusters, managedClusters })[0]?.taints).toEqual([
      "gpu=yes:NoSchedule",
      "cluster.open-cluster-management.io/unreachable:NoSelect",
    ]);
  });
});

describe("unhealthy objects:", () => {
  const object = (
    kind: { group: string; storageVersion: string; kind: string },
    status: unknown,
    annotations?: Record<string, string>,
  ): never =>
    ({
      apiVersion: `${kind.group}/${kind.storageVersion}`,
      kind: kind.kind,
      metadata: { namespace: "shop", name: "web", annotations },
      spec: {},
      status,
    }) as unknown as KubernetesObject as never;
  const cases: Record<
    string,
    { see(collector: ReturnType<typeof createUnhealthyCollector>): void; want: Partial<UnhealthyObject>[] }
  > = {
    "a binding that matches no cluster": {
      see: (collector) =>
        collector.binding(
          object(
            ResourceBinding,
            { conditions: [condition("Scheduled", "False", "NoClusterFit", "0/3 clusters are available")] },
            { "propagationpolicy.karmada.io/name": "web" },
          ),
        ),
      want: [{ problem: "binding not scheduled", reason: "0/3 clusters are available" }],
    },
    "a binding that no policy has any longer": {
      see: (collector) =>
        collector.binding(
          object(ResourceBinding, {
            conditions: [condition("Scheduled", "False", "NoClusterFit", "0/3 clusters are available")],
          }),
        ),
      want: [{ problem: "binding without a policy" }],
    },
    "a binding that a member rejects": {
      see: (collector) =>
        collector.binding(
          object(ResourceBinding, {
            conditions: [condition("FullyApplied", "False")],
            aggregatedStatus: [{ clusterName: "paris", applied: false, appliedMessage: "no room" }],
          }),
        ),
      want: [{ problem: "binding not applied", reason: "paris: no room" }],
    },
    "a Work without a binding": {
      see: (collector) =>
        collector.work(object(Work, { conditions: [condition("Applied", "False", "AppliedFailed", "refused")] })),
      want: [{ problem: "Work failed", reason: "refused" }],
    },
    "a ManifestWork, with its first object's message": {
      see: (collector) =>
        collector.manifestWork(
          object(ManifestWork, {
            conditions: [condition("Applied", "False", "AppliedManifestWorkFailed", "Failed to apply manifest work")],
            resourceStatus: {
              manifests: [
                {
                  resourceMeta: {},
                  conditions: [condition("Applied", "False", "AppliedManifestFailed", "no such\nkind")],
                },
              ],
            },
          }),
        ),
      want: [{ problem: "ManifestWork failed", reason: "no such kind" }],
    },
    "an invalid Placement": {
      see: (collector) =>
        collector.placement(
          object(OcmPlacement, {
            conditions: [
              condition("PlacementMisconfigured", "True", "Misconfigured", "Predicate:wrong"),
              condition("PlacementSatisfied", "False", "X", "kept"),
            ],
          }),
        ),
      want: [{ problem: "Placement unsatisfied", reason: "Predicate:wrong" }],
    },
    "a rollout with too many failed clusters": {
      see: (collector) =>
        collector.replicaSet(
          object(ManifestWorkReplicaSet, {
            conditions: [condition("PlacementRolledOut", "False", "Progressing", "no more clusters are started")],
          }),
        ),
      want: [{ problem: "rollout stopped" }],
    },
    "an unreachable member": {
      see: (collector) =>
        collector.member({
          name: "oslo",
          mode: "push",
          ready: "False",
          available: "Unknown",
          accepted: true,
          version: "",
          nodes: "",
          taints: [],
          age: "",
        }),
      want: [{ problem: "member not available", name: "oslo", reason: "Ready is False, Available is Unknown" }],
    },
    "not a rollout in progress": {
      see: (collector) =>
        collector.replicaSet(
          object(ManifestWorkReplicaSet, { conditions: [condition("PlacementRolledOut", "False", "Progressing")] }),
        ),
      want: [],
    },
    "not a work that does not match its cluster": {
      see: (collector) =>
        collector.manifestWork(
          object(ManifestWork, {
            conditions: [condition("Applied", "False", "ClusterLabelsNotMatched", "other labels")],
          }),
        ),
      want: [],
    },
  };
  for (const [behaviour, { see, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const collector = createUnhealthyCollector();

      see(collector);

      expect(collector.result().worst).toMatchObject(want);
    });
  }

  test("a Work whose binding reports the same is neither counted nor listed", () => {
    const collector = createUnhealthyCollector();

    collector.work(
      object(
        Work,
        { conditions: [condition("Applied", "False")] },
        { "resourcebinding.karmada.io/name": "web-deployment" },
      ),
    );

    expect(collector.result()).toEqual({ counts: {}, worst: [] });
  });

  test("all are counted, and the most important come first", () => {
    const collector = createUnhealthyCollector();

    const unsatisfied: OcmPlacement = object(OcmPlacement, {
      conditions: [condition("PlacementSatisfied", "False", "NoManagedClusterMatched")],
    });
    for (let index = 0; index < 20; index++)
      collector.placement({ ...unsatisfied, metadata: { ...unsatisfied.metadata, name: `p${index}` } });
    collector.member({ name: "oslo", mode: "push", ready: "False", version: "", nodes: "", taints: [], age: "" });
    const { counts, worst } = collector.result();

    expect(counts).toEqual({ "member not available": 1, "Placement unsatisfied": 20 });
    expect(worst.map(({ problem }) => problem)).toEqual([
      "member not available",
      ...Array.from({ length: 20 }, () => "Placement unsatisfied"),
    ]);
  });

  test("several reasons of one object are one line", () => {
    const collector = createUnhealthyCollector();
    const object = { problem: "ManifestWork unhealthy" as const, kind: "ManifestWork", namespace: "oslo", name: "web" };

    for (const reason of ["1 pod waits", "2 of 2 pods are not ready", "1 pod waits"])
      collector.unhealthy(object, reason);

    expect(collector.result()).toEqual({
      counts: { "ManifestWork unhealthy": 1 },
      worst: [{ ...object, reason: "1 pod waits; 2 of 2 pods are not ready" }],
    });
  });

  test("a member that is being removed is not reported", () => {
    const collector = createUnhealthyCollector();

    collector.member({
      name: "oslo",
      mode: "push",
      ready: "False",
      leaving: ["karmada"],
      version: "",
      nodes: "",
      taints: [],
      age: "",
    });

    expect(collector.result().worst).toEqual([]);
  });
});

describe("as text", () => {
  const binding = makeBinding(makeDeployment("shop/web").build())
    .targets({ paris: 3, oslo: 2 })
    .with((made) => {
      made.spec.replicas = 5;
      made.status = {
        aggregatedStatus: [
          { clusterName: "paris", status: { readyReplicas: 3 } },
          { clusterName: "oslo", status: { readyReplicas: 1 } },
        ],
      };
    })
    .build();
  const status = (extra: Partial<FleetStatus> = {}): FleetStatus => ({
    server: "https://hub",
    controllers: { state: "inside" },
    components: [],
    members: [],
    objects: { bindings: 0, works: 0, manifestWorks: 0, placements: 0, replicaSets: 0 },
    unhealthy: { counts: {}, worst: [] },
    workloads: [],
    releases: [],
    unselected: { count: 0, names: [], types: [] },
    checked: ["the hub", "2 members"],
    notShown: [],
    notChecked: [],
    ...extra,
  });
  const render = (extra: Partial<FleetStatus>, all = false): string =>
    renderStatus(status(extra), { nowMs: NOW, all, width: 80 });

  test("numbers of members that do not report are marked as stale", () => {
    const binding = makeBinding(makeDeployment("shop/web").build())
      .targets({ oslo: 2, paris: 2 })
      .with((made) => {
        made.spec.replicas = 4;
        made.status = {
          conditions: [condition("FullyApplied", "True"), condition("Stale", "True")],
          aggregatedStatus: ["oslo", "paris"].map((clusterName) => ({
            clusterName,
            status: { readyReplicas: 2 } as never,
          })),
        };
      })
      .build();

    const text = render({ workloads: [summariseWorkload(binding)] });

    expect(text).toContain("4/4 (stale)");
  });

  test("replicas that are divided and not placed count as asked for", () => {
    const binding = makeBinding(makeDeployment("shop/web").build())
      .targets({ oslo: 4 })
      .with((made) => {
        made.spec.replicas = 400;
        made.spec.placement = { replicaScheduling: { replicaSchedulingType: "Divided" } };
        made.status = { aggregatedStatus: [{ clusterName: "oslo", status: { readyReplicas: 4 } }] };
      })
      .build();

    expect(render({ workloads: [summariseWorkload(binding)] })).toContain("4/400");
  });

  test("a namespace that the hub does not have is named, and nothing is said about problems there", () => {
    const text = render({ namespace: "nosuch", isNamespaceMissing: true });

    expect(text).toContain("The hub has no namespace nosuch");
    expect(text).not.toContain("No problems found");
  });

  const releases: Record<string, { kind?: string; statuses: object[]; want: string }> = {
    "shows how far a release has come": {
      statuses: [
        { replicas: 2, readyReplicas: 2, updatedReplicas: 1 },
        { replicas: 2, readyReplicas: 2, updatedReplicas: 2 },
      ],
      want: "4/4 (3 of 4 updated)",
    },
    "shows no release when every pod is updated": {
      statuses: [
        { replicas: 2, readyReplicas: 2, updatedReplicas: 2 },
        { replicas: 2, readyReplicas: 1, updatedReplicas: 2 },
      ],
      want: "3/4 ",
    },
    "counts no pods of a member that still has an earlier release": {
      statuses: [
        { replicas: 2, readyReplicas: 2, updatedReplicas: 1, release: "b", resourceTemplateGeneration: 2 },
        { replicas: 2, readyReplicas: 2, updatedReplicas: 2, release: "a", resourceTemplateGeneration: 1 },
      ],
      want: "4/4 (1 of 4 updated)",
    },
    "shows the release of a DaemonSet": {
      statuses: [
        { desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 3, updatedNumberScheduled: 1 },
        { desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 1, updatedNumberScheduled: 1 },
      ],
      want: "4/4 (2 of 4 updated)",
    },
    "shows a rollout that is paused before its first pod": {
      statuses: [
        { replicas: 2, readyReplicas: 2 },
        { replicas: 2, readyReplicas: 2 },
      ],
      want: "4/4 (0 of 4 updated)",
    },
    "shows no release where members do not count updated pods": {
      kind: "ReplicaSet",
      statuses: [
        { replicas: 2, readyReplicas: 2 },
        { replicas: 2, readyReplicas: 2 },
      ],
      want: "4/4 ",
    },
  };
  for (const [behaviour, { kind = "Deployment", statuses, want }] of Object.entries(releases)) {
    test(behaviour, () => {
      const binding = makeBinding(makeDeployment("shop/web").build())
        .targets({ oslo: 2, paris: 2 })
        .with((made) => {
          made.spec.replicas = 4;
          made.spec.resource = { ...made.spec.resource, kind };
          made.status = {
            aggregatedStatus: statuses.map((status, index) => ({ clusterName: `m${index}`, status: status as never })),
          };
        })
        .build();

      expect(render({ workloads: [summariseWorkload(binding)] })).toContain(want);
    });
  }

  test("names workloads that no policy selects, and how to list them", () => {
    const names = ["web", "cart", "db", "mail"].map((name) => `Deployment shop/${name}`);

    const text = render({ unselected: { count: 4, names, types: ["deployments.apps"] } });

    expect(text.slice(text.indexOf("No policy selects")).replaceAll(/\s+/g, " ")).toBe(
      "No policy selects 4 workloads of the hub, so they are propagated to no member: Deployment shop/web, " +
        "Deployment shop/cart, Deployment shop/db and 1 more. 'flotilla why TYPE/NAME -n NAMESPACE' explains " +
        "one; to list them: kubectl get deployments.apps -A -l " +
        "'!propagationpolicy.karmada.io/permanent-id,!clusterpropagationpolicy.karmada.io/permanent-id'",
    );
  });

  test("does not claim that a workload without a policy runs nowhere where bindings may not be listed", () => {
    const unselected = { count: 1, names: ["Deployment shop/web"], types: ["deployments.apps"] };

    const text = render({ unselected, notShown: ["resourcebindings"] }).replaceAll(/\s+/g, " ");

    expect(text).toContain(
      "No policy has claimed 1 workload of the hub: Deployment shop/web. Whether members have copies of it is " +
        "not known, because you are not allowed to list resourcebindings. 'flotilla why",
    );
    expect(text).not.toContain("propagated to no member");
  });

  test("a workload whose policy was deleted shows the replicas that the hub asks for, and that it has no policy", () => {
    const left = (isDivided: boolean, replicas: number): ReturnType<typeof makeBinding> =>
      makeBinding(makeDeployment("shop/web").build())
        .targets(isDivided ? { oslo: 2, paris: 4 } : { oslo: replicas, paris: replicas })
        .with(({ spec, ...made }) => {
          spec.replicas = replicas;
          spec.placement = {
            replicaScheduling: { replicaSchedulingType: isDivided ? "Divided" : "Duplicated" },
          } as typeof spec.placement;
          Object.assign(made, { spec });
        });
    const asked = [left(true, 6).build(), left(false, 2).build()].map((made) => {
      made.status = {
        conditions: [{ type: "FullyApplied", status: "True", reason: "r", message: "", lastTransitionTime: "" }],
        aggregatedStatus: [{ clusterName: "oslo", status: { readyReplicas: 6 } }],
      };
      return withAskedReplicas(summariseWorkload(made), made, 9);
    });

    expect(asked.map(({ desired }) => desired)).toEqual([9, 18]);
    expect(render({ workloads: asked })).toMatch(/web +Deployment +6\/9 +NoPolicy +oslo=2 paris=4/);
  });

  test("counts the parts of policies that have no effect, and names the command that lists them", () => {
    const lines = (parts: number, policies: number): string[] =>
      render({ ineffective: { parts, policies } })
        .split("\n")
        .filter((line) => line.includes("no effect"));

    expect([lines(3, 2), lines(1, 1), lines(0, 0)]).toEqual([
      ["3 parts of 2 policies have no effect: run 'flotilla doctor --only policies'."],
      ["1 part of a policy has no effect: run 'flotilla doctor --only policies'."],
      [],
    ]);
  });

  test("says in the first line that no controllers run", () => {
    const text = render({
      controllers: { state: "never" },
      components: [{ namespace: "karmada-system", total: 4, unready: [] }],
    });

    expect(text.split("\n")[0]).toBe("hub https://hub without running controllers: nothing is propagated");
    expect(text).not.toContain("components");
  });

  test("names the hub's components that are not ready", () => {
    const text = render({
      components: [
        { namespace: "karmada-system", total: 4, unready: [] },
        { namespace: "open-cluster-management-hub", total: 4, unready: ["cluster-manager"] },
      ],
    });

    expect(text.split("\n").slice(0, 3)).toEqual([
      "hub https://hub",
      "components 4/4 in karmada-system, 3/4 in open-cluster-management-hub",
      "  cluster-manager in open-cluster-management-hub is not ready",
    ]);
  });

  test("releases that wait for a decision are not called unhealthy", () => {
    const waiting = {
      problem: "release waiting for a decision",
      kind: "CloneSet",
      namespace: "shop",
      name: "web",
      reason: "release web-2 waits for an approval",
    } as const;
    const failed = { ...waiting, problem: "release failed", name: "api", reason: "release api-3 failed" } as const;
    const linesOf = (text: string): string[] =>
      text.split("\n").filter((line) => /^(?:UNHEALTHY|WAITING|  CloneSet)/.test(line));

    const alone = render({ unhealthy: { counts: { [waiting.problem]: 1 }, worst: [waiting] } });
    const both = render({
      unhealthy: { counts: { [failed.problem]: 1, [waiting.problem]: 1 }, worst: [failed, waiting] },
    });

    const held = [
      "WAITING: 1 release waiting for a decision",
      "  CloneSet shop/web: release web-2 waits for an approval",
    ];
    expect(linesOf(alone)).toEqual(held);
    expect(linesOf(both)).toEqual([
      "UNHEALTHY: 1 release failed",
      "  CloneSet shop/api: release api-3 failed",
      ...held,
    ]);
  });

  test("shows the fleet at a glance", () => {
    const clusters = [
      cluster("paris", ({ spec }) => (spec.taints = [{ key: "gpu", effect: "NoSchedule" }])),
      cluster(
        "oslo",
        ({ spec, status: said }) => Object.assign(spec, { syncMode: "Pull" }) && said?.conditions?.splice(0),
      ),
    ];
    const found = members({
      clusters,
      managedClusters: [managed("paris")],
      leases: [lease("karmada-cluster", "oslo", "2024-05-01T11:59:50Z")],
    });

    const text = render({
      members: found,
      objects: { bindings: 1, works: 2, manifestWorks: 2, placements: 1, replicaSets: 0 },
      unhealthy: {
        counts: { "member not available": 1, "ManifestWork failed": 2 },
        worst: [
          {
            problem: "ManifestWork failed",
            kind: "ManifestWork",
            namespace: "paris",
            name: "web",
            reason: "word ".repeat(40).trim(),
          },
        ],
      },
      workloads: [summariseWorkload(binding)],
      notShown: ["works"],
      notChecked: ["the pods on oslo: the member is not ready"],
    });

    expect(text.split("\n")).toEqual([
      "hub https://hub",
      "",
      "NOT CHECKED:",
      "  works: you are not allowed to list them",
      "  the pods on oslo: the member is not ready",
      "",
      "UNHEALTHY: 1 member not available, 2 ManifestWorks failed",
      "  ManifestWork paris/web:",
      `    ${"word ".repeat(15).trim()}`,
      `    ${"word ".repeat(15)}…`,
      "",
      "MEMBER  MODE  KARMADA  OCM        VERSION  NODES  CPU   MEMORY  LAST SEEN",
      "oslo    pull  Unknown  -          v1.36.3  2/3    22.5  95Gi    10s",
      "paris   push  Ready    Available  v1.36.3  2/3    22.5  95Gi    -",
      "  taint gpu:NoSchedule",
      "",
      "2 ManifestWorks, 1 Placement, 0 ManifestWorkReplicaSets",
      "",
      "NAMESPACE  NAME  KIND        READY  APPLIED  PLACEMENT",
      "shop       web   Deployment  4/5    Unknown  paris=3 oslo=2",
      "",
      "No policy selects 1 object any longer, so it keeps its members, and changed",
      "replicas do not reach them: Deployment shop/web. 'flotilla why' shows what to",
      "do.",
    ]);
  });

  test("a registration that is being deleted is shown as Leaving", () => {
    const found = members({
      clusters: [cluster("paris")],
      managedClusters: [managed("paris", { metadata: { name: "paris", deletionTimestamp: "2024-05-01T11:59:00Z" } })],
    });

    expect(render({ members: found })).toMatch(/paris +push +Ready +Leaving/);
  });

  test("ten unhealthy objects are named, at least one per problem, and the others counted except with --all", () => {
    const failed = (index: number): UnhealthyObject => ({
      problem: "ManifestWork failed",
      kind: "ManifestWork",
      namespace: "paris",
      name: `web${index}`,
      reason: "no",
    });
    const worst: UnhealthyObject[] = [
      ...Array.from({ length: 20 }, (_item, index) => failed(index)),
      { problem: "Placement unsatisfied", kind: "Placement", namespace: "shop", name: "all", reason: "none fits" },
    ];
    const unhealthy = { counts: { "ManifestWork failed": 20, "Placement unsatisfied": 1 }, worst };

    const lines = render({ unhealthy })
      .split("\n")
      .filter((line) => line.startsWith("  "));

    expect(lines).toEqual([
      ...Array.from({ length: 9 }, (_item, index) => `  ManifestWork paris/web${index}: no`),
      "  Placement shop/all: none fits",
      "  … and 11 more; use --all to show them",
    ]);
    expect(render({ unhealthy }, true)).toContain("ManifestWork paris/web19: no");
  });

  const longest = "a-member-with-the-longest-name-that-kubernetes-allows-in-paris-1";
  const crowded = status({
    members: members({ clusters: [cluster(longest), cluster("oslo")] }),
    unhealthy: {
      counts: { "binding not applied": 1 },
      worst: [
        {
          problem: "binding not applied",
          kind: "ResourceBinding",
          namespace: "shop",
          name: longest,
          reason: `磁盘已满 ${"reason ".repeat(30)}end`,
        },
      ],
    },
    workloads: [
      {
        ...summariseWorkload(binding),
        name: longest,
        namespace: "店铺",
        placement: Array.from({ length: 20 }, (_, index) => `member${index}=1`).join(" "),
      },
    ],
  });

  test("a terminal shows complete lines with any names", () => {
    for (const width of [80, 120]) {
      const lines = renderStatus(crowded, { nowMs: NOW, all: true, width }).split("\n");

      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
    }
  });

  test("without a terminal nothing is shortened", () => {
    const text = renderStatus(crowded, { nowMs: NOW, all: false });

    expect(text).not.toContain("…");
    expect(text).toContain(longest);
    expect(text).toContain("member19=1");
  });

  test("a long reason is whole, on one line, without a terminal", () => {
    const worst = [
      {
        problem: "Work failed" as const,
        kind: "Work",
        namespace: "karmada-es-far",
        name: "role",
        reason: `${"rules ".repeat(200)}end`,
      },
    ];

    const text = renderStatus(status({ unhealthy: { counts: { "Work failed": 1 }, worst } }), {
      nowMs: NOW,
      all: false,
    });

    expect(text).toContain(`  Work karmada-es-far/role: ${"rules ".repeat(200)}end\n`);
  });

  test("a fleet without problems states what was checked", () => {
    expect(render({})).toContain("No problems found: the hub, 2 members.");
    expect(render({ namespace: "shop" })).toContain("No problems found in namespace shop: the hub, 2 members.");
    // Controllers in a process of their own may have died since.
    expect(render({ controllers: { state: "running", forMs: 2_100 } })).toContain(
      "No problems found (the controllers last reported 2s ago): the hub, 2 members.",
    );
  });

  test("what was not checked comes first, and nothing is claimed about it", () => {
    const text = render({
      notShown: ["clusters", "resourcebindings"],
      notChecked: ["the hub's own checks: you are not allowed to read /readyz"],
      checked: ["1 Placement"],
    });

    expect(text.split("\n")).toEqual([
      "hub https://hub",
      "",
      "NOT CHECKED:",
      "  clusters, resourcebindings: you are not allowed to list them",
      "  the hub's own checks: you are not allowed to read /readyz",
      "",
      "No problems found in what was checked: 1 Placement.",
    ]);
  });

  test("a finished Job is shown by its end instead of numbers", () => {
    const ended = (...types: string[]) =>
      summariseWorkload({
        ...binding,
        spec: { ...binding.spec, resource: { ...binding.spec.resource, apiVersion: "batch/v1", kind: "Job" } },
        status: {
          aggregatedStatus: types.map((type, index) => ({
            clusterName: `m${index}`,
            status: { succeeded: 4, conditions: [{ type, status: "True" }] },
          })),
        },
      });

    expect([ended("Complete", "Complete"), ended("Complete", "Failed"), ended("Complete", "Suspended")]).toMatchObject([
      { run: { finished: "Complete" } },
      { run: { finished: "Failed" } },
      { run: { finished: undefined } },
    ]);
    expect(render({ workloads: [ended("Complete")] })).toMatch(/web +Job +4\/4 Complete/);
  });

  test("kinds that count pods instead of replicas show those", () => {
    const statuses: Record<string, object> = {
      SidecarSet: { matchedPods: 3, readyPods: 2 },
      DaemonSet: { desiredNumberScheduled: 3, numberReady: 2 },
    };
    for (const [kind, status] of Object.entries(statuses)) {
      const row = summariseWorkload({
        ...binding,
        spec: { ...binding.spec, replicas: 0, resource: { ...binding.spec.resource, kind } },
        status: { aggregatedStatus: ["m0", "m1"].map((clusterName) => ({ clusterName, status: status as never })) },
      });

      expect(row).toMatchObject({ desired: 6, ready: 4 });
    }
  });

  const readyOf = (apiVersion: string, kind: string, ...statuses: object[]): unknown => {
    const { ready } = summariseWorkload({
      ...binding,
      spec: { ...binding.spec, replicas: 2, resource: { ...binding.spec.resource, apiVersion, kind } },
      status: {
        aggregatedStatus: statuses.map((status, index) => ({ clusterName: `m${index}`, status: status as never })),
      },
    });
    return ready;
  };

  test("a Pod that is ready on its members counts as ready", () => {
    const conditions = [{ type: "Ready", status: "True" }];

    expect(readyOf("v1", "Pod", { phase: "Running", conditions }, { phase: "Pending" })).toBe(1);
  });

  const endings: Record<string, { phases: string[]; want: string | undefined }> = {
    "that has succeeded on both members is complete": { phases: ["Succeeded", "Succeeded"], want: "2/2 Complete" },
    "that has failed on one member has failed": { phases: ["Succeeded", "Failed"], want: "Failed: 1 done, 1 failed" },
    "that still runs on one member counts ready members": { phases: ["Succeeded", "Running"], want: undefined },
    "that one member has not reported counts ready members": { phases: ["Succeeded"], want: undefined },
  };
  for (const [behaviour, { phases, want }] of Object.entries(endings))
    test(`a Pod ${behaviour}`, () => {
      const pod = makeBinding({ apiVersion: "v1", kind: "Pod", metadata: { namespace: "shop", name: "once" } })
        .targets({ oslo: 1, paris: 1 })
        .build();
      pod.status = {
        aggregatedStatus: phases.map((phase, index) => ({ clusterName: `m${index}`, status: { phase } as never })),
      };

      expect(summariseWorkload(pod).state).toBe(want);
    });

  test("none is ready of a workload whose status omits the number, and it is not known of another kind", () => {
    expect(readyOf("apps/v1", "Deployment", { replicas: 2 })).toBe(0);
    expect(readyOf("example.com/v1", "Fleet", { readyReplicas: 1 }, { replicas: 1 })).toBe(1);
    expect(readyOf("example.com/v1", "Fleet", { size: 2 })).toBeUndefined();
  });

  test("-o wide adds regions, ages and policies, and shortens no placement", () => {
    const wide = renderStatus(
      status({
        members: members({ clusters: [cluster("oslo", (made) => (made.spec.region = "north"))] }),
        workloads: [
          {
            ...summariseWorkload({
              ...binding,
              metadata: {
                ...binding.metadata,
                annotations: {
                  "propagationpolicy.karmada.io/namespace": "shop",
                  "propagationpolicy.karmada.io/name": "all",
                },
              },
            }),
            placement: Array.from({ length: 8 }, (_, index) => `member${index}=1`).join(" "),
          },
        ],
      }),
      { nowMs: NOW, all: false, wide: true, width: 200 },
    );

    expect(wide).toMatch(/MEMORY +REGION +AGE\noslo .* north +2m$/m);
    expect(wide).toMatch(/PLACEMENT +POLICY\n.*member7=1 +shop\/all$/m);
  });

  test("the workloads of a ManifestWork are listed with the numbers that its feedback has", () => {
    const work = {
      metadata: { namespace: "paris", name: "apps" },
      status: {
        resourceStatus: {
          manifests: [
            {
              resourceMeta: { ordinal: 0 },
              conditions: [condition("Applied", "True"), condition("Progressing", "True")],
            },
            {
              resourceMeta: { ordinal: 1 },
              conditions: [condition("Applied", "True")],
              statusFeedback: { values: [{ name: "ReadyReplicas", fieldValue: { type: "Integer", integer: 2 } }] },
            },
          ],
        },
      },
      spec: {
        workload: {
          manifests: [
            { kind: "Deployment", metadata: { name: "a", namespace: "shop" }, spec: { replicas: 3, template: {} } },
            { kind: "CloneSet", metadata: { name: "b", namespace: "shop" }, spec: { replicas: 3, template: {} } },
            { kind: "ConfigMap", metadata: { name: "c", namespace: "shop" } },
          ],
        },
      },
    } as unknown as ManifestWork;

    expect(summariseManifests(work)).toMatchObject([
      { name: "a", kind: "Deployment", desired: 3, ready: undefined, state: "Progressing", applied: "True" },
      { name: "b", kind: "CloneSet", desired: 3, ready: 2, state: undefined },
    ]);
    expect(summariseManifests(work, true)).toMatchObject([{ stale: true }, { stale: true }]);
  });

  test("a workload whose release is not complete has the numbers of the release", () => {
    const row = {
      namespace: "shop",
      name: "web",
      kind: "Deployment",
      desired: 6,
      ready: 6,
      updated: 6,
    } as WorkloadStatus;
    const release = {
      namespace: "shop",
      target: "deployment/web",
      name: "web-2",
      phase: "RolledBack",
      updated: 2,
      total: 6,
    };

    expect(withReleases([row, { ...row, name: "api" }], [release])).toMatchObject([
      { name: "web", updated: 2, outdated: 4 },
      { name: "api", updated: 6 },
    ]);
  });

  test("an empty fleet shows the next command", () => {
    expect(render({})).toContain("apply one together with a PropagationPolicy");
  });

  test("a dependency is shown on the clusters of its dependents", () => {
    const { clusters: _own, replicas: _replicas, ...rest } = binding.spec;
    const owner = (name: string, ...clusters: string[]) => ({
      namespace: "shop",
      name,
      clusters: clusters.map((each) => ({ name: each, replicas: 2 })),
    });

    const { placement } = summariseWorkload({
      ...binding,
      spec: { ...rest, requiredBy: [owner("web", "paris", "oslo"), owner("cart", "oslo")] },
    });

    expect(placement).toBe("oslo paris");
  });

  test("many workloads are counted except with --all", () => {
    const workloads = Array.from({ length: 25 }, () => summariseWorkload(binding));

    expect(render({ workloads })).toContain("and 5 more; use --all to show them");
    expect(render({ workloads }, true)).not.toContain("more");
  });
});

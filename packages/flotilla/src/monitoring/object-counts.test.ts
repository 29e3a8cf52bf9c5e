import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestWork, OcmPlacement } from "@flotilla/ocm";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import { MetricsText } from "@flotilla/base";
import type { Informer, ObjectEvent } from "@flotilla/controller-runtime";
import { createObjectCounts } from "./object-counts.ts";

/** Passes events to its listeners, as an informer does. */
function createEvents<T extends KubernetesObject>() {
  const listeners: ((event: ObjectEvent<T>) => void)[] = [];
  return {
    informer: {
      subscribe: (listener: (event: ObjectEvent<T>) => void) => listeners.push(listener),
    } as unknown as Informer<T>,
    report: (event: { object: unknown; old?: unknown; deleted?: boolean }) =>
      listeners.forEach((listener) => listener({ cluster: "hub", deleted: false, ...event } as ObjectEvent<T>)),
  };
}

function setUp() {
  const [bindings, works, manifestWorks, placements] = [
    createEvents<ResourceBinding>(),
    createEvents<Work>(),
    createEvents<ManifestWork>(),
    createEvents<OcmPlacement>(),
  ];
  const counts = createObjectCounts({
    bindings: [bindings.informer],
    works: works.informer,
    manifestWorks: manifestWorks.informer,
    placements: placements.informer,
  });
  const samples = (nowMs = 0): string[] => {
    const text = new MetricsText();
    counts.write(text, nowMs);
    return text
      .finish()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
  };
  return {
    counts,
    samples,
    binding: bindings.report,
    work: works.report,
    manifestWork: manifestWorks.report,
    placement: placements.report,
  };
}

const conditions = (all: Record<string, string>) => ({
  conditions: Object.entries(all).map(([type, status]) => ({ type, status })),
});
const makeBinding = (status: object, spec: object = { clusters: [{ name: "paris" }] }) => ({
  metadata: { name: "web" },
  spec: { resource: { kind: "CloneSet" }, ...spec },
  status,
});
const makeWork = (status: object, cluster = "paris") => ({
  metadata: { name: "web", namespace: `karmada-es-${cluster}` },
  spec: {},
  status,
});

const states: Record<string, { object: object; want: string }> = {
  "a binding applied on all its clusters is applied": {
    object: makeBinding(conditions({ Scheduled: "True", FullyApplied: "True" })),
    want: "applied",
  },
  "a binding without a suitable cluster is unschedulable": {
    object: makeBinding(conditions({ Scheduled: "False" })),
    want: "unschedulable",
  },
  "a binding that a member rejects is failed": {
    object: makeBinding({
      ...conditions({ Scheduled: "True" }),
      aggregatedStatus: [{ clusterName: "paris", appliedMessage: "quota" }],
    }),
    want: "failed",
  },
  "a binding whose Works cannot be created is failed": {
    object: makeBinding(conditions({ Scheduled: "True", Dispatched: "False" })),
    want: "failed",
  },
  "a binding whose Works are in flight is pending": {
    object: makeBinding(conditions({ Scheduled: "True" })),
    want: "pending",
  },
  "a suspended binding is suspended": {
    object: makeBinding(conditions({ Scheduled: "True" }), {
      clusters: [{ name: "paris" }],
      suspension: { dispatching: true },
    }),
    want: "suspended",
  },
  "a binding scheduled to no cluster is applied": {
    object: makeBinding(conditions({ Scheduled: "True" }), { clusters: [] }),
    want: "applied",
  },
};
for (const [behaviour, { object, want }] of Object.entries(states)) {
  test(behaviour, () => {
    const { binding, samples } = setUp();

    binding({ object });

    expect(samples()).toEqual([`flotilla_bindings{state="${want}"} 1`]);
  });
}

test("an object that changes its state or is deleted leaves the count of its old state", () => {
  const { counts, binding, samples } = setUp();
  const [lost, found] = [
    makeBinding(conditions({ Scheduled: "False" })),
    makeBinding(conditions({ Scheduled: "True", FullyApplied: "True" })),
  ];

  binding({ object: lost });
  const before = counts.unschedulable();
  binding({ object: found, old: lost });
  const after = samples();
  binding({ object: found, old: found, deleted: true });

  expect([before, counts.unschedulable()]).toEqual([1, 0]);
  expect(after).toEqual(['flotilla_bindings{state="applied"} 1']);
  expect(samples()).toEqual([]);
});

test("evictions are counted by member and kind", () => {
  const { binding, samples } = setUp();

  binding({
    object: makeBinding(conditions({ Scheduled: "True" }), {
      clusters: [{ name: "oslo" }],
      gracefulEvictionTasks: [{ fromCluster: "paris" }],
    }),
  });

  expect(samples()).toContain('eviction_kind_total{member_cluster="paris",resource_kind="CloneSet"} 1');
});

test("the newest release of each template is counted by its state", () => {
  const { binding, samples } = setUp();
  const waiting = makeBinding({ conditions: [{ type: "Released", status: "False", reason: "Waiting" }] });
  const returned = makeBinding({ conditions: [{ type: "Released", status: "False", reason: "RolledBack" }] });

  binding({ object: waiting });
  const before = samples();
  binding({ object: returned, old: waiting });

  expect(before).toContain('flotilla_fleetrollouts{state="Waiting"} 1');
  expect(samples().filter((line) => line.startsWith("flotilla_fleetrollouts"))).toEqual([
    'flotilla_fleetrollouts{state="RolledBack"} 1',
  ]);
});

test("Works are counted by member, with the health of their objects and with drift", () => {
  const { work, samples } = setUp();

  work({
    object: makeWork({
      ...conditions({ Applied: "True", Drifted: "True" }),
      manifestStatuses: [{ health: "Healthy" }, { health: "Unhealthy" }],
    }),
  });
  work({ object: makeWork(conditions({ Applied: "False" }), "oslo") });

  expect(samples()).toEqual([
    'flotilla_works{member_cluster="paris",state="applied"} 1',
    'flotilla_works{member_cluster="oslo",state="failed"} 1',
    'flotilla_work_objects{member_cluster="paris",health="Healthy"} 1',
    'flotilla_work_objects{member_cluster="paris",health="Unhealthy"} 1',
    'flotilla_works_drifted{member_cluster="paris"} 1',
  ]);
});

const works: Record<string, { status: Record<string, string>; want: string }> = {
  "an applied and available ManifestWork is available": {
    status: { Applied: "True", Available: "True" },
    want: "available",
  },
  "a ManifestWork with a missing object is degraded": {
    status: { Applied: "True", Available: "False" },
    want: "degraded",
  },
  "a ManifestWork whose condition rules report a degradation is degraded": {
    status: { Applied: "True", Available: "True", Degraded: "True" },
    want: "degraded",
  },
  "a rejected ManifestWork is failed": { status: { Applied: "False" }, want: "failed" },
  "a ManifestWork without a status is pending": { status: {}, want: "pending" },
};
for (const [behaviour, { status, want }] of Object.entries(works)) {
  test(behaviour, () => {
    const { manifestWork, samples } = setUp();

    manifestWork({ object: { metadata: { name: "a", namespace: "paris" }, spec: {}, status: conditions(status) } });

    expect(samples()).toEqual([`flotilla_manifestworks{member_cluster="paris",state="${want}"} 1`]);
  });
}

test("Placements are counted by whether they are satisfied", () => {
  const { placement, samples } = setUp();

  const all: Record<string, string>[] = [
    { PlacementSatisfied: "True" },
    { PlacementSatisfied: "False" },
    { PlacementMisconfigured: "True", PlacementSatisfied: "False" },
  ];

  for (const status of all) placement({ object: { metadata: { name: "a" }, spec: {}, status: conditions(status) } });

  expect(samples()).toEqual([
    'flotilla_placements{state="satisfied"} 1',
    'flotilla_placements{state="unsatisfied"} 1',
    'flotilla_placements{state="misconfigured"} 1',
  ]);
});

test("a workload that has not been healthy for longer than a minute is counted by its kind, until it is", () => {
  const { binding, samples } = setUp();
  const at = (status: string) => ({
    metadata: { name: "web", namespace: "shop" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      clusters: [{ name: "paris", replicas: 3 }],
    },
    status: {
      conditions: [{ type: "Healthy", status, reason: "x", message: "", lastTransitionTime: "2024-05-01T12:00:00Z" }],
      aggregatedStatus: [
        { clusterName: "paris", applied: true, status: { replicas: 3, readyReplicas: status === "True" ? 3 : 1 } },
      ],
    },
  });
  const health = (lines: string[]): string[] => lines.filter((line) => line.startsWith("flotilla_workload"));
  const minute = (count: number): number => Date.UTC(2024, 4, 1, 12, count);

  binding({ object: at("False") });
  const [early, late] = [samples(minute(1)), samples(minute(2))];
  binding({ object: at("True"), old: at("False") });
  const over = samples(minute(3));

  expect(health(early)).toEqual(['flotilla_workload_pods_unready{resource_kind="Deployment"} 2']);
  expect(health(late)).toEqual([
    'flotilla_workload_pods_unready{resource_kind="Deployment"} 2',
    'flotilla_workloads_unhealthy{resource_kind="Deployment"} 1',
  ]);
  expect(health(over)).toEqual([]);
});

import { expect, test } from "vitest";
import type { KubernetesObject, ManifestWork, OcmPlacement, ResourceBinding, Work } from "../api/index.ts";
import { MetricsText } from "../base/index.ts";
import type { Informer, ObjectEvent } from "../runtime/index.ts";
import { createObjectCounts } from "./object-counts.ts";

/** Hands events on to whoever listens, as an informer does. */
function createEvents<T extends KubernetesObject>() {
  const listeners: ((event: ObjectEvent<T>) => void)[] = [];
  return {
    informer: {
      subscribe: (listener: (event: ObjectEvent<T>) => void) => listeners.push(listener),
    } as unknown as Informer<T>,
    tell: (event: { object: unknown; old?: unknown; deleted?: boolean }) =>
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
  const samples = (): string[] => {
    const text = new MetricsText();
    counts.write(text);
    return text
      .finish()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
  };
  return {
    counts,
    samples,
    binding: bindings.tell,
    work: works.tell,
    manifestWork: manifestWorks.tell,
    placement: placements.tell,
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
  "a binding that is everywhere is applied": {
    object: makeBinding(conditions({ Scheduled: "True", FullyApplied: "True" })),
    want: "applied",
  },
  "one without a place is unschedulable": {
    object: makeBinding(conditions({ Scheduled: "False" })),
    want: "unschedulable",
  },
  "one that a member refuses is failed": {
    object: makeBinding({
      ...conditions({ Scheduled: "True" }),
      aggregatedStatus: [{ clusterName: "paris", appliedMessage: "quota" }],
    }),
    want: "failed",
  },
  "one whose copies cannot be made is failed": {
    object: makeBinding(conditions({ Scheduled: "True", Dispatched: "False" })),
    want: "failed",
  },
  "one that is on its way is pending": { object: makeBinding(conditions({ Scheduled: "True" })), want: "pending" },
  "one that somebody told to wait is suspended": {
    object: makeBinding(conditions({ Scheduled: "True" }), {
      clusters: [{ name: "paris" }],
      suspension: { dispatching: true },
    }),
    want: "suspended",
  },
  "one that is to run nowhere is applied": {
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

test("what changes its state, or goes, leaves where it was", () => {
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

test("Works are counted by member with the health of what they brought, and with drift", () => {
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
  "a ManifestWork that is there and well is available": {
    status: { Applied: "True", Available: "True" },
    want: "available",
  },
  "one that lacks something is degraded": { status: { Applied: "True", Available: "False" }, want: "degraded" },
  "one whose rules say so is degraded": {
    status: { Applied: "True", Available: "True", Degraded: "True" },
    want: "degraded",
  },
  "one that is refused is failed": { status: { Applied: "False" }, want: "failed" },
  "one that nobody has looked at is pending": { status: {}, want: "pending" },
};
for (const [behaviour, { status, want }] of Object.entries(works)) {
  test(behaviour, () => {
    const { manifestWork, samples } = setUp();

    manifestWork({ object: { metadata: { name: "a", namespace: "paris" }, spec: {}, status: conditions(status) } });

    expect(samples()).toEqual([`flotilla_manifestworks{member_cluster="paris",state="${want}"} 1`]);
  });
}

test("Placements are counted by whether they have what they ask for", () => {
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

import { expect, test } from "vitest";
import { makeBinding, makeDeployment, makeWork } from "@flotilla/testing/builders.ts";
import {
  aggregatesInMs,
  isBehind,
  planAggregation,
  planItems,
  planStale,
  planVerdicts,
  takeStatus,
} from "./plan-aggregation.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).targets({ paris: 5, oslo: 3 }).build();

test("each cluster's status is aggregated, sorted by name", () => {
  const works = [
    makeWork("paris", "web").applied("True").reports({ replicas: 5 }).build(),
    makeWork("oslo", "web").applied("True").reports({ replicas: 3 }).build(),
  ];

  expect(planItems(works)).toEqual([
    { clusterName: "oslo", status: { replicas: 3 }, applied: true, health: "Healthy" },
    { clusterName: "paris", status: { replicas: 5 }, applied: true, health: "Healthy" },
  ]);
});

test("a cluster where applying failed reports the error, and keeps its last numbers", () => {
  const works = [makeWork("paris", "web").applied("False", "quota exceeded").reports({ replicas: 5 }).build()];

  expect(planItems(works)).toEqual([
    {
      clusterName: "paris",
      status: { replicas: 5 },
      applied: false,
      appliedMessage: "quota exceeded",
      health: "Unknown",
    },
  ]);
});

test("pods that a member's agent has not heard of are not missing", () => {
  const reported = { replicas: 5, readyReplicas: 5, resourceTemplateGeneration: 1 };
  const work = makeWork("paris", "web").applied("True").reports(reported).build();
  const copyOf = (generation: string): object =>
    makeDeployment("shop/web")
      .with(({ metadata }) => (metadata.annotations = { "resourcetemplate.karmada.io/generation": generation }))
      .build();
  const reportOf = (generation: string) => {
    work.spec.workload = { manifests: [copyOf(generation)] } as never;
    return planVerdicts(scaled, [work]);
  };
  const scaled = makeBinding(makeDeployment("shop/web").build()).targets({ paris: 9 }).build();

  expect(reportOf("2")).toEqual([]);
  expect(reportOf("1")).toMatchObject([{ cluster: "paris", message: "4 of 9 pods are not ready" }]);
});

interface StaleCase {
  applied: "True" | "False" | undefined;
  /** Of the condition Applied. */
  reason?: string;
  away: string[];
  reports?: boolean;
  rule?: string;
  want?: object;
}
const staleCases: Record<string, StaleCase> = {
  "is not stale while every member reports": { applied: "True", away: [] },
  "is stale while a member is not ready": {
    applied: "True",
    away: ["paris"],
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has the last numbers of paris (not ready)",
    },
  },
  "is not stale while a member that reports does not accept the latest copy": { applied: "False", away: [] },
  "is not stale while a release is not sent to a member that reports": {
    applied: "False",
    reason: "ReleaseStopped",
    away: [],
  },
  "is stale while a member is unreachable": {
    applied: "False",
    reason: "MemberUnreachable",
    away: [],
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has the last numbers of paris (unreachable)",
    },
  },
  "is stale while a member no longer serves the kind": {
    applied: "False",
    reason: "KindNotServed",
    away: [],
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has the last numbers of paris (kind not served)",
    },
  },
  "is not stale where a member has no numbers": { applied: "False", away: ["paris"], reports: false },
  "is stale where a member that is away has not reported its first copy": {
    applied: undefined,
    away: ["paris"],
    reports: false,
    want: {
      status: "True",
      reason: "MembersNotReporting",
      message: "the status has no numbers of paris (not ready)",
    },
  },
  "is stale while the status of a member cannot be read": {
    applied: "True",
    away: [],
    rule: "ReflectStatusFailed",
    want: {
      status: "True",
      reason: "ReflectStatusFailed",
      message: "the status has the last numbers of paris (ReflectStatusFailed)",
    },
  },
  "is stale if the status of a member could never be read": {
    applied: "True",
    away: [],
    reports: false,
    rule: "ReflectStatusFailed",
    want: {
      status: "True",
      reason: "ReflectStatusFailed",
      message: "the status has no numbers of paris (ReflectStatusFailed)",
    },
  },
  "is not stale while only a health rule fails": { applied: "True", away: [], rule: "InterpretHealthFailed" },
};
for (const [behaviour, { applied, reason, away, reports = true, rule, want }] of Object.entries(staleCases)) {
  test(`the status of a binding ${behaviour}`, () => {
    const made = applied === undefined ? makeWork("paris", "web") : makeWork("paris", "web").applied(applied);
    const work = (reports ? made.reports({ replicas: 5 }) : made).build();
    for (const condition of work.status?.conditions ?? []) condition.reason = reason ?? condition.reason;
    if (rule !== undefined)
      work.status?.conditions?.push({
        type: "Interpreted",
        status: "False",
        reason: rule,
        message: "no such field",
        lastTransitionTime: NOW,
      });

    const stale = planStale([work], new Map(away.map((name) => [name, "not ready"])));
    const { conditions = [] } =
      planAggregation(binding, { items: planItems([work]), verdicts: [], stale }, NOW).status ?? {};

    const found = conditions.filter(({ type }) => type === "Stale");
    expect(found.map(({ status, reason, message }) => ({ status, reason, message }))).toEqual(want ? [want] : []);
  });
}

const staleAfter = (...reporting: string[]): string | undefined => {
  const items = planItems(
    reporting.map((name) => makeWork(name, "web").applied("True").reports({ replicas: 5 }).build()),
  );
  const before = planAggregation(binding, { items, verdicts: [], stale: new Map([["paris", "not ready"]]) }, NOW);

  const after = planAggregation(before, { items, verdicts: [] }, NOW);

  const found = after.status?.conditions?.find(({ type }) => type === "Stale");
  return `${found?.status} ${found?.reason}: ${found?.message}`;
};

test("a binding whose members report again is no longer stale", () => {
  expect(staleAfter("paris", "oslo")).toBe("False AllMembersReporting: Every member reports its status");
});

test("a binding that gets another member no longer says that every member reports", () => {
  const reports = ["paris", "oslo"].map((name) =>
    makeWork(name, "web").applied("True").reports({ replicas: 5 }).build(),
  );
  const items = planItems(reports);
  const stale = planAggregation(binding, { items, verdicts: [], stale: new Map([["paris", "not ready"]]) }, NOW);
  const current = planAggregation(stale, { items, verdicts: [] }, NOW);
  const clusters = [...(current.spec.clusters ?? []), { name: "rome", replicas: 1 }];

  const after = planAggregation({ ...current, spec: { ...current.spec, clusters } }, { items, verdicts: [] }, NOW);

  expect(after.status?.conditions?.find(({ type }) => type === "Stale")).toMatchObject({
    status: "False",
    reason: "NoneStale",
  });
});

test("a binding with a member that never reported does not say that every member reports", () => {
  expect(staleAfter("paris")).toBe("False NoneStale: No status of a member is out of date");
});

const fully: Record<string, { works: ReturnType<ReturnType<typeof makeWork>["build"]>[]; want: string }> = {
  "is fully applied when it is applied on every target cluster": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("True").build()],
    want: "True",
  },
  "is fully applied regardless of members that are no longer targets": {
    works: ["paris", "oslo"]
      .map((cluster) => makeWork(cluster, "web").applied("True").build())
      .concat(makeWork("rome", "web").applied("False").build()),
    want: "True",
  },
  "is not fully applied while a target has no Work": {
    works: [makeWork("paris", "web").applied("True").build()],
    want: "False",
  },
  "is not fully applied while it failed on a target": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("False").build()],
    want: "False",
  },
};
for (const [behaviour, { works, want }] of Object.entries(fully)) {
  test(`a binding ${behaviour}`, () => {
    const next = planAggregation(binding, { items: planItems(works), verdicts: [] }, NOW);

    expect(next.status?.conditions).toContainEqual(expect.objectContaining({ type: "FullyApplied", status: want }));
  });
}

test("an unchanged aggregation returns the same binding, so that nothing is written", () => {
  const items = planItems([
    makeWork("paris", "web").applied("True").build(),
    makeWork("oslo", "web").applied("True").build(),
  ]);
  const aggregation = { items, verdicts: [] };
  const once = planAggregation(binding, aggregation, NOW);

  expect(planAggregation(once, aggregation, "2024-05-01T13:00:00Z")).toBe(once);
});

function unhealthy(cluster: string, lastTransitionTime: string, status: "False" | "Unknown" = "False") {
  return withVerdict(makeWork(cluster, "web").applied("True").build(), lastTransitionTime, status);
}
function withVerdict(
  work: ReturnType<ReturnType<typeof makeWork>["build"]>,
  lastTransitionTime: string,
  status: "False" | "Unknown" = "False",
) {
  const said =
    status === "False"
      ? { reason: "PodsNotReady", message: "1 of 2 pods is not ready" }
      : { reason: "InterpretHealthFailed", message: "no such field" };
  work.status?.conditions?.push({ type: "Healthy", status, ...said, lastTransitionTime });
  return work;
}
const ready = (cluster: string) =>
  makeWork(cluster, "web").applied("True").reports({ replicas: 5, readyReplicas: 5 }).build();
interface HealthCase {
  works: ReturnType<ReturnType<typeof makeWork>["build"]>[];
  stale?: ReadonlyMap<string, string>;
  want: object;
}
const healthy: Record<string, HealthCase> = {
  "is healthy when all of its Works are": {
    works: ["paris", "oslo"].map(ready),
    want: { status: "True", lastTransitionTime: NOW },
  },
  "is unhealthy since the first of its members is": {
    works: [unhealthy("paris", "2024-05-01T11:30:00Z"), unhealthy("oslo", "2024-05-01T11:00:00Z")],
    want: {
      status: "False",
      reason: "PodsNotReady",
      message: "oslo: 1 of 2 pods is not ready; paris: 1 of 2 pods is not ready",
      lastTransitionTime: "2024-05-01T11:00:00Z",
    },
  },
  "is not judged by members that are no longer targets": {
    works: [...["paris", "oslo"].map(ready), unhealthy("rome", NOW)],
    want: { status: "True" },
  },
  "is not called healthy while a member has not applied it": {
    works: [makeWork("paris", "web").applied("True").build(), makeWork("oslo", "web").applied("False").build()],
    want: { status: "Unknown", reason: "NotFullyApplied" },
  },
  "is unhealthy by the earlier copy of a member that does not accept the latest one": {
    works: [
      ready("paris"),
      withVerdict(
        makeWork("oslo", "web").applied("False").reports({ replicas: 2, readyReplicas: 1 }).build(),
        "2024-05-01T11:00:00Z",
      ),
    ],
    want: {
      status: "False",
      reason: "PodsNotReady",
      message: "oslo: 1 of 2 pods is not ready",
      lastTransitionTime: "2024-05-01T11:00:00Z",
    },
  },
  "is not judged by a copy that its member no longer reports": {
    works: [ready("paris"), withVerdict(makeWork("oslo", "web").applied("False").build(), NOW)],
    want: { status: "Unknown", reason: "NotFullyApplied" },
  },
  "is not called unhealthy because a member does not accept more replicas": {
    works: [
      ready("paris"),
      makeWork("oslo", "web").applied("False").reports({ replicas: 2, readyReplicas: 2 }).build(),
    ],
    want: { status: "Unknown", reason: "NotFullyApplied" },
  },
  "is judged by the reported numbers of an earlier copy where another agent reports them": {
    works: [
      ready("paris"),
      makeWork("oslo", "web").applied("False").reports({ replicas: 2, readyReplicas: 1 }).build(),
    ],
    want: { status: "False", message: "oslo: 1 of 2 pods is not ready" },
  },
  "is not called healthy while a member does not report": {
    works: ["paris", "oslo"].map(ready),
    stale: new Map([["oslo", "not responding"]]),
    want: { status: "Unknown", reason: "MembersNotReporting" },
  },
  "is not called healthy before every member has reported": {
    works: [ready("paris"), makeWork("oslo", "web").applied("True").build()],
    want: { status: "Unknown", reason: "NotReported" },
  },
  "has unknown health when a rule failed on a member": {
    works: [ready("paris"), unhealthy("oslo", NOW, "Unknown")],
    want: { status: "Unknown", reason: "InterpretHealthFailed", message: "oslo: no such field" },
  },
  "is judged by the reported numbers where another agent reports them": {
    works: [
      makeWork("paris", "web").applied("True").reports({ replicas: 5, readyReplicas: 4 }).build(),
      makeWork("oslo", "web").applied("True").reports({ replicas: 3, readyReplicas: 3 }).build(),
    ],
    want: { status: "False", message: "paris: 1 of 5 pods is not ready" },
  },
};
for (const [behaviour, { works, stale, want }] of Object.entries(healthy)) {
  test(`a binding ${behaviour}`, () => {
    const next = planAggregation(
      binding,
      { items: planItems(works), verdicts: planVerdicts(binding, works), stale },
      NOW,
    );

    expect(next.status?.conditions?.find(({ type }) => type === "Healthy")).toMatchObject(want);
  });
}

const scheduled = { ...binding, status: { lastScheduledTime: NOW } };

test("aggregation starts once every target was tried", () => {
  const tried = makeWork("paris", "web").applied("True").build();
  const untried = makeWork("oslo", "web").build();
  const nowMs = Date.parse(NOW);

  expect(aggregatesInMs(scheduled, [tried, untried], nowMs)).toBe(30_000);
  expect(aggregatesInMs(scheduled, [tried, untried], nowMs + 40_000)).toBe(0);
  expect(aggregatesInMs(scheduled, [untried], nowMs + 40_000)).toBeUndefined();
  expect(aggregatesInMs(scheduled, [tried, makeWork("oslo", "web").applied("False").build()], nowMs)).toBe(0);
  expect(aggregatesInMs({ ...binding, status: { aggregatedStatus: [] } }, [tried, untried], nowMs)).toBe(0);
});

test("aggregation does not wait for a target whose copy cannot be made", () => {
  const tried = makeWork("paris", "web").applied("True").build();
  const untried = makeWork("oslo", "web").build();
  const nowMs = Date.parse(NOW);
  const status = { status: "False" as const, reason: "RenderFailed", message: "", lastTransitionTime: NOW };
  const failed = { ...binding, status: { lastScheduledTime: NOW, conditions: [{ type: "Dispatched", ...status }] } };

  expect(aggregatesInMs(scheduled, [tried], nowMs)).toBe(30_000);
  expect(aggregatesInMs(failed, [tried], nowMs)).toBe(0);
  expect(aggregatesInMs(failed, [tried, untried], nowMs)).toBe(30_000);
  expect(aggregatesInMs(failed, [], nowMs)).toBeUndefined();
});

test("the time of a target starts with its Work, not with a scheduling that was held", () => {
  const nowMs = Date.parse(NOW);
  const at = (work: ReturnType<typeof makeWork>, afterMs: number) => {
    const built = work.build();
    built.metadata.creationTimestamp = new Date(nowMs + afterMs).toISOString();
    return built;
  };
  const tried = at(makeWork("paris", "web").applied("True"), 60_000);

  expect(aggregatesInMs(scheduled, [tried, at(makeWork("oslo", "web"), 60_000)], nowMs + 65_000)).toBe(25_000);
  expect(aggregatesInMs(scheduled, [tried, at(makeWork("oslo", "web"), 80_000)], nowMs + 85_000)).toBe(25_000);
  // One without a Work has as long as those with one.
  expect(aggregatesInMs(scheduled, [tried], nowMs + 65_000)).toBe(25_000);
  expect(aggregatesInMs(scheduled, [tried], nowMs + 90_000)).toBe(0);
});

test("the time of a target starts when a suspension of the Works ends", () => {
  const nowMs = Date.parse(NOW);
  const resumed = makeWork("paris", "web").applied("True").build();
  resumed.status?.conditions?.push({
    type: "Dispatching",
    status: "True",
    reason: "Dispatching",
    message: "",
    lastTransitionTime: "2024-05-01T12:01:00Z",
  });

  expect(aggregatesInMs(scheduled, [resumed, makeWork("oslo", "web").build()], nowMs + 65_000)).toBe(25_000);
});

test("a target that is still awaited is not replaced by a member that is none", () => {
  const works = ["paris", "rome"].map((cluster) => makeWork(cluster, "web").applied("True").build());

  expect(aggregatesInMs(scheduled, works, Date.parse(NOW))).toBe(30_000);
});

test("a binding with Works that the hub cannot write is not fully applied, although each Work is", () => {
  const status = { status: "False" as const, reason: "WorksRejected", message: "", lastTransitionTime: NOW };
  const unwritten = { ...binding, status: { conditions: [{ type: "Dispatched", ...status }] } };
  const items = planItems(["paris", "oslo"].map((cluster) => makeWork(cluster, "web").applied("True").build()));

  const planned = planAggregation(unwritten, { items, verdicts: [] }, NOW);

  expect(planned.status?.conditions?.find(({ type }) => type === "FullyApplied")).toMatchObject({
    status: "False",
    message: "Not all works are written, see the condition Dispatched for details",
  });
});

test("an aggregated status is moved to the latest version of its template", () => {
  const template = {
    apiVersion: "v1",
    kind: "Widget",
    metadata: { name: "w", uid: "1", generation: 2, resourceVersion: "5" },
  };
  const newest = { ...template, metadata: { ...template.metadata, resourceVersion: "6" } };

  expect(takeStatus(newest, template, { ...template, status: { ready: 3 } })).toEqual({
    ...newest,
    status: { ready: 3 },
  });
});

test("a status aggregated for an earlier spec, or already present, changes nothing", () => {
  const template = {
    apiVersion: "v1",
    kind: "Widget",
    metadata: { name: "w", uid: "1", generation: 2 },
    status: { ready: 3 },
  };
  const edited = { ...template, metadata: { ...template.metadata, generation: 3 } };

  expect(takeStatus(edited, template, { ...template, status: { ready: 4 } })).toBe(edited);
  expect(takeStatus(template, template, { ...template, status: { ready: 3 } })).toBe(template);
});

test("an aggregation is behind while a member has not observed the latest spec", () => {
  const template = { apiVersion: "v1", kind: "Widget", metadata: { name: "w", generation: 2 } };

  expect(isBehind({ ...template, status: { observedGeneration: 1 } })).toBe(true);
  expect(isBehind({ ...template, status: { observedGeneration: 2 } })).toBe(false);
  expect(isBehind({ ...template, status: { ready: 1 } })).toBe(false);
});

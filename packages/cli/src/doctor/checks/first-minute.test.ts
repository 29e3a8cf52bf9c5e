/** What the checks report about failures of the last 20 seconds, with `--stuck-after` of 60. */
import { expect, test } from "vitest";
import type { ResourceBinding, Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Judgement } from "../doctor-check.ts";
import { bindingsCheck } from "./bindings.ts";
import { workloadsCheck } from "./workloads.ts";
import { worksCheck } from "./works.ts";

const nowMs = Date.parse("2026-05-01T12:00:00Z");
const moment = { nowMs, stuckAfterMs: 60_000 };
const since = "2026-05-01T11:59:40Z";

const binding = (type: string, reason: string, message: string): DeepReadonly<ResourceBinding> =>
  ({
    kind: "ResourceBinding",
    metadata: {
      namespace: "shop",
      name: "web-deployment",
      creationTimestamp: since,
      annotations: { "clusterpropagationpolicy.karmada.io/name": "all" },
    },
    spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" } },
    status: { conditions: [{ type, status: "False", reason, message, lastTransitionTime: since }] },
  }) as unknown as DeepReadonly<ResourceBinding>;
const work = (reason: string, message: string): DeepReadonly<Work> =>
  ({
    kind: "Work",
    metadata: { namespace: "karmada-es-paris", name: "web-1", creationTimestamp: since },
    spec: {
      workload: {
        manifests: [{ apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name: "web" } }],
      },
    },
    status: { conditions: [{ type: "Applied", status: "False", reason, message, lastTransitionTime: since }] },
  }) as unknown as DeepReadonly<Work>;

const judgeScheduled = (reason: string, message: string): Judgement =>
  bindingsCheck.judge({ bindings: [binding("Scheduled", reason, message)], joined: new Set(["paris"]) }, moment);
const judgeDispatched = (reason: string, message: string): Judgement =>
  bindingsCheck.judge({ bindings: [binding("Dispatched", reason, message)], joined: new Set(["paris"]) }, moment);
const judgeWork = (reason: string, message: string): Judgement => worksCheck.judge([work(reason, message)], moment);

const cases: Record<string, { judged: Judgement; seen: string; problems: number }> = {
  "a binding that the cluster affinity of its policy excludes from every member is reported at once": {
    judged: judgeScheduled(
      "NoClusterFit",
      "0/10 clusters are available: 10 cluster(s) did not match the placement cluster affinity constraint.",
    ),
    seen: "1 binding, 1 not scheduled or not dispatched",
    problems: 1,
  },
  "a binding whose members are not ready is counted as recent": {
    judged: judgeScheduled(
      "NoClusterFit",
      "0/1 clusters are available: 1 cluster(s) had untolerated taint {cluster.karmada.io/not-ready}.",
    ),
    seen: "1 binding, 0 not scheduled or not dispatched, 1 more for less than 60 s",
    problems: 0,
  },
  "a binding whose CRD may not have arrived yet is counted as recent": {
    judged: judgeScheduled("NoClusterFit", "0/1 clusters are available: 1 cluster(s) did not have the API resource."),
    seen: "1 binding, 0 not scheduled or not dispatched, 1 more for less than 60 s",
    problems: 0,
  },
  "a binding without enough capacity is counted as recent": {
    judged: judgeScheduled("Unschedulable", "Clusters available replicas are not enough to schedule."),
    seen: "1 binding, 0 not scheduled or not dispatched, 1 more for less than 60 s",
    problems: 0,
  },
  "a binding whose override fails is reported at once": {
    judged: judgeDispatched(
      "RenderFailed",
      "paris: applying override policy eu: cannot replace /spec/nowhere: the object has no such path",
    ),
    seen: "1 binding, 1 not scheduled or not dispatched",
    problems: 1,
  },
  "a rollout that waits for a member is counted as recent": {
    judged: judgeDispatched("RolloutHeld", "the rollout waits for paris"),
    seen: "1 binding, 0 not scheduled or not dispatched, 1 more for less than 60 s",
    problems: 0,
  },
  "a release that the hub stopped is reported at once": {
    judged: judgeWork("ReleaseStopped", "the rule would release 10 pods instead of 2"),
    seen: "1 Work, 1 not applied",
    problems: 1,
  },
  "an object that the member's admission denies is reported at once": {
    judged: judgeWork("AppliedFailed", 'admission webhook "quota.example.com" denied the request: too large'),
    seen: "1 Work, 1 not applied",
    problems: 1,
  },
  "an object whose namespace is being terminated is counted as recent": {
    judged: judgeWork(
      "AppliedFailed",
      'deployments.apps "web" is forbidden: unable to create new content in namespace shop because it is being terminated',
    ),
    seen: "1 Work, 0 not applied, 1 more for less than 60 s",
    problems: 0,
  },
  "a Work for a kind that the member does not serve yet is counted as recent": {
    judged: judgeWork("KindNotServed", "the member does not serve it"),
    seen: "1 Work, 0 not applied, 1 more for less than 60 s",
    problems: 0,
  },
  "a workload that may still be starting is counted as recent": {
    judged: workloadsCheck.judge(
      {
        bindings: [binding("Healthy", "NotReady", "paris: 0 of 2 pods are ready")],
        works: [],
        members: new Set(["paris"]),
        only: undefined,
        reports: { reports: new Map(), unread: new Set(), unseen: [] },
        ruled: { kept: [], unseen: [] },
      },
      moment,
    ),
    seen: "1 binding, 0 ManifestWorks, 0 unhealthy, 1 more for less than 60 s",
    problems: 0,
  },
};

for (const [behaviour, { judged, seen, problems }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect([judged.seen, judged.findings.length]).toEqual([seen, problems]);
  });
}

test("the fix of a stopped release names the rule, and does not call the message the member's", () => {
  const [finding] = judgeWork("ReleaseStopped", "the rule would release 10 pods instead of 2").findings;

  expect(finding?.fix).toBe(
    "The hub does not send the release. Remove the field from the Retain rule, set it on the member, or, if " +
      "the members should decide, remove the partition from the template.",
  );
});

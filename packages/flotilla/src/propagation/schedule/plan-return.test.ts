import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import type { BindingSpecView, Placement } from "./framework.ts";
import type { ClusterView } from "./fleet-cluster.ts";
import { planSchedule } from "./plan-schedule.ts";

const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const cluster = (name: string, tainted = false): ClusterView => ({
  metadata: { name },
  spec: tainted ? { taints: [{ key: "drain", effect: "NoExecute" }] } : {},
  status: { apiEnablements: [{ groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] }] },
});
const onOslo: Placement = { clusterAffinity: { clusterNames: ["oslo"] } };
type Task = NonNullable<BindingSpecView["gracefulEvictionTasks"]>[number];
const leavingOslo = (fields: Partial<Task> = {}): Task => ({
  fromCluster: "oslo",
  reason: "Test",
  producer: "test",
  ...fields,
});

interface Case {
  /** Its clusters by the scheduler's last decision. */
  on: string;
  task: Task;
  placement?: Placement;
  isOsloTainted?: boolean;
  isStrict?: boolean;
  want: string;
}

const cases: Record<string, Case> = {
  "a cluster under eviction is not chosen while there is another": {
    on: "rome",
    task: leavingOslo(),
    placement: { clusterAffinity: { clusterNames: ["oslo", "rome"] } },
    want: "rome",
  },
  "a cluster under eviction is chosen when nothing else is allowed any more": {
    on: "rome",
    task: leavingOslo(),
    placement: onOslo,
    want: "oslo",
  },
  "a cluster under eviction is not chosen while its taints exclude it": {
    on: "rome",
    task: leavingOslo(),
    placement: onOslo,
    isOsloTainted: true,
    want: "unschedulable",
  },
  "a cluster under eviction is not chosen while still assigned: the binding waits for another one": {
    on: "oslo",
    task: leavingOslo(),
    placement: onOslo,
    want: "unschedulable",
  },
  "a cluster under eviction is not chosen when its copy was purged directly": {
    on: "rome",
    task: leavingOslo({ purgeMode: "Directly" }),
    placement: onOslo,
    want: "unschedulable",
  },
  "a cluster under eviction is not chosen with purge mode Never": {
    on: "rome",
    task: leavingOslo({ purgeMode: "Never" }),
    placement: onOslo,
    want: "unschedulable",
  },
  "a cluster under eviction is not chosen by a strict plan": {
    on: "rome",
    task: leavingOslo(),
    placement: onOslo,
    isStrict: true,
    want: "unschedulable",
  },
};
for (const [behaviour, { on, task, placement = {}, isOsloTainted = false, isStrict = false, want }] of Object.entries(
  cases,
)) {
  test(behaviour, () => {
    const spec: BindingSpecView = {
      resource,
      replicas: 2,
      placement,
      clusters: [{ name: on, replicas: 2 }],
      gracefulEvictionTasks: [task],
    };

    const plan = planSchedule(
      deepFreeze({
        binding: { metadata: {}, spec },
        clusters: [cluster("oslo", isOsloTainted), cluster("rome")],
        isStrict,
      }),
    );

    expect(plan.outcome === "scheduled" ? plan.clusters.map(({ name }) => name).join() : plan.outcome).toBe(want);
  });
}

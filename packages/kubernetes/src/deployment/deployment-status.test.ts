import { describe, expect, test } from "vitest";
import type { DeploymentStatus } from "@flotilla/apimachinery/facts/apps-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import { deploymentDeadlineInMs, planDeploymentStatus } from "./deployment-status.ts";

const NOW = Date.UTC(2024, 4, 1, 12);
const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } };
const selector = { matchLabels: { app: "web" } };

function makeDeployment(
  status?: DeepReadonly<DeploymentStatus>,
  spec: Partial<ReadonlyDeployment["spec"]> = {},
): ReadonlyDeployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", generation: 4 },
    spec: { replicas: 4, selector, template, ...spec },
    status,
  };
}
function makeSet(name: string, replicas: number, available: number): ReadonlyReplicaSet {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name },
    spec: { replicas, selector, template },
    status: { replicas, readyReplicas: available, availableReplicas: available },
  };
}
const reasons = ({ conditions }: DeepReadonly<DeploymentStatus>): string[] =>
  (conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe("the status of a Deployment", () => {
  test("sums up its ReplicaSets", () => {
    const status = planDeploymentStatus(makeDeployment(), makeSet("new", 2, 1), [makeSet("old", 3, 3)], NOW);

    expect(status).toMatchObject({
      observedGeneration: 4,
      replicas: 5,
      updatedReplicas: 2,
      readyReplicas: 4,
      availableReplicas: 4,
      unavailableReplicas: 1,
    });
    expect(reasons(status)).toEqual(["Available True MinimumReplicasAvailable", "Progressing True ReplicaSetUpdated"]);
  });

  test("is complete when every pod is new and available", () => {
    expect(reasons(planDeploymentStatus(makeDeployment(), makeSet("new", 4, 4), [makeSet("old", 0, 0)], NOW))).toEqual([
      "Available True MinimumReplicasAvailable",
      "Progressing True NewReplicaSetAvailable",
    ]);
  });

  test("is unavailable below its budget, but a finished rollout stays finished", () => {
    const finished = planDeploymentStatus(makeDeployment(), makeSet("new", 4, 4), [], NOW);

    const later = planDeploymentStatus(makeDeployment(finished), makeSet("new", 4, 1), [], NOW + 3_600_000);

    expect(reasons(later)).toEqual([
      "Progressing True NewReplicaSetAvailable",
      "Available False MinimumReplicasUnavailable",
    ]);
  });

  test("is unchanged when nothing progressed, so it is not written again", () => {
    const status = planDeploymentStatus(makeDeployment(), makeSet("new", 2, 1), [makeSet("old", 3, 3)], NOW);

    expect(
      planDeploymentStatus(makeDeployment(status), makeSet("new", 2, 1), [makeSet("old", 3, 3)], NOW + 5_000),
    ).toEqual(status);
  });

  test("reports a rollout that exceeds its progress deadline", () => {
    const started = planDeploymentStatus(
      makeDeployment(undefined, { progressDeadlineSeconds: 60 }),
      makeSet("new", 2, 0),
      [makeSet("old", 3, 3)],
      NOW,
    );
    const inMs = deploymentDeadlineInMs(makeDeployment(started, { progressDeadlineSeconds: 60 }), started, NOW);

    const late = planDeploymentStatus(
      makeDeployment(started, { progressDeadlineSeconds: 60 }),
      makeSet("new", 2, 0),
      [makeSet("old", 3, 3)],
      NOW + (inMs ?? 0),
    );

    expect(inMs).toBe(61_000);
    expect(reasons(late)[1]).toBe("Progressing False ProgressDeadlineExceeded");
  });

  test("is neither progressing nor failed while it is paused", () => {
    expect(
      reasons(planDeploymentStatus(makeDeployment(undefined, { paused: true }), makeSet("new", 4, 4), [], NOW))[1],
    ).toBe("Progressing Unknown DeploymentPaused");
  });
});

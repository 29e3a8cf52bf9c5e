/** Deployments on a simulated member: a rollout as users see it. */
import { omitZero } from "@flotilla/base";
import { describe, expect, test } from "vitest";
import { Deployment } from "./deployment-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { ReplicationController } from "../replicationcontroller/replicationcontroller-kind.ts";
import { ResourceQuota } from "../resourcequota/resourcequota-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { MEMBER, NAMESPACE, startTestMember } from "@flotilla/testing/member/member.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import type { TestMember } from "@flotilla/testing/member/member.ts";
import { indexByController } from "../owned-kinds.ts";
import { createReplicaSetController } from "../replicaset/replicaset-controller.ts";
import { createReplicationControllerController } from "../replicationcontroller/replicationcontroller-controller.ts";
import { createDeploymentController } from "./deployment-controller.ts";

async function startMember(nodes = 3): Promise<TestMember> {
  const member = await startTestMember({
    nodes,
    controllers(deps) {
      indexByController(deps.informers);
      return [
        createDeploymentController(deps),
        createReplicaSetController(deps),
        createReplicationControllerController(deps),
      ];
    },
  });
  return endsWithTest(member);
}

const selector = { matchLabels: { app: "web" } };
const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image }] },
});
const metadata = { name: "web", namespace: NAMESPACE };

function makeDeployment(spec: Partial<Deployment["spec"]> = {}, annotations: Record<string, string> = {}): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { ...metadata, annotations },
    spec: { replicas: 2, selector, template: template("web:1"), ...spec },
  };
}

const setImage = (member: TestMember, image: string, cause = ""): Promise<unknown> =>
  member.change(Deployment, "web", (object) => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, "kubernetes.io/change-cause": cause },
    },
    spec: { ...object.spec, template: template(image) },
  }));
const conditionsOf = async (member: TestMember): Promise<string[]> =>
  ((await member.get(Deployment, "web")).status?.conditions ?? []).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );
const annotationsOf = (set: DeepReadonly<ReplicaSet> | undefined): Record<string, string | undefined> => {
  const {
    "kubernetes.io/change-cause": cause,
    "deployment.kubernetes.io/revision": revision,
    "deployment.kubernetes.io/revision-history": history,
  } = set?.metadata.annotations ?? {};
  return { cause, revision, ...omitZero({ history }) };
};

describe("A Deployment", () => {
  test("emits events when it scales its ReplicaSets", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment());
    await member.pass(10_000);
    const [first] = await member.list(ReplicaSet);

    await setImage(member, "web:2");
    await member.pass(20_000);

    const reported = member.events.filter((event) => event.includes("ScalingReplicaSet"));
    expect(reported[0]).toBe(
      `Deployment/web Normal ScalingReplicaSet: Scaled up replica set ${first?.metadata.name} from 0 to 2`,
    );
    expect(reported.at(-1)).toBe(
      `Deployment/web Normal ScalingReplicaSet: Scaled down replica set ${first?.metadata.name} from 1 to 0`,
    );
  });

  test("does not write its status for every pod that becomes ready, and is correct when all are", async () => {
    const member = await startMember(0);
    await member.client.create(Deployment, MEMBER, makeDeployment({ replicas: 50 }));
    await member.pass(1_000);
    member.writes.reset();

    const conditions = [{ type: "Ready", status: "True", lastTransitionTime: "2024-05-01T12:00:00Z" }];
    for (const pod of member.pods()) {
      await member.client.updateStatus(Pod, MEMBER, {
        ...pod,
        status: { ...pod.status, phase: "Running", conditions },
      });
      await member.pass(20);
    }
    await member.pass(1_000);

    // One second of changes: two intermediate writes and one final write, of the ReplicaSet and of the Deployment.
    expect(member.writes.total()).toBeLessThanOrEqual(6);
    expect((await member.get(Deployment, "web")).status).toMatchObject({ readyReplicas: 50, availableReplicas: 50 });
  });

  test("copies the change cause to its ReplicaSet, and records former revisions of one that is rolled back to", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment({}, { "kubernetes.io/change-cause": "first" }));
    await member.pass(10_000);
    const [first] = await member.list(ReplicaSet);

    await setImage(member, "web:2", "second");
    await member.pass(20_000);
    await setImage(member, "web:1", "back");
    await member.pass(20_000);

    const after = await member.get(ReplicaSet, first?.metadata.name ?? "");
    const other = (await member.list(ReplicaSet)).find(({ metadata: { name } }) => name !== after.metadata.name);
    expect(annotationsOf(first)).toEqual({ cause: "first", revision: "1" });
    expect(annotationsOf(other)).toEqual({ cause: "second", revision: "2" });
    expect(annotationsOf(after)).toEqual({ cause: "back", revision: "3", history: "1" });
  });

  test("reports creation failures of its ReplicaSet", async () => {
    const member = await startMember();
    await member.client.create(ResourceQuota, MEMBER, {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "none", namespace: NAMESPACE },
      spec: { hard: { pods: "0" } },
    });
    const quota = await member.get(ResourceQuota, "none");
    await member.client.updateStatus(ResourceQuota, MEMBER, {
      ...quota,
      status: { hard: { pods: "0" }, used: { pods: "0" } },
    });

    await member.client.create(Deployment, MEMBER, makeDeployment({ progressDeadlineSeconds: 30 }));
    await member.pass(20_000);
    const early = await conditionsOf(member);
    await member.pass(60_000);

    expect(early).toEqual([
      "Available=False MinimumReplicasUnavailable",
      "Progressing=True NewReplicaSetCreated",
      "ReplicaFailure=True FailedCreate",
    ]);
    expect(await conditionsOf(member)).toContain("Progressing=False ProgressDeadlineExceeded");
    const failure = (await member.get(Deployment, "web")).status?.conditions?.find(
      ({ type }) => type === "ReplicaFailure",
    );
    expect(failure?.message).toMatch(/^pods "web-[a-z0-9]+-[a-z0-9]{5}" is forbidden: exceeded quota: none/);
    expect(
      member.events.some((event) =>
        /^ReplicaSet\/web-\S+ Warning FailedCreate: Error creating: pods "web-/.test(event),
      ),
    ).toBe(true);
  });

  test("counts terminating pods", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment({ replicas: 3 }));
    await member.pass(10_000);

    await member.change(Deployment, "web", (object) => ({ ...object, spec: { ...object.spec, replicas: 1 } }));
    await member.pass(700);
    const during = (await member.get(Deployment, "web")).status;
    await member.pass(40_000);

    expect(during).toMatchObject({ replicas: 1, terminatingReplicas: 2 });
    expect((await member.get(Deployment, "web")).status).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
  });

  test("reports that it is resumed", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment());
    await member.pass(10_000);
    const pause = (paused: boolean): Promise<unknown> =>
      member.change(Deployment, "web", (object) => ({ ...object, spec: { ...object.spec, paused } }));

    await pause(true);
    await member.pass(1_000);
    const paused = await conditionsOf(member);
    await pause(false);
    await member.pass(1_000);

    expect(paused).toContain("Progressing=Unknown DeploymentPaused");
    expect(await conditionsOf(member)).toContain("Progressing=True NewReplicaSetAvailable");
  });

  test("counts revisions as 64-bit integers", async () => {
    const member = await startMember();
    const old = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name: "old",
        namespace: NAMESPACE,
        labels: { app: "web" },
        annotations: { "deployment.kubernetes.io/revision": "3546343826724305832" },
      },
      spec: { replicas: 1, selector, template: template("web:0") },
    };
    await member.client.create(ReplicaSet, MEMBER, old);
    await member.pass(5_000);

    await member.client.create(Deployment, MEMBER, makeDeployment({ replicas: 1 }));
    await member.pass(20_000);

    expect((await member.get(Deployment, "web")).metadata.annotations?.["deployment.kubernetes.io/revision"]).toBe(
      "3546343826724305833",
    );
  });

  test("adopts a ReplicaSet that appears later", async () => {
    const member = await startMember();
    await member.client.create(Deployment, MEMBER, makeDeployment());
    await member.pass(10_000);

    await member.client.create(ReplicaSet, MEMBER, {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "stray", namespace: NAMESPACE, labels: { app: "web" } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: "web", stray: "yes" } },
        template: { ...template("web:0"), metadata: { labels: { app: "web", stray: "yes" } } },
      },
    });
    await member.pass(20_000);

    const stray = await member.get(ReplicaSet, "stray");
    expect(stray.metadata.ownerReferences?.[0]).toMatchObject({ kind: "Deployment", name: "web" });
    expect(stray.spec.replicas).toBe(0);
  });
});

describe("A ReplicaSet", () => {
  test("adopts a pod that appears later, and deletes another for it", async () => {
    const member = await startMember();
    await member.client.create(ReplicaSet, MEMBER, {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata,
      spec: { replicas: 2, selector, template: template("web:1") },
    });
    await member.pass(10_000);

    await member.client.create(Pod, MEMBER, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "stray", namespace: NAMESPACE, labels: { app: "web" } },
      spec: template("web:1").spec,
    });
    await member.pass(40_000);

    expect(member.pods()).toHaveLength(2);
    expect(member.pods().every((pod) => pod.metadata.ownerReferences?.length === 1)).toBe(true);
  });
});

describe("A ReplicationController", () => {
  test("maintains its pods and reports their number", async () => {
    const member = await startMember();
    await member.client.create(ReplicationController, MEMBER, {
      apiVersion: "v1",
      kind: "ReplicationController",
      metadata,
      spec: { replicas: 3, selector: { app: "web" }, template: template("web:1") },
    });
    await member.pass(10_000);
    const [victim] = member.pods();

    await member.client.delete(Pod, { cluster: MEMBER, namespace: NAMESPACE, name: victim?.metadata.name ?? "" });
    await member.pass(40_000);

    expect(member.pods()).toHaveLength(3);
    expect((await member.get(ReplicationController, "web")).status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    });
    expect(
      member.events.filter((event) =>
        event.startsWith("ReplicationController/web Normal SuccessfulCreate: Created pod: web-"),
      ),
    ).toHaveLength(4);
  });
});

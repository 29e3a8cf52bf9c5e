/** Write budgets are counts: the API writes of a workload, and that a converged fleet writes nothing. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, Deployment, Namespace } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import { copy } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

/** From the user's apply until the hub shows the members' status, on two members, including the user's own write. */
const WRITES_PER_WORKLOAD = 12;
/** The first revision of a Deployment, for `kubectl rollout undo`; other kinds have none on the hub. */
const WRITES_PER_DEPLOYMENT = WRITES_PER_WORKLOAD + 1;
const MINUTE_MS = 60_000;

let fleet: TestFleet | undefined;
afterEach(async () => {
  await fleet?.stop();
  fleet = undefined;
});

/** The status that a member's own controllers would report once all replicas are ready. */
async function reportReady({ client }: TestFleet, cluster: string, name: string): Promise<void> {
  const deployment = await client.get(Deployment, { cluster, namespace: "shop", name });
  const replicas = deployment.spec.replicas ?? 0;
  const status = {
    observedGeneration: deployment.metadata.generation,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  await client.updateStatus(Deployment, cluster, { ...copy(deployment), status });
}

/**
 * The writes of the pipeline: without those of the members, which run pods and report status; without their resource
 * summaries, which are written at most once per member and period however many workloads changed; and without the
 * status of policies, likewise.
 */
function pipelineWrites(fleet: TestFleet): { total: number; text: string } {
  const writes = fleet
    .writes()
    .filter(
      ({ part, cluster, resource, subresource }) =>
        part !== "member" &&
        part !== "membership" &&
        part !== "policies" &&
        !(cluster !== "hub" && (subresource === "status" || resource === "events")),
    );
  return {
    total: writes.reduce((sum, { count }) => sum + count, 0),
    text: writes
      .map(
        ({ part, cluster, verb, resource, subresource, count }) =>
          `${count} × ${part} ${verb} ${resource}${subresource && `/${subresource}`} on ${cluster}`,
      )
      .join("\n"),
  };
}

async function start(nodes: number): Promise<TestFleet> {
  fleet = await startTestFleet({ members: ["member1", "member2"], nodes });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .weights({ member1: 2, member2: 1 });
  await fleet.client.create(PropagationPolicy, "hub", policy.build());
  await fleet.run(MINUTE_MS);
  fleet.resetWrites();
  return fleet;
}

async function expectSilence(running: TestFleet): Promise<void> {
  running.resetWrites();
  await running.run(MINUTE_MS);
  expect(running.writes()).toEqual([]);
}

test("a Deployment on two members causes at most 13 writes until its status is back, and none in the minute after", async () => {
  const running = await start(0);

  await running.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await running.settle();
  await reportReady(running, "member1", "web");
  await reportReady(running, "member2", "web");
  await running.run(5_000);

  const seen = await running.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" });
  expect(seen.status).toMatchObject({
    replicas: 6,
    readyReplicas: 6,
    availableReplicas: 6,
    observedGeneration: seen.metadata.generation,
  });
  const { total, text } = pipelineWrites(running);
  expect(total, text).toBeLessThanOrEqual(WRITES_PER_DEPLOYMENT);
  await expectSilence(running);
});

test("a Deployment whose pods start stays within the write budget", async () => {
  const running = await start(3);

  await running.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
  await running.run(10_000);

  expect(
    (await running.client.get(Deployment, { cluster: "hub", namespace: "shop", name: "web" })).status,
  ).toMatchObject({ readyReplicas: 6 });
  const { total, text } = pipelineWrites(running);
  expect(total, text).toBeLessThanOrEqual(WRITES_PER_DEPLOYMENT);
  await expectSilence(running);
});

test("a CloneSet whose pods start stays within the write budget", async () => {
  const running = await start(3);

  await running.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(6).build());
  await running.run(10_000);

  expect((await running.client.get(CloneSet, { cluster: "hub", namespace: "shop", name: "web" })).status).toMatchObject(
    { readyReplicas: 6 },
  );
  const { total, text } = pipelineWrites(running);
  expect(total, text).toBeLessThanOrEqual(WRITES_PER_WORKLOAD);
  await expectSilence(running);
});

test("a CloneSet whose pods never start has its first status within one write of each object", async () => {
  const running = await start(0);

  await running.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(6).build());
  await running.run(10_000);

  const statuses = running.writes().filter(({ part, subresource }) => part !== "policies" && subresource === "status");
  expect(statuses.map(({ resource, count }) => `${count} ${resource}`).sort(), pipelineWrites(running).text).toEqual([
    "1 clonesets.apps.kruise.io",
    "1 resourcebindings.work.karmada.io",
    "2 works.work.karmada.io",
  ]);
  await expectSilence(running);
});

const placements: Record<string, { policy: PropagationPolicy; readyOfTwelve: number }> = {
  divided: {
    policy: makePolicy("shop/web").selects("apps/v1", "Deployment", "web").weights({ member1: 2, member2: 1 }).build(),
    readyOfTwelve: 12,
  },
  duplicated: {
    policy: makePolicy("shop/web").selects("apps/v1", "Deployment", "web").duplicates("member1", "member2").build(),
    readyOfTwelve: 24,
  },
};
for (const [how, { policy, readyOfTwelve }] of Object.entries(placements)) {
  test(`a change of ${how} replicas writes each Work once`, async () => {
    const running = await start(3);
    const web = { cluster: "hub", namespace: "shop", name: "web" };
    await running.client.create(PropagationPolicy, "hub", policy);
    await running.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(6).build());
    await running.run(10_000);
    running.resetWrites();

    await running.client.patch(Deployment, web, { spec: { replicas: 12 } }, { type: "merge" });
    await running.run(10_000);

    expect((await running.client.get(Deployment, web)).status).toMatchObject({ readyReplicas: readyOfTwelve });
    const works = running.writes().filter(({ part, resource }) => part === "dispatch" && resource.startsWith("works."));
    expect(
      works.map(({ verb, count }) => ({ verb, count })),
      pipelineWrites(running).text,
    ).toEqual([{ verb: "update", count: 2 }]);
    await expectSilence(running);
  });
}

test("an update of a ConfigMap writes each Work, and the generation that was delivered", async () => {
  const running = await start(3);
  const key = { cluster: "hub", namespace: "shop", name: "conf" };
  const policy = makePolicy("shop/conf").selects("v1", "ConfigMap", "conf").duplicates("member1", "member2").build();
  await running.client.create(PropagationPolicy, "hub", policy);
  const conf = { apiVersion: "v1" as const, kind: "ConfigMap" as const, metadata: { namespace: "shop", name: "conf" } };
  await running.client.create(ConfigMap, "hub", { ...conf, data: { a: "1" } });
  await running.run(10_000);
  running.resetWrites();

  await running.client.patch(ConfigMap, key, { data: { a: "2" } }, { type: "merge" });
  await running.run(10_000);

  const works = running.writes().filter(({ resource }) => resource.startsWith("works."));
  expect(
    works.map(({ verb, subresource, count }) => `${verb} ${subresource} ${count}`).toSorted(),
    pipelineWrites(running).text,
  ).toEqual(["update  2", "update status 2"]);
  await expectSilence(running);
});

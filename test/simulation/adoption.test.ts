/** Adopting workloads of a member: with consent, and without touching a pod. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ControllerRevision, Deployment, Namespace, Pod, ReplicaSet, StatefulSet } from "@flotilla/kubernetes";
import { PropagationPolicy } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const onMember = { cluster: "member1", namespace: "shop", name: "web" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["member1"], nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(SETTLED_MS);
}

async function running(): Promise<string[]> {
  const [pods, sets, revisions] = await Promise.all([
    fleet.client.list(Pod, onMember),
    fleet.client.list(ReplicaSet, onMember),
    fleet.client.list(ControllerRevision, onMember),
  ]);
  return [...pods.items, ...sets.items, ...revisions.items]
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    .sort();
}

async function adopt<T extends KubernetesObject>(kind: Kind<T>, object: T): Promise<void> {
  const policy = makePolicy("shop/all").selects(object.apiVersion, object.kind).duplicates("member1");
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy.with(({ spec }) => (spec.conflictResolution = "Overwrite")).build(),
  );
  await fleet.client.create(kind, "hub", object as never);
  await fleet.run(SETTLED_MS);
}

const statefulSet: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { namespace: "shop", name: "web" },
  spec: {
    replicas: 3,
    serviceName: "web",
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
  },
};

const workloads: Record<string, [Kind, KubernetesObject]> = {
  Deployment: [Deployment, makeDeployment("shop/web").replicas(3).build()],
  StatefulSet: [StatefulSet, statefulSet],
  CloneSet: [CloneSet, makeCloneSet("shop/web").replicas(3).build()],
};
for (const [name, [kind, object]] of Object.entries(workloads)) {
  test(`an adopted ${name} keeps its pods and its revision`, async () => {
    await start();
    await fleet.client.create(kind, "member1", copy(object));
    await fleet.run(SETTLED_MS);
    const before = await running();
    expect((await fleet.client.list(Pod, onMember)).items).toHaveLength(3);

    await adopt(kind, copy(object));

    expect((await fleet.client.get(kind, onMember)).metadata.labels).toMatchObject({ "karmada.io/managed": "true" });
    expect(await running()).toEqual(before);
  });
}

test("a Deployment that was restarted on the member is not restarted again by adoption", async () => {
  await start();
  await fleet.client.create(Deployment, "member1", makeDeployment("shop/web").replicas(3).build());
  await fleet.client.patch(
    Deployment,
    onMember,
    {
      spec: {
        template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "2024-05-01T12:00:00Z" } } },
      },
    },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  const before = await running();

  await adopt(Deployment, makeDeployment("shop/web").replicas(3).build());
  expect(await running()).toEqual(before);

  await fleet.client.patch(
    Deployment,
    { ...onMember, cluster: "hub" },
    { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  expect((await fleet.client.get(Deployment, onMember)).spec.template.spec?.containers[0]?.image).toBe("web:2");
});

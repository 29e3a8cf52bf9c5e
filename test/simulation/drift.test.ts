/** Drift on members: it is repaired or only reported, per field and with its manager, and autoscalers are respected. */
import { afterEach, describe, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Namespace, Secret } from "@flotilla/kubernetes";
import { PropagationPolicy, Work } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 10_000;
const onHub = { cluster: "hub", namespace: "shop", name: "web" };
const onMember = { ...onHub, cluster: "member1" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(annotations?: Record<string, string>): Promise<void> {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  const policy = makePolicy("shop/all")
    .selects("apps/v1", "Deployment")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .selects("autoscaling/v2", "HorizontalPodAutoscaler")
    .selects("v1", "Secret")
    .selects("v1", "ConfigMap")
    .duplicates("member1", "member2");
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    policy.with(({ metadata }) => Object.assign(metadata, annotations && { annotations })).build(),
  );
  await fleet.client.create(Deployment, "hub", makeDeployment("shop/web").replicas(3).build());
  await fleet.run(SETTLED_MS);
}
/** A user on the member, with their own field manager. */
const person = () =>
  createClient({
    transport: fleet.hub.server.transport({ name: "ann", groups: ["system:masters"] }),
    fieldManager: "ann",
  });
const scale = async (replicas: number): Promise<void> => {
  await person().patch(Deployment, onMember, { spec: { replicas } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
};
const replicas = async (): Promise<number | undefined> => (await fleet.client.get(Deployment, onMember)).spec.replicas;

async function conditionOf(name: string, type: string): Promise<unknown> {
  const { items } = await fleet.client.list(Work, { cluster: "hub", namespace: "karmada-es-member1" });
  return items
    .find(({ metadata }) => metadata.name.startsWith(`${name}-`))
    ?.status?.conditions?.find((condition) => condition.type === type);
}
const writesToMembers = (): string[] =>
  fleet
    .writes()
    .filter(({ part }) => part === "execute")
    .map(({ verb, resource, cluster, count }) => `${count} × ${verb} ${resource} on ${cluster}`);

describe("a field changed on a member", () => {
  test("is repaired, and the Work reports the old value, the manager and the time", async () => {
    await start();

    await scale(9);

    expect(await replicas()).toBe(3);
    expect(await conditionOf("web", "Drifted")).toMatchObject({
      status: "False",
      reason: "Repaired",
      message: expect.stringMatching(/^Deployment web: spec\.replicas was 9 instead of 3 \(ann, \d{4}-.*Z\)$/),
    });
  });

  test("stays and is reported if the policy specifies Report, until the policy changes", async () => {
    await start({ "flotilla.dev/drift": "report" });

    await scale(9);
    expect(await replicas()).toBe(9);
    expect(await conditionOf("web", "Drifted")).toMatchObject({
      status: "True",
      reason: "ReportOnly",
      message: expect.stringContaining("spec.replicas is 9 instead of 3 (ann,"),
    });

    await fleet.client.patch(
      PropagationPolicy,
      { ...onHub, name: "all" },
      { metadata: { annotations: null } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    expect(await replicas()).toBe(3);
    expect(await conditionOf("web", "Drifted")).toMatchObject({ status: "False", reason: "Repaired" });
  });

  test("stays while other changes of the template are propagated", async () => {
    await start({ "flotilla.dev/drift": "report" });
    await scale(9);

    await fleet.client.patch(Deployment, onHub, { spec: { minReadySeconds: 5 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);

    expect((await fleet.client.get(Deployment, onMember)).spec).toMatchObject({ replicas: 9, minReadySeconds: 5 });
    expect(await conditionOf("web", "Drifted")).toMatchObject({
      status: "True",
      reason: "ReportOnly",
      message: expect.stringContaining("spec.replicas is 9 instead of 3 (ann,"),
    });
  });

  test("stays if the template itself specifies Report, whatever its policy specifies", async () => {
    await start();
    await fleet.client.patch(
      Deployment,
      onHub,
      { metadata: { annotations: { "flotilla.dev/drift": "report" } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);

    await scale(9);

    expect(await replicas()).toBe(9);
  });

  test("is named without its value in a Secret", async () => {
    await start();
    const key = { ...onMember, name: "keys" };
    await fleet.client.create(Secret, "hub", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "shop", name: "keys" },
      data: { token: "b3Vycw==" },
    });
    await fleet.run(SETTLED_MS);

    await person().patch(Secret, key, { data: { token: "dGhlaXJz" } }, { type: "merge" });
    await fleet.run(SETTLED_MS);

    expect((await fleet.client.get(Secret, key)).data).toEqual({ token: "b3Vycw==" });
    expect(await conditionOf("keys", "Drifted")).toMatchObject({
      message: expect.stringMatching(/^Secret keys: data\.token was changed \(ann, [^)]*\)$/),
    });
  });
});

describe("nothing is written", () => {
  test("nothing is written for a value that the member normalizes, also after a restart", async () => {
    await start();
    const limits = { cpu: "1000m", memory: "1024Mi" };
    await fleet.client.create(
      CloneSet,
      "hub",
      makeCloneSet("shop/cart")
        .with(({ spec }) =>
          Object.assign(spec.template.spec?.containers[0] ?? {}, { resources: { limits, requests: limits } }),
        )
        .build(),
    );
    await fleet.client.patch(
      Deployment,
      onHub,
      { spec: { template: { spec: { containers: [{ name: "web", image: "web:1", resources: { limits } }] } } } },
      { type: "merge" },
    );
    await fleet.run(SETTLED_MS);
    fleet.resetWrites();

    await fleet.client.patch(Deployment, onMember, { metadata: { labels: { theirs: "yes" } } }, { type: "merge" });
    await fleet.run(SETTLED_MS);

    expect(writesToMembers()).toEqual([]);
  });

  test("nothing is written for a status that the member's controllers report repeatedly", async () => {
    await start();
    fleet.resetWrites();

    for (const count of [1, 2, 3]) {
      await fleet.client.patch(
        Deployment,
        onMember,
        { status: { replicas: count, readyReplicas: count } },
        { type: "merge", subresource: "status" },
      );
      await fleet.run(SETTLED_MS);
    }

    expect(writesToMembers()).toEqual([]);
  });
});

describe("an object scaled by an autoscaler", () => {
  const autoscaler = (kind: string, apiVersion: string): HorizontalPodAutoscaler => ({
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { namespace: "shop", name: "web" },
    spec: { scaleTargetRef: { apiVersion, kind, name: "web" }, minReplicas: 1, maxReplicas: 20 },
  });
  const scaled = async <T extends KubernetesObject>(kind: Kind<T>, count: number): Promise<DeepReadonly<T>> => {
    await person().patch(kind, onMember, { spec: { replicas: count } }, { type: "merge" });
    await fleet.run(SETTLED_MS);
    return fleet.client.get(kind, onMember);
  };

  test(
    "an object scaled by an autoscaler on the member keeps its replicas while other changes are propagated, and " +
      "gets ours back when the autoscaler is deleted",
    async () => {
      await start();
      await fleet.client.create(HorizontalPodAutoscaler, "member1", autoscaler("Deployment", "apps/v1"));

      expect((await scaled(Deployment, 7)).spec.replicas).toBe(7);
      await fleet.client.patch(Deployment, onHub, { spec: { replicas: 4, minReadySeconds: 5 } }, { type: "merge" });
      await fleet.run(SETTLED_MS);
      expect((await fleet.client.get(Deployment, onMember)).spec).toMatchObject({ replicas: 7, minReadySeconds: 5 });
      fleet.resetWrites();
      await fleet.run(SETTLED_MS);
      expect(writesToMembers()).toEqual([]);

      await fleet.client.delete(HorizontalPodAutoscaler, onMember);
      await fleet.run(SETTLED_MS);
      expect(await replicas()).toBe(4);
    },
  );

  test("keeps replicas that were ours before the hub's change and the autoscaler", async () => {
    await start();
    await fleet.client.patch(Deployment, onHub, { spec: { minReadySeconds: 1 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);
    await fleet.client.create(HorizontalPodAutoscaler, "member1", autoscaler("Deployment", "apps/v1"));

    await fleet.client.patch(Deployment, onHub, { spec: { replicas: 1 } }, { type: "merge" });
    await fleet.run(SETTLED_MS);

    expect(await replicas()).toBe(3);
  });

  test("an object scaled by an autoscaler that is propagated keeps the replicas of a CloneSet too", async () => {
    await start();
    await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(2).build());
    await fleet.client.create(HorizontalPodAutoscaler, "hub", autoscaler("CloneSet", "apps.kruise.io/v1alpha1"));
    await fleet.run(SETTLED_MS);

    expect((await scaled(CloneSet, 5)).spec.replicas).toBe(5);

    await fleet.client.delete(HorizontalPodAutoscaler, onHub);
    await fleet.run(SETTLED_MS);
    expect((await fleet.client.get(CloneSet, onMember)).spec.replicas).toBe(2);
  });
});

test("a key removed from the template is removed from the member, and the member's own keys stay", async () => {
  await start();
  const key = { ...onHub, name: "settings" };
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
    data: { colour: "blue", size: "1" },
  });
  await fleet.run(SETTLED_MS);
  await person().patch(ConfigMap, { ...key, cluster: "member1" }, { data: { theirs: "yes" } }, { type: "merge" });

  await fleet.client.patch(ConfigMap, key, { data: { size: null } }, { type: "merge" });
  await fleet.run(SETTLED_MS);

  expect((await fleet.client.get(ConfigMap, { ...key, cluster: "member1" })).data).toEqual({
    colour: "blue",
    theirs: "yes",
  });
});

/** `podsToDelete` of a CloneSet on the hub: every member is asked to delete the pods that it has, and no others. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";
import { Cluster, PropagationPolicy, ResourceBinding, Work } from "@flotilla/karmada";
import { Namespace, Pod } from "@flotilla/kubernetes";
import { CloneSet } from "@flotilla/openkruise";
import { Explanation } from "@flotilla/flotilla";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";

const MINUTE_MS = 60_000;
const MEMBERS = ["member1", "member2", "member3"];
const web = { cluster: "hub", namespace: "shop", name: "web" };

/** A CloneSet of ten: 5, 3 and 2. */
async function start(policy = weighted()): Promise<TestFleet> {
  const fleet = endsWithTest(await startTestFleet({ members: MEMBERS, nodes: 3 }));
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.client.create(PropagationPolicy, "hub", policy);
  await fleet.client.create(CloneSet, "hub", makeCloneSet("shop/web").replicas(10).build());
  await fleet.run(30_000);
  return fleet;
}

const weighted = (): PropagationPolicy =>
  makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .weights({ member1: 5, member2: 3, member3: 2 })
    .build();

const podsOn = async (fleet: TestFleet, cluster: string): Promise<string[]> =>
  (await fleet.client.list(Pod, { cluster, namespace: "shop" })).items.map(({ metadata }) => metadata.name).toSorted();
const sizes = (fleet: TestFleet): Promise<number[]> =>
  Promise.all(MEMBERS.map(async (member) => (await podsOn(fleet, member)).length));
const firstPod = async (fleet: TestFleet, cluster: string): Promise<string> => (await podsOn(fleet, cluster))[0] ?? "";

const change = (fleet: TestFleet, spec: object): Promise<unknown> =>
  fleet.client.patch(CloneSet, web, { spec } as unknown as Json, { type: "merge" });
const named = (...podsToDelete: string[]): object => ({ scaleStrategy: { podsToDelete } });

async function applied(fleet: TestFleet): Promise<string[]> {
  const { items } = await fleet.client.list(Work, { cluster: "hub" });
  return items
    .filter(({ metadata }) => metadata.name.includes("web"))
    .map(({ status }) => status?.conditions?.find(({ type }) => type === "Applied")?.status ?? "");
}
const conditionOf = async (fleet: TestFleet, type: string): Promise<unknown> =>
  (await fleet.client.get(ResourceBinding, { ...web, name: "web-cloneset" })).status?.conditions?.find(
    (condition) => condition.type === type,
  );
const problemsOf = async (fleet: TestFleet): Promise<readonly string[]> =>
  (await fleet.client.get(Explanation, { ...web, name: "web-cloneset" })).problems.map((problem) =>
    JSON.stringify(problem),
  );

test("a named pod is deleted and replaced on the member that has it, and no member rejects the template", async () => {
  const fleet = await start();
  const pod = await firstPod(fleet, "member2");
  const others = await podsOn(fleet, "member1");

  await change(fleet, named(pod));
  await fleet.run(30_000);

  expect(await podsOn(fleet, "member2")).not.toContain(pod);
  expect(await podsOn(fleet, "member1")).toEqual(others);
  expect(await sizes(fleet)).toEqual([5, 3, 2]);
  expect(await applied(fleet)).toEqual(["True", "True", "True"]);
  expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({ readyReplicas: 10 });
});

test("fewer replicas together with named pods remove exactly these pods", async () => {
  const fleet = await start();
  const victims = [await firstPod(fleet, "member3"), await firstPod(fleet, "member2")];
  const before = (await Promise.all(MEMBERS.map((member) => podsOn(fleet, member)))).flat();

  await change(fleet, { replicas: 8, ...named(...victims) });
  await fleet.run(30_000);

  const after = (await Promise.all(MEMBERS.map((member) => podsOn(fleet, member)))).flat();
  expect(after).toEqual(before.filter((name) => !victims.includes(name)));
  expect(await sizes(fleet)).toEqual([5, 2, 1]);
});

test("named pods leave by capacity too, and the division stays afterwards", async () => {
  const policy = makePolicy("shop/all")
    .selects("apps.kruise.io/v1beta1", "CloneSet")
    .with(({ spec }) => {
      spec.placement = {
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Weighted",
          weightPreference: { dynamicWeight: "AvailableReplicas" },
        },
      };
    });
  const fleet = await start(policy.build());
  const before = await sizes(fleet);
  const pod = await firstPod(fleet, "member3");

  await change(fleet, { replicas: 9, ...named(pod) });
  await fleet.run(30_000);
  await change(fleet, { scaleStrategy: { podsToDelete: null } });
  await fleet.run(30_000);

  expect(await sizes(fleet)).toEqual([before[0], before[1], (before[2] ?? 0) - 1]);
});

test("a name that is still in the template after its pod is gone does not block later changes", async () => {
  const fleet = await start();
  const pod = await firstPod(fleet, "member2");
  await change(fleet, named(pod));
  await fleet.run(30_000);
  const second = await firstPod(fleet, "member1");
  fleet.resetWrites();
  await fleet.run(MINUTE_MS);
  const silent = fleet.writes();

  await change(fleet, {
    ...named(pod, second),
    template: { spec: { containers: [{ name: "web", image: "registry.example.com/web:2" }] } },
  });
  await fleet.run(MINUTE_MS);

  expect(silent).toEqual([]);
  expect(await applied(fleet)).toEqual(["True", "True", "True"]);
  expect(await podsOn(fleet, "member1")).not.toContain(second);
  expect((await fleet.client.get(CloneSet, web)).status).toMatchObject({ readyReplicas: 10, updatedReplicas: 10 });
});

test("a CloneSet that is created again on its member is not given names of pods that it never had", async () => {
  const fleet = await start();
  await change(fleet, named(await firstPod(fleet, "member2")));
  await fleet.run(30_000);

  await fleet.client.delete(CloneSet, { ...web, cluster: "member2" });
  await fleet.run(MINUTE_MS);

  expect(await applied(fleet)).toEqual(["True", "True", "True"]);
  expect(await sizes(fleet)).toEqual([5, 3, 2]);
});

test("a name that no member has blocks nothing, and is reported", async () => {
  const fleet = await start();
  const pod = await firstPod(fleet, "member2");

  await change(fleet, named("web-absent", pod));
  await fleet.run(30_000);

  expect(await podsOn(fleet, "member2")).not.toContain(pod);
  expect(await applied(fleet)).toEqual(["True", "True", "True"]);
  expect(await conditionOf(fleet, "PodsFound")).toMatchObject({
    status: "False",
    reason: "PodsNotFound",
    message: "spec.scaleStrategy.podsToDelete: no member has web-absent of CloneSet web; remove the name",
  });
  expect((await problemsOf(fleet)).join()).toContain("no member has web-absent");
  await change(fleet, { scaleStrategy: { podsToDelete: null } });
  await fleet.run(30_000);
  expect(await conditionOf(fleet, "PodsFound")).toMatchObject({ status: "True" });
});

test("a pod of a member that is away is deleted when the member is back; the others do not wait", async () => {
  const fleet = await start();
  const [away, here] = [await firstPod(fleet, "member3"), await firstPod(fleet, "member1")];
  const cut = (fault: string | null): Promise<unknown> =>
    fleet.client.patch(
      Cluster,
      { cluster: "hub", name: "member3" },
      { metadata: { annotations: { "simulation.flotilla.dev/fault": fault } } },
      { type: "merge" },
    );
  await cut("unreachable");
  await fleet.run(MINUTE_MS);

  await change(fleet, named(away, here));
  await fleet.run(30_000);
  const during = await conditionOf(fleet, "PodsFound");
  const gone = !(await podsOn(fleet, "member1")).includes(here);
  await cut(null);
  await fleet.run(2 * MINUTE_MS);

  expect(gone).toBe(true);
  expect(during).toMatchObject({ status: "Unknown", reason: "MembersNotAsked" });
  expect(during).toHaveProperty("message", expect.stringContaining("member3"));
  expect(await podsOn(fleet, "member3")).not.toContain(away);
  expect(await sizes(fleet)).toEqual([5, 3, 2]);
});

test("a plan shows what will happen: the members of the named pods lose the replicas", async () => {
  const fleet = await start();
  const pod = await firstPod(fleet, "member3");
  const manifest = makeCloneSet("shop/web")
    .replicas(9)
    .with(({ spec }) => (spec.scaleStrategy = { podsToDelete: [pod] }))
    .build();

  const { changes, problems } = await planInput(
    fleet.client,
    { manifests: [manifest as unknown as JsonObject], without: [], namespace: "shop" },
    fleet.clock,
    new AbortController().signal,
  );

  expect(problems).toEqual([]);
  expect(changes.map(({ cluster, fields }) => [cluster, fields.map(({ path, after }) => [path, after])])).toEqual([
    [
      "member3",
      [
        ["spec.replicas", 1],
        ["spec.scaleStrategy", { podsToDelete: [pod] }],
      ],
    ],
  ]);
});

/** Users' Lua rules in a whole fleet: their effect on the hub and the members, and when they change or are deleted. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { findCondition, inVersion } from "@flotilla/apimachinery";
import { Event } from "@flotilla/kubernetes";
import { ResourceBinding, ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { CloneSetV1alpha1 } from "@flotilla/openkruise";
import type { DeepReadonly } from "@flotilla/base";
import { Explanation } from "@flotilla/flotilla";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";
import { runCommand } from "./run-command.ts";
import { startShop, WEB } from "./shop-fleet.ts";

const SETTLED_MS = 10_000;
const clusters = { member1: 1, member2: 1 };
const CloneSetV1alpha1 = inVersion<CloneSetV1alpha1>(CloneSet, "v1alpha1");

/** Returns only a status, with values that no other rule would produce. */
const SUM = `
function AggregateStatus(desiredObj, statusItems)
  local replicas = 0
  for i = 1, #statusItems do
    replicas = replicas + statusItems[i].status.replicas
  end
  return { replicas = replicas, readyReplicas = 1, availableReplicas = 0, updatedReplicas = 0, updatedReadyReplicas = 0 }
end
`;

const REVISE = "function ReviseReplica(o, n)\n  o.spec.replicas = n\n  return o\nend\n";

let fleet: TestFleet;
afterEach(() => fleet.stop());

/** A CloneSet of four on two members. */
async function start(): Promise<void> {
  const policy = makePolicy("shop/all").selects("apps.kruise.io/v1alpha1", "CloneSet").weights(clusters);
  fleet = await startShop(Object.keys(clusters), policy.build());
  await fleet.client.create(CloneSetV1alpha1, "hub", {
    ...makeCloneSet("shop/web").replicas(4).build(),
    apiVersion: "apps.kruise.io/v1alpha1",
  });
  await fleet.run(SETTLED_MS);
}

/** As users write it, including shorthand. */
async function customize(customizations: object): Promise<void> {
  const target = { apiVersion: "apps.kruise.io/v1alpha1", kind: "CloneSet" };
  await fleet.client.create(ResourceInterpreterCustomization, "hub", {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "mine" },
    spec: { target, customizations },
  });
  await fleet.run(SETTLED_MS);
}

const read = (cluster: string): Promise<DeepReadonly<CloneSetV1alpha1>> =>
  fleet.client.get(CloneSetV1alpha1, { cluster, namespace: "shop", name: "web" });

/** The reasons of the events about the CloneSet's status rule, each once. */
async function ruleEvents(): Promise<string[]> {
  const { items } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  const about = items.filter(({ involvedObject }) => involvedObject.kind === "CloneSet");
  return [
    ...new Set(about.flatMap(({ reason = "" }) => (reason.startsWith("ReflectStatus") ? [reason] : []))),
  ].toSorted();
}

/** Advance the clock meanwhile. */
const wait = () => runCommand(fleet, "wait", "cloneset/web", "-n", "shop", "--timeout", "1");

test("a customization takes over the operations it defines, and returns them when it is deleted", async () => {
  await start();
  const before = (await read("hub")).status;

  await customize({ statusAggregation: { luaScript: SUM } });
  const during = (await read("hub")).status;
  await fleet.client.delete(ResourceInterpreterCustomization, { cluster: "hub", name: "mine" });
  await fleet.run(SETTLED_MS);

  expect(before).toMatchObject({ replicas: 4, readyReplicas: 4, updatedReplicas: 4 });
  // Fields that the script does not set are aggregated as before.
  expect(during).toEqual({
    ...before,
    replicas: 4,
    readyReplicas: 1,
    availableReplicas: 0,
    updatedReplicas: 0,
    updatedReadyReplicas: 0,
  });
  expect((await read("hub")).status).toEqual(before);
});

test("a retention rule with a path keeps the members' values there", async () => {
  await start();
  await customize({ retention: { jsonPaths: [".spec.minReadySeconds"] } });
  const theirs = await read("member1");
  await fleet.client.update(CloneSetV1alpha1, "member1", { ...theirs, spec: { ...theirs.spec, minReadySeconds: 7 } });
  await fleet.run(SETTLED_MS);

  const ours = await read("hub");
  await fleet.client.update(CloneSetV1alpha1, "hub", {
    ...ours,
    spec: { ...ours.spec, minReadySeconds: 3, revisionHistoryLimit: 5 },
  });
  await fleet.run(SETTLED_MS);

  expect((await read("member1")).spec).toMatchObject({ minReadySeconds: 7, revisionHistoryLimit: 5, replicas: 2 });
});

test.each([
  { rule: "a path", statusReflection: { jsonPath: ".status" } },
  {
    rule: "a script",
    statusReflection: { luaScript: "function ReflectStatus(observedObj)\n  return observedObj.status\nend\n" },
  },
])(
  "a ReflectStatus rule with $rule that names no generations lets the hub observe a release",
  async (customization) => {
    await start();
    await customize({ statusReflection: customization.statusReflection });
    const { spec, ...template } = await read("hub");
    await fleet.client.update(CloneSetV1alpha1, "hub", { ...template, spec: { ...spec, replicas: 6 } });
    await fleet.run(SETTLED_MS);

    const [waited] = await Promise.all([wait(), fleet.run(SETTLED_MS)]);

    expect(waited).toMatchObject({ code: 0 });
    const { metadata, status } = await read("hub");
    expect(status).toMatchObject({ replicas: 6, updatedReplicas: 6, observedGeneration: metadata.generation });
  },
);

test("a wait runs the health rule of the version that the policy selects", async () => {
  await start();
  await customize({ healthInterpretation: { luaScript: "function InterpretHealth(o)\n  return false\nend\n" } });

  await Promise.all([
    expect(wait()).rejects.toThrow("CloneSet shop/web on member1, member2: its kind's health rule says Unhealthy"),
    fleet.run(5_000),
  ]);
  expect((await runCommand(fleet, "why", "cloneset/web", "-n", "shop")).text).toMatch(
    /PROBLEMS\n {2}none yet; this may pass: .*not healthy on member1.* for \d+s: InterpretHealth of .* says Unhealthy/,
  );
});

test("a wait names the ReflectStatus rule whose report does not count as healthy", async () => {
  await start();
  await customize({ statusReflection: { jsonPath: ".status.replicas" } });

  await Promise.all([
    expect(wait()).rejects.toThrow(
      "its members are healthy, but its status on the hub is not; the status comes from the ReflectStatus rule of ResourceInterpreterCustomization mine",
    ),
    fleet.run(SETTLED_MS),
  ]);
});

test("the failure of a ReviseReplica rule is over for `doctor` when the rule is corrected", async () => {
  await start();
  const failing = { replicaRevision: { luaScript: "function ReviseReplica(o, n) return o.spec.nowhere.count end" } };
  const doctor = () => runCommand(fleet, "doctor", "--only", "interpreters");

  await customize(failing);
  const during = await doctor();
  await fleet.client.patch(
    ResourceInterpreterCustomization,
    { cluster: "hub", name: "mine" },
    { spec: { customizations: { replicaRevision: { luaScript: REVISE } } } },
    { type: "merge" },
  );
  await fleet.run(SETTLED_MS);
  const after = await doctor();

  expect(during.text).toContain("DivideFailed");
  expect(during.code).toBe(1);
  expect(after.text).not.toContain("DivideFailed");
  expect(after.code).toBe(0);
  const { items: events } = await fleet.client.list(Event, { cluster: "hub", namespace: "shop" });
  expect(events.map(({ reason }) => reason)).toContain("DivideSucceed");
});

test("a status rule that fails keeps the last numbers, marks them as stale, and is reported until it works", async () => {
  await start();
  const before = (await read("hub")).status;
  const script = "function ReflectStatus(observedObj) return { replicas = observedObj.status.nowhere.replicas } end";

  await customize({ statusReflection: { luaScript: script } });
  // While the rule fails, the workload becomes unhealthy, and its Works change.
  const template = { spec: { containers: [{ name: "web", image: "web:broken" }] } };
  await fleet.client.patch(CloneSetV1alpha1, WEB, { spec: { template } }, { type: "merge" });
  await fleet.run(SETTLED_MS);
  const during = (await read("hub")).status;
  const failed = await fleet.client.get(ResourceBinding, { ...WEB, name: "web-cloneset" });
  const { members } = await fleet.client.get(Explanation, { ...WEB, name: "web-cloneset" });
  const reported = await ruleEvents();
  await fleet.client.delete(ResourceInterpreterCustomization, { cluster: "hub", name: "mine" });
  await fleet.run(SETTLED_MS);
  const after = await fleet.client.get(ResourceBinding, { ...WEB, name: "web-cloneset" });

  expect(members.map(({ stale }) => stale)).toEqual([true, true]);
  expect(during).toMatchObject({ replicas: 4, readyReplicas: before?.readyReplicas });
  expect(findCondition(failed.status?.conditions, "Stale")).toMatchObject({
    status: "True",
    reason: "ReflectStatusFailed",
    message: "the status has the last numbers of member1 (ReflectStatusFailed), member2 (ReflectStatusFailed)",
  });
  expect(reported).toEqual(["ReflectStatusFailed"]);
  expect(await ruleEvents()).toEqual(["ReflectStatusFailed", "ReflectStatusSucceed"]);
  expect(findCondition(after.status?.conditions, "Stale")).toMatchObject({ status: "False" });
});

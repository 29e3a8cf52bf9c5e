/** A plan of changes that do not show in the copies themselves: what members keep, and what a Retain rule adds. */
import { afterEach, expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { PropagationPolicy } from "@flotilla/karmada";
import { ConfigMap } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makePolicy } from "@flotilla/testing/builders.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";

const SETTLED_MS = 60_000;
const { signal } = new AbortController();
const c = { namespace: "default", name: "c" };

let fleet: TestFleet;
afterEach(() => fleet.stop());

const configMap = (): KubernetesObject =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: c, data: { mode: "ours" } }) as KubernetesObject;
const policy = (name: string, ...members: string[]): PropagationPolicy =>
  makePolicy(`default/${name}`)
    .selects("v1", "ConfigMap", "c")
    .duplicates(...members)
    .build();
const inputOf = (objects: readonly unknown[]) => ({
  manifests: objects as JsonObject[],
  without: [],
  namespace: "default",
});
const plan = (...objects: unknown[]): Promise<PlanResult> =>
  planInput(fleet.client, inputOf(objects), fleet.clock, signal);
async function apply(...objects: unknown[]): Promise<void> {
  await applyAll(fleet.client, inputOf(objects), { signal, whenRecorded: () => fleet.run(1_000) });
  await fleet.run(SETTLED_MS);
}
const dataOn = async (cluster: string): Promise<unknown> => (await fleet.client.get(ConfigMap, { ...c, cluster })).data;

test("what a Retain rule sets is planned where only the labels of the hub change, such as with another policy", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  await apply({
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "configmaps" },
    spec: {
      target: { apiVersion: "v1", kind: "ConfigMap" },
      customizations: {
        retention: {
          luaScript: "function Retain(desired, observed)\ndesired.data.mode = 'set'\nreturn desired\nend",
        },
      },
    },
  });
  // A new copy is not changed by the rule.
  await apply(policy("first", "member1"), configMap());
  const before = await dataOn("member1");
  const preempting = policy("second", "member1", "member2");
  const second = { ...preempting, spec: { ...preempting.spec, priority: 1, preemption: "Always" } };

  const { changes } = await plan(second);
  await apply(second);

  const planned = changes.find(({ cluster }) => cluster === "member1");
  expect([before, planned?.fields, await dataOn("member1")]).toEqual([
    { mode: "ours" },
    [{ path: "data.mode", before: "ours", after: "set" }],
    { mode: "set" },
  ]);
});

test("an object that the hub does not manage on a member is not planned to be deleted there", async () => {
  fleet = await startTestFleet({ members: ["member1", "member2"] });
  const theirs = { ...configMap(), data: { mode: "theirs" } } as unknown as ConfigMap;
  await fleet.client.create(ConfigMap, "member1", theirs);
  await apply(policy("all", "member1", "member2"), configMap());
  const moved = policy("all", "member2");

  const { changes, notes } = await plan(moved);
  await apply(moved);

  expect(changes).toEqual([]);
  expect(notes).toContainEqual("ConfigMap default/c: member1 keeps the object, which the hub does not manage there");
  expect(await dataOn("member1")).toEqual({ mode: "theirs" });
});

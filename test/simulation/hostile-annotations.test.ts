/** Users cannot forge Flotilla's records: its own annotations in a template or an override do not reach the members. */
import { afterEach, expect, test } from "vitest";
import { CloneSet } from "@flotilla/openkruise";
import { ConfigMap, Namespace } from "@flotilla/kubernetes";
import { OverridePolicy, PropagationPolicy } from "@flotilla/karmada";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makePolicy } from "@flotilla/testing/builders.ts";

const SETTLED_MS = 20_000;
const HOSTILE = {
  "flotilla.dev/released-from": "karmada-es-member1/another-owner",
  "flotilla.dev/rollout-stage": "0123456789abcdef/7@1/3-",
  "flotilla.dev/kept-template":
    '{"digest":"0123456789abcdef","template":{"spec":{"containers":[{"name":"evil","image":"evil:1"}]}}}',
  "flotilla.dev/leaving-ordinals": "0-5@1",
  "flotilla.dev/applied-digest": "forged",
  "flotilla.dev/moves": "[]",
  "resourcetemplate.karmada.io/managed-annotations": "forged",
  "resourcetemplate.karmada.io/managed-labels": "forged",
};

let fleet: TestFleet;
afterEach(() => fleet.stop());

function expectHonest({ metadata }: DeepReadonly<KubernetesObject>): void {
  const { annotations = {} } = metadata;
  for (const [name, value] of Object.entries(HOSTILE)) expect(annotations[name], name).not.toBe(value);
  expect(Object.keys(annotations)).not.toContain("flotilla.dev/released-from");
  const managed = annotations["resourcetemplate.karmada.io/managed-annotations"]?.split(",") ?? [];
  expect(managed).toEqual([...new Set(managed)]);
  expect(annotations["team"]).toBe("a");
}

test("forged records in a template, an override and a namespace are dropped, and the rest is propagated", async () => {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", annotations: { ...HOSTILE, team: "a" } },
  });
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("v1", "ConfigMap")
      .selects("apps.kruise.io/v1beta1", "CloneSet")
      .duplicates("member1")
      .build(),
  );
  await fleet.client.create(OverridePolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "OverridePolicy",
    metadata: { namespace: "shop", name: "forged" },
    spec: {
      resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }],
      overrideRules: [
        { overriders: { annotationsOverrider: [{ operator: "add", value: { ...HOSTILE, team: "a" } }] } },
      ],
    },
  });
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "settings" },
  });
  await fleet.client.create(
    CloneSet,
    "hub",
    makeCloneSet("shop/web")
      .replicas(3)
      .with(({ metadata }) => (metadata.annotations = { ...HOSTILE, team: "a" }))
      .build(),
  );
  await fleet.run(SETTLED_MS);

  expectHonest(await fleet.client.get(ConfigMap, { cluster: "member1", namespace: "shop", name: "settings" }));
  expectHonest(await fleet.client.get(CloneSet, { cluster: "member1", namespace: "shop", name: "web" }));
  expectHonest(await fleet.client.get(Namespace, { cluster: "member1", name: "shop" }));
  expect(
    (
      await fleet.client.get(CloneSet, { cluster: "member1", namespace: "shop", name: "web" })
    ).spec.template?.spec?.containers?.map(({ name }) => name),
  ).not.toContain("evil");
  fleet.resetWrites();
  await fleet.run(120_000);
  expect(fleet.writes()).toEqual([]);
});

/** Objects whose names are too long for derived names are not propagated, and this is reported. */
import { afterEach, expect, test } from "vitest";
import { ClusterPropagationPolicy, PropagationPolicy } from "@flotilla/karmada";
import { ClusterRole, ConfigMap, Deployment, Event, Namespace } from "@flotilla/kubernetes";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { explainUnbound } from "../../packages/cli/src/explain/explain-unbound.ts";
import { planInput } from "../../packages/cli/src/explain/plan-input.ts";

const SETTLED_MS = 20_000;
const LONG = "a".repeat(253);

let fleet: TestFleet;
afterEach(() => fleet.stop());

async function start(): Promise<void> {
  fleet = await startTestFleet({ members: ["member1"] });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
}
const reported = async (
  namespace: string,
  reason: string,
): Promise<{ about: string; message: string; count: number }[]> =>
  (await fleet.client.list(Event, { cluster: "hub", namespace })).items
    .filter((event) => event.reason === reason)
    .map(({ involvedObject, message = "", count = 1 }) => ({ about: involvedObject.kind ?? "", message, count }));
async function expectSilence(): Promise<void> {
  fleet.resetWrites();
  await fleet.run(600_000);
  expect(fleet.writes()).toEqual([]);
}

test("a ConfigMap with a too long name reports it, and so does its policy, without endless retries", async () => {
  await start();
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("v1", "ConfigMap").duplicates("member1").build(),
  );
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: LONG },
  });
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: "short" },
  });
  await fleet.run(SETTLED_MS);

  expect(await reported("shop", "ApplyPolicyFailed")).toMatchObject([
    { about: "ConfigMap", message: expect.stringContaining("which is too long"), count: 1 },
  ]);
  const { status } = await fleet.client.get(PropagationPolicy, { cluster: "hub", namespace: "shop", name: "all" });
  expect(status?.problems).toMatchObject([
    {
      kind: "ConfigMap",
      name: LONG,
      reason: "BindingNameInvalid",
      message: expect.stringContaining("shorten it by 1"),
    },
  ]);
  expect(
    (await fleet.client.list(ConfigMap, { cluster: "member1", namespace: "shop" })).items.map(
      ({ metadata }) => metadata.name,
    ),
  ).toContain("short");
  await expectSilence();
});

test("a plan reports it before it is applied, and the explanation afterwards", async () => {
  await start();
  const { signal } = new AbortController();
  const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: LONG } };
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all").selects("v1", "ConfigMap").duplicates("member1").build(),
  );
  await fleet.run(SETTLED_MS);

  const plan = await planInput(
    fleet.client,
    { manifests: [settings], without: [], namespace: "default" },
    fleet.clock,
    signal,
  );
  const made = await fleet.client.create(ConfigMap, "hub", settings);
  await fleet.run(SETTLED_MS);
  const explanation = await explainUnbound(fleet.client, made, fleet.clock, signal);

  expect(plan.changes).toEqual([]);
  expect(JSON.stringify(plan)).toContain("which is too long");
  expect(explanation.problems).toMatchObject([{ what: expect.stringContaining("which is too long") }]);
});

test("a ClusterRole whose name is invalid for a binding reports it", async () => {
  await start();
  await fleet.client.create(ClusterPropagationPolicy, "hub", {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterPropagationPolicy",
    metadata: { name: "roles" },
    spec: {
      resourceSelectors: [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: "shop_reader" }],
      placement: { clusterAffinity: { clusterNames: ["member1"] } },
    },
  });
  await fleet.client.create(ClusterRole, "hub", {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "shop_reader" },
    rules: [],
  });
  await fleet.run(SETTLED_MS);

  expect(
    (await fleet.client.get(ClusterPropagationPolicy, { cluster: "hub", name: "roles" })).status?.problems,
  ).toMatchObject([{ kind: "ClusterRole", name: "shop_reader", reason: "BindingNameInvalid" }]);
  await expectSilence();
});

test("a workload reports that a dependency cannot be propagated", async () => {
  await start();
  await fleet.client.create(
    PropagationPolicy,
    "hub",
    makePolicy("shop/all")
      .selects("apps/v1", "Deployment")
      .duplicates("member1")
      .with(({ spec }) => (spec.propagateDeps = true))
      .build(),
  );
  await fleet.client.create(ConfigMap, "hub", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "shop", name: LONG },
  });
  const needing = makeDeployment("shop/web").with(({ spec }) => {
    const [container] = spec.template.spec?.containers ?? [];
    if (container) container.envFrom = [{ configMapRef: { name: LONG } }];
  });
  await fleet.client.create(Deployment, "hub", needing.build());
  await fleet.run(SETTLED_MS);

  expect(await reported("shop", "SyncScheduleResultToDependenciesFailed")).toMatchObject([
    { about: "ResourceBinding", message: expect.stringContaining("which is too long"), count: 1 },
  ]);
  await expectSilence();
});

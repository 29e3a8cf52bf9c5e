/** ResourceDistributions on a simulated member. */
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import { ConfigMap, Namespace, Secret } from "@flotilla/kubernetes";
import { startKruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import type { KruiseMember } from "@flotilla/testing/member/kruise-member.ts";
import { MEMBER } from "@flotilla/testing/member/member.ts";
import { kruiseKinds } from "../openkruise.ts";
import { ResourceDistribution } from "./resourcedistribution-kind.ts";

type Targets = ResourceDistribution["spec"]["targets"];

let member: KruiseMember;
afterEach(() => member.stop());

const makeDistribution = (targets: Targets): ResourceDistribution => ({
  apiVersion: "apps.kruise.io/v1alpha1",
  kind: "ResourceDistribution",
  metadata: { name: "settings" },
  spec: {
    resource: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { mode: "fast" } },
    targets,
  },
});

const makeNamespace = (name: string, labels?: Record<string, string>): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels },
});

const named = (...names: string[]): { list: { name: string }[] } => ({ list: names.map((name) => ({ name })) });

async function start(targets: Targets): Promise<void> {
  member = await startKruiseMember({ customs: kruiseKinds, gates: { ResourceDistributionGate: true } });
  for (const name of ["blue", "green"])
    await member.client.create(Namespace, MEMBER, makeNamespace(name, { team: name }));
  await member.client.create(ResourceDistribution, MEMBER, makeDistribution(targets));
  await member.pass(2000);
}

const copies = async (): Promise<Record<string, string | undefined>> =>
  Object.fromEntries(
    (await member.client.list(ConfigMap, { cluster: MEMBER })).items
      .filter(({ metadata }) => metadata.name === "settings")
      .map(({ metadata, data }) => [metadata.namespace ?? "", data?.["mode"]]),
  );

const statusOf = async (): Promise<ResourceDistribution["status"]> =>
  (await member.client.get(ResourceDistribution, { cluster: MEMBER, name: "settings" }))
    .status as ResourceDistribution["status"];

const editTargets = async (targets: Targets): Promise<void> => {
  await member.client.patch(
    ResourceDistribution,
    { cluster: MEMBER, name: "settings" },
    [{ op: "replace", path: "/spec/targets", value: targets as JsonObject }],
    { type: "json" },
  );
  await member.pass(2000);
};

test("copies a ConfigMap to the included and the selected namespaces", async () => {
  await start({ includedNamespaces: named("blue"), namespaceLabelSelector: { matchLabels: { team: "green" } } });

  expect(await copies()).toEqual({ blue: "fast", green: "fast" });
  expect(await statusOf()).toMatchObject({ desired: 2, succeeded: 2, failed: 0, observedGeneration: 1 });
});

test("an excluded namespace gets no copy, and a namespace that joins later gets one", async () => {
  await start({ allNamespaces: true, excludedNamespaces: named("green") });

  await member.client.create(Namespace, MEMBER, makeNamespace("late"));
  await member.pass(2000);

  expect(await copies()).toMatchObject({ blue: "fast", late: "fast", "kube-system": "fast" });
  expect(await copies()).not.toHaveProperty("green");
});

test("the copy of a namespace that is no longer selected is deleted", async () => {
  await start({ includedNamespaces: named("blue", "green") });

  await editTargets({ includedNamespaces: named("green") });

  expect(await copies()).toEqual({ green: "fast" });
});

test("a copy that was edited or deleted is restored", async () => {
  await start({ includedNamespaces: named("blue", "green") });
  const at = (namespace: string) => ({ cluster: MEMBER, namespace, name: "settings" });

  await member.client.patch(ConfigMap, at("blue"), { data: { mode: "slow" } }, { type: "merge" });
  await member.client.delete(ConfigMap, at("green"), {});
  await member.pass(2000);

  expect(await copies()).toEqual({ blue: "fast", green: "fast" });
});

test("a ConfigMap of another owner is a conflict and stays unchanged, until it is deleted", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, gates: { ResourceDistributionGate: true } });
  await member.client.create(Namespace, MEMBER, makeNamespace("blue"));
  await member.client.create(ConfigMap, MEMBER, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "blue" },
    data: { mode: "own" },
  });
  await member.client.create(
    ResourceDistribution,
    MEMBER,
    makeDistribution({ includedNamespaces: named("blue", "gone") }),
  );
  await member.pass(2000);

  expect(await copies()).toEqual({ blue: "own" });
  expect(await statusOf()).toMatchObject({ desired: 2, succeeded: 0, failed: 2 });
  expect((await statusOf())?.conditions?.filter(({ status }) => status === "True")).toMatchObject([
    { type: "ConflictOccurred", failedNamespace: ["blue"] },
    { type: "NamespaceNotExists", failedNamespace: ["gone"] },
  ]);

  await member.client.delete(ConfigMap, { cluster: MEMBER, namespace: "blue", name: "settings" }, {});
  await member.pass(2000);

  expect(await copies()).toEqual({ blue: "fast" });
});

test("a converged ResourceDistribution writes nothing", async () => {
  await start({ allNamespaces: true });
  const versions = async () =>
    (await member.client.list(ConfigMap, { cluster: MEMBER })).items.map(({ metadata }) => metadata.resourceVersion);
  const before = await versions();

  await member.pass(600_000);

  expect(await versions()).toEqual(before);
});

test("a member without the gate rejects it and names the gate", async () => {
  member = await startKruiseMember({ customs: kruiseKinds });

  await expect(
    member.client.create(ResourceDistribution, MEMBER, makeDistribution({ allNamespaces: true })),
  ).rejects.toThrow("feature-gate ResourceDistributionGate is not enabled");
});

test("a Secret is copied with its type", async () => {
  member = await startKruiseMember({ customs: kruiseKinds, gates: { ResourceDistributionGate: true } });
  await member.client.create(Namespace, MEMBER, makeNamespace("blue"));
  await member.client.create(ResourceDistribution, MEMBER, {
    ...makeDistribution({ includedNamespaces: named("blue") }),
    spec: {
      resource: {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "settings" },
        type: "Opaque",
        data: { k: "dg==" },
      },
      targets: { includedNamespaces: named("blue") },
    },
  });
  await member.pass(2000);

  const copy = await member.client.get(Secret, { cluster: MEMBER, namespace: "blue", name: "settings" });
  expect(copy).toMatchObject({ type: "Opaque", data: { k: "dg==" } });
  expect(copy.metadata.annotations).toMatchObject({ "kruise.io/resourcedistribution.resource.from": "settings" });
});

/**
 * Arbitrary actions of users, members and crashes, in any order: once it is quiet, every claim names a policy that
 * selects the object, every target has its Work and every Work its target, members have what Works specify and nothing
 * else of ours, and nothing is written.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  PropagationPolicy,
  ResourceBinding,
  Work,
} from "@flotilla/karmada";
import { ClusterRole, Deployment, Namespace } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { PropagationSpec } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { createLastingEngine, startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeDeployment } from "@flotilla/testing/builders.ts";
import { runs } from "@flotilla/testing/runs.ts";

const MEMBERS = ["member1", "member2", "member3"];
const QUIET_MS = 15 * 60_000;
const RUNS = runs(12);

type Step =
  | { do: "template" | "remove template"; name: string; isCluster: boolean }
  | { do: "touch template"; name: string; text: string }
  | {
      do: "policy";
      name: string;
      isCluster: boolean;
      spec: Pick<PropagationSpec, "priority" | "preemption" | "activationPreference">;
      selects: string[];
      clusters: string[];
    }
  | { do: "remove policy"; name: string; isCluster: boolean }
  | { do: "away"; member: string }
  | { do: "back"; member: string }
  | { do: "remove a Work" }
  | { do: "restart" }
  | { do: "run"; ms: number };

const templateName = fc.constantFrom("web", "cart");
const policyName = fc.constantFrom("a", "b");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("template" as const, "template" as const, "remove template" as const),
      name: templateName,
      isCluster: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("touch template" as const),
      name: templateName,
      text: fc.constantFrom("x", "y"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("policy" as const),
      name: policyName,
      isCluster: fc.boolean(),
      spec: fc.record({
        priority: fc.integer({ min: 0, max: 3 }),
        preemption: fc.constantFrom("Never" as const, "Always" as const),
        activationPreference: fc.constantFrom("" as const, "" as const, "Lazy" as const),
      }) as fc.Arbitrary<Pick<PropagationSpec, "priority" | "preemption" | "activationPreference">>,
      selects: fc.subarray(["web", "cart"], { minLength: 1 }),
      clusters: fc.subarray(MEMBERS, { minLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("remove policy" as const), name: policyName, isCluster: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("away" as const, "back" as const)
      .chain((turn) => fc.record({ do: fc.constant(turn), member: fc.constantFrom(...MEMBERS) }) as fc.Arbitrary<Step>),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: "remove a Work" }, { do: "restart" }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("run" as const), ms: fc.constantFrom(1, 40, 2_000, 120_000) }) },
);

test(
  "after any history the fleet settles with consistent claims, bindings, Works and copies",
  { timeout: 120_000 },
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), play), {
      seed: 7,
      numRuns: RUNS,
    });
  },
);

async function play(steps: Step[]): Promise<void> {
  // The process restarts; the store stays.
  const engine = createLastingEngine();
  const away = new Set<string>();
  const wrap = (transport: Transport, part: string): Transport =>
    part !== "execute"
      ? transport
      : {
          ...transport,
          send: (request, signal) =>
            away.has(request.path.cluster)
              ? Promise.resolve().then(() => Promise.reject(new UnreachableError(`${request.path.cluster} is away`)))
              : transport.send(request, signal),
        };
  const open = (): Promise<TestFleet> => startTestFleet({ members: MEMBERS, engine, wrap });
  let fleet = await open();
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  for (const next of steps) {
    if (next.do === "restart") {
      await fleet.stop();
      fleet = await open();
    } else if (next.do === "run") await fleet.run(next.ms);
    else if (next.do === "away") away.add(next.member);
    else if (next.do === "back") away.delete(next.member);
    else await take(fleet, next);
  }
  away.clear();
  await fleet.run(QUIET_MS);
  await expectOrder(fleet);
  fleet.resetWrites();
  await fleet.run(QUIET_MS);
  expect(fleet.writes()).toEqual([]);
  await fleet.stop();
}

async function take(
  { client }: TestFleet,
  next: Exclude<Step, { do: "away" | "back" | "restart" | "run" }>,
): Promise<void> {
  try {
    if (next.do === "template") {
      if (next.isCluster)
        await client.create(ClusterRole, "hub", {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "ClusterRole",
          metadata: { name: next.name },
          rules: [],
        });
      else await client.create(Deployment, "hub", makeDeployment(`shop/${next.name}`).replicas(2).build());
    } else if (next.do === "remove template")
      await client.delete(next.isCluster ? ClusterRole : Deployment, {
        cluster: "hub",
        namespace: !next.isCluster ? "shop" : undefined,
        name: next.name,
      });
    else if (next.do === "touch template")
      await client.patch(
        Deployment,
        { cluster: "hub", namespace: "shop", name: next.name },
        { metadata: { labels: { touched: next.text } } },
        { type: "merge" },
      );
    else if (next.do === "remove policy")
      await client.delete(next.isCluster ? ClusterPropagationPolicy : PropagationPolicy, {
        cluster: "hub",
        namespace: !next.isCluster ? "shop" : undefined,
        name: next.name,
      });
    else if (next.do === "policy") await putPolicy(client, next);
    else {
      const [work] = (
        await client.list(Work, { cluster: "hub", labelSelector: "resourcebinding.karmada.io/permanent-id" })
      ).items;
      if (work)
        await client.delete(Work, {
          cluster: "hub",
          namespace: work.metadata.namespace ?? "",
          name: work.metadata.name,
        });
    }
  } catch (error) {
    // There is nothing to remove, or it already exists.
    if (!isNotFound(error) && !isAlreadyExists(error)) throw error;
  }
}

async function putPolicy(
  client: TestFleet["client"],
  { name, isCluster, spec, selects, clusters }: Extract<Step, { do: "policy" }>,
): Promise<void> {
  const kind = isCluster ? ClusterPropagationPolicy : PropagationPolicy;
  const metadata = { name, namespace: !isCluster ? "shop" : undefined };
  const resourceSelectors = selects.flatMap((selected) => [
    { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: selected },
    ...(isCluster ? [{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", name: selected }] : []),
  ]);
  const whole = { ...spec, resourceSelectors, placement: { clusterAffinity: { clusterNames: clusters } } };
  try {
    await client.create(kind, "hub", {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: kind.kind,
      metadata,
      spec: whole,
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await client.patch(kind, { cluster: "hub", ...metadata }, { spec: whole } as never, { type: "merge" });
  }
}

async function expectOrder({ client }: TestFleet): Promise<void> {
  const list = async (
    kind: Parameters<typeof client.list>[0],
    cluster = "hub",
  ): Promise<readonly DeepReadonly<KubernetesObject>[]> => (await client.list(kind, { cluster })).items;
  const idOf = ({ kind, metadata }: DeepReadonly<KubernetesObject>): string =>
    `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const templates = [
    ...(await list(Deployment)),
    ...(await list(ClusterRole)).filter(({ metadata }) => ["web", "cart"].includes(metadata.name)),
  ];
  const policies = (
    await Promise.all([list(PropagationPolicy), list(ClusterPropagationPolicy)])
  ).flat() as DeepReadonly<PropagationPolicy>[];
  const selectedBy = (template: DeepReadonly<KubernetesObject>): string[] =>
    policies
      .filter(({ spec }) =>
        spec.resourceSelectors.some(({ kind, name }) => kind === template.kind && name === template.metadata.name),
      )
      .map(({ metadata }) => claimId(metadata.labels) ?? "");

  for (const template of templates) {
    const claim = claimId(template.metadata.labels);
    const selecting = selectedBy(template);
    expect(selecting.length > 0 ? selecting : [undefined], idOf(template)).toContain(claim);
  }
  const bindings = (
    await Promise.all([list(ResourceBinding), list(ClusterResourceBinding)])
  ).flat() as DeepReadonly<ResourceBinding>[];
  const wanted = bindings.flatMap(({ spec }) =>
    (spec.clusters ?? []).map(({ name }) => `karmada-es-${name} ${spec.resource.kind} ${spec.resource.name}`),
  );
  const works = ((await list(Work)) as DeepReadonly<Work>[]).filter(
    ({ metadata }) => !metadata.labels?.["flotilla.dev/namespace"],
  );
  const made = works.map(({ metadata, spec }) => {
    const [manifest] = (spec.workload?.manifests ?? []) as unknown as DeepReadonly<KubernetesObject>[];
    return `${metadata.namespace} ${manifest?.kind} ${manifest?.metadata.name}`;
  });
  expect(made.sort()).toEqual(wanted.sort());
  for (const { spec, metadata } of bindings)
    expect(
      templates.map(({ metadata: { uid } }) => uid),
      metadata.name,
    ).toContain(spec.resource.uid);

  const copies: string[] = [];
  for (const member of MEMBERS)
    for (const kind of [Deployment, ClusterRole])
      for (const object of await list(kind, member))
        if (object.metadata.labels?.["karmada.io/managed"] === "true")
          copies.push(`karmada-es-${member} ${object.kind} ${object.metadata.name}`);
  expect(copies.sort()).toEqual(wanted.sort());
}

function claimId(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  return (
    labels?.["propagationpolicy.karmada.io/permanent-id"] ??
    labels?.["clusterpropagationpolicy.karmada.io/permanent-id"]
  );
}

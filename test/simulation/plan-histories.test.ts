/**
 * What a plan prints is what the members have afterwards: random histories of quotas of the hub and of members, rules
 * of several operations, releases, Namespaces, CRDs, ManifestWorks, Jobs that ran and policies of equal rank, each in a
 * namespace of its own on one fleet. The members' own objects are compared before and after an apply, so a change that
 * is printed and does not come fails as well as one that comes and is not printed.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createKindResolver, UnknownKindError } from "@flotilla/client";
import type { Client, KindResolver } from "@flotilla/client";
import { compareFields, FleetRollout, isBookkeeping } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runs } from "@flotilla/testing/runs.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { mayChangeMembers, planInput } from "../../packages/cli/src/explain/plan-input.ts";
import type { PlanResult } from "../../packages/cli/src/explain/plan-input.ts";

const HISTORIES = runs(10);
const SEED = Number(process.env["PLAN_SEED"] ?? 17);
const SETTLED_MS = 60_000;
const MEMBERS = ["member1", "member2", "member3"];
const KRUISE = "apps.kruise.io/v1alpha1";
const { signal } = new AbortController();

type Make = (namespace: string) => object;
interface Entry {
  /** Objects of one slot replace each other in a file. */
  slot: string;
  make: Make;
}

const name = fc.constantFrom("a", "b");
const image = fc.constantFrom("web:1", "web:2", "registry.example.com/shop/web:3");
const members = fc.subarray(MEMBERS, { minLength: 1 });
const sized = fc.record({
  name,
  image,
  replicas: fc.integer({ min: 0, max: 6 }),
  cpu: fc.constantFrom("100m", "500m"),
});
const entry = (slot: string, make: Make): Entry => ({ slot, make });

const withRequests =
  (cpu: string) =>
  ({ spec }: { spec: { template?: { spec?: unknown } } }): void => {
    const { containers = [] } = (spec.template?.spec ?? {}) as { containers?: { resources?: unknown }[] };
    for (const container of containers) container.resources = { requests: { cpu } };
  };

const deployment = sized.map((given) =>
  entry(`Deployment ${given.name}`, (namespace) =>
    makeDeployment(`${namespace}/${given.name}`)
      .replicas(given.replicas)
      .image(given.image)
      .labels({ release: "careful" })
      .with(withRequests(given.cpu))
      .build(),
  ),
);
const cloneSet = fc.tuple(sized, fc.integer({ min: 0, max: 4 })).map(([given, partition]) =>
  entry(`CloneSet ${given.name}`, (namespace) => {
    const set = makeCloneSet(`${namespace}/${given.name}`)
      .replicas(given.replicas)
      .image(given.image)
      .with(withRequests(given.cpu))
      .build();
    return { ...set, apiVersion: KRUISE, spec: { ...set.spec, updateStrategy: { partition } } };
  }),
);
const configMap = fc
  .record({ name, data: fc.dictionary(fc.constantFrom("k1", "k2"), fc.constantFrom("1", "2")) })
  .map((given) =>
    entry(`ConfigMap ${given.name}`, (namespace) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, name: given.name },
      data: given.data,
    })),
  );
const job = fc.record({ name, parallelism: fc.integer({ min: 1, max: 3 }) }).map((given) =>
  entry(`Job ${given.name}`, (namespace) => ({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace, name: given.name },
    spec: {
      parallelism: given.parallelism,
      completions: 4,
      template: { spec: { restartPolicy: "Never", containers: [{ name: "run", image: "run:1" }] } },
    },
  })),
);
const trout = fc.record({ name, size: fc.integer({ min: 1, max: 3 }) }).map((given) =>
  entry(`Trout ${given.name}`, (namespace) => ({
    apiVersion: "river.example.com/v1",
    kind: "Trout",
    metadata: { namespace, name: given.name },
    spec: { size: given.size },
  })),
);
const KINDS = [
  ["apps/v1", "Deployment"],
  [KRUISE, "CloneSet"],
  ["v1", "ConfigMap"],
  ["batch/v1", "Job"],
  ["river.example.com/v1", "Trout"],
] as const;

/** Several of equal rank select the same objects. */
const policy = fc
  .record({
    own: fc.constantFrom("a", "b", "c"),
    kind: fc.constantFrom(...KINDS),
    selects: fc.option(name, { nil: undefined }),
    divided: fc.boolean(),
    members,
    priority: fc.constantFrom(0, 0, 0, 1),
    preemption: fc.constantFrom("Never", "Never", "Always"),
  })
  .map(({ own, kind: [apiVersion, kind], selects, divided, members: to, priority, preemption }) =>
    entry(`PropagationPolicy ${kind}`, (namespace) => {
      const builder = makePolicy(`${namespace}/${kind.toLowerCase()}-${own}`).selects(apiVersion, kind, selects);
      const placed = divided
        ? builder.weights(Object.fromEntries(to.map((member, index) => [member, index + 1])))
        : builder.duplicates(...to);
      // Karmada accepts preemption from policies that name their objects only.
      const ranked = { priority, preemption: selects === undefined ? "Never" : preemption };
      return placed.with(({ spec }) => Object.assign(spec, ranked)).build();
    }),
  );

const override = fc
  .record({ own: name, kind: fc.constantFrom(...KINDS), members, value: fc.constantFrom("x", "y") })
  .map(({ own, kind: [apiVersion, kind], members: to, value }) =>
    entry(`OverridePolicy ${kind} ${own}`, (namespace) => ({
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { namespace, name: `${kind.toLowerCase()}-${own}` },
      spec: {
        resourceSelectors: [{ apiVersion, kind }],
        overrideRules: [
          {
            targetCluster: { clusterNames: to },
            overriders: { labelsOverrider: [{ operator: "add", value: { mirror: value } }] },
          },
        ],
      },
    })),
  );

/** A ResourceQuota of a member rejects what it has no room for. */
const ofMember = fc.record({
  clusterName: fc.constantFrom(...MEMBERS),
  hard: fc.constantFrom({ "count/configmaps": "2" }, { "count/jobs.batch": "1" }, { pods: "2" }),
});
const quota = fc.tuple(fc.constantFrom("1", "2", "10"), fc.option(ofMember)).map(([cpu, assigned]) =>
  entry("FederatedResourceQuota", (namespace) => ({
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "FederatedResourceQuota",
    metadata: { namespace, name: "team" },
    spec: {
      overall: { cpu, pods: "9", "count/configmaps": "9", "count/jobs.batch": "9" },
      staticAssignments: assigned === null ? [] : [assigned],
    },
  })),
);

const gated = fc.boolean().map((isGated) =>
  entry("RolloutStrategy", (namespace) => ({
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "RolloutStrategy",
    metadata: { namespace, name: "careful" },
    spec: {
      selector: { matchLabels: { release: "careful" } },
      waves: [
        {
          name: "first",
          clusters: { names: ["member2"] },
          ...defined({ before: isGated ? [{ approval: {} }] : undefined }),
        },
        { name: "rest", before: [{ approval: {} }] },
      ],
    },
  })),
);

/** The Namespace of a work is its cluster's, so its name has the history's. */
const manifestWork = fc
  .record({ member: fc.constantFrom(...MEMBERS), data: fc.constantFrom("1", "2"), second: fc.boolean() })
  .map(({ member, data, second }) =>
    entry(`ManifestWork ${member}`, (namespace) => ({
      apiVersion: "work.open-cluster-management.io/v1",
      kind: "ManifestWork",
      metadata: { namespace: member, name: `work-${namespace}` },
      spec: {
        workload: {
          manifests: ["one", ...(second ? ["two"] : [])].map((each) => ({
            apiVersion: "v1",
            kind: "ConfigMap",
            metadata: { namespace: "default", name: `work-${namespace}-${each}` },
            data: { value: data },
          })),
        },
      },
    })),
  );

/** Rules apply to all namespaces, and are the same in each history. */
const CUSTOMIZATIONS = [
  {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "keep-data" },
    spec: {
      target: { apiVersion: "v1", kind: "ConfigMap" },
      customizations: {
        retention: {
          luaScript: `
function Retain(desired, observed)
  if observed.data ~= nil and observed.data.k1 ~= nil then
    desired.data = desired.data or {}
    desired.data.k1 = observed.data.k1
  end
  return desired
end`,
        },
      },
    },
  },
  {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "trouts" },
    spec: {
      target: { apiVersion: "river.example.com/v1", kind: "Trout" },
      customizations: {
        replicaResource: { luaScript: "function GetReplicas(o) return o.spec.size, nil end" },
        replicaRevision: {
          luaScript: "function ReviseReplica(o, replicas) o.spec.size = replicas return o end",
        },
        healthInterpretation: { luaScript: "function InterpretHealth(o) return o.spec.size < 3 end" },
        statusAggregation: {
          luaScript: `
function AggregateStatus(desired, items)
  desired.status = { members = #items }
  return desired
end`,
        },
      },
    },
  },
  {
    apiVersion: "config.karmada.io/v1alpha1",
    kind: "ResourceInterpreterCustomization",
    metadata: { name: "clonesets" },
    spec: {
      target: { apiVersion: KRUISE, kind: "CloneSet" },
      customizations: {
        healthInterpretation: {
          luaScript: "function InterpretHealth(o) return o.status.readyReplicas == o.spec.replicas end",
        },
      },
    },
  },
];
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "trouts.river.example.com" },
  spec: {
    group: "river.example.com",
    names: { kind: "Trout", plural: "trouts", singular: "trout" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const CRD_POLICY = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterPropagationPolicy",
  metadata: { name: "crds" },
  spec: {
    resourceSelectors: [
      { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", name: CRD.metadata.name },
    ],
    placement: { clusterAffinity: { clusterNames: MEMBERS } },
  },
};

const given = fc.oneof(
  { weight: 4, arbitrary: deployment },
  { weight: 2, arbitrary: cloneSet },
  { weight: 2, arbitrary: configMap },
  { weight: 2, arbitrary: job },
  { weight: 2, arbitrary: trout },
  { weight: 6, arbitrary: policy },
  { weight: 2, arbitrary: override },
  { weight: 2, arbitrary: quota },
  { weight: 1, arbitrary: gated },
  { weight: 2, arbitrary: manifestWork },
);
const history = fc.array(fc.uniqueArray(given, { minLength: 1, maxLength: 7, selector: ({ slot }) => slot }), {
  minLength: 3,
  maxLength: 6,
});

test("the members' objects change as planned, and not otherwise", { timeout: 300_000 }, async () => {
  const fleet = await startTestFleet({ members: MEMBERS, nodes: 1 });
  try {
    const histories = fc.sample(history, { seed: SEED, numRuns: HISTORIES });
    for (const [index, steps] of histories.entries()) expect(await play(fleet, `h${index}`, steps)).toBe(steps.length);
  } finally {
    await fleet.stop();
  }
});

async function play(fleet: TestFleet, namespace: string, steps: readonly (readonly Entry[])[]): Promise<number> {
  const own = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
  for (const [step, entries] of steps.entries()) {
    // A quota that is raised first makes room for a workload that waits for it, before its change of the same file.
    const hasQuota = step > 0 && entries.some(({ slot }) => slot === "FederatedResourceQuota");
    const made = entries
      .filter(({ slot }) => !hasQuota || !/^(Deployment|CloneSet)/.test(slot))
      .map(({ make }) => make(namespace) as KubernetesObject);
    // The first file brings what the others need.
    const manifests = step === 0 ? [...made, CRD, CRD_POLICY, ...CUSTOMIZATIONS, own] : made;
    await planAndApply(fleet, namespace, manifests, `${namespace}, step ${step}`);
  }
  return steps.length;
}

async function planAndApply(
  fleet: TestFleet,
  namespace: string,
  manifests: readonly KubernetesObject[],
  where: string,
): Promise<void> {
  const input = { manifests: manifests as unknown as JsonObject[], without: [], namespace };
  const before = await objectsOf(fleet, namespace);
  const plan = await planInput(fleet.client, input, fleet.clock, signal);
  await applyAll(fleet.client, input, { signal, whenRecorded: () => fleet.run(1_000) });
  await fleet.run(SETTLED_MS);
  const after = await objectsOf(fleet, namespace);

  const shown = `${where}: ${JSON.stringify({ manifests, changes: plan.changes, problems: plan.problems, notes: plan.notes })}`;
  const seen = differencesBetween(before, after);
  expect(mismatches(plan, seen, after), shown).toEqual([]);
  // A release that waits changes its members later.
  const isReleased = plan.releases.some(({ waves }) => waves.some(({ clusters }) => clusters.length > 0));
  expect(mayChangeMembers(plan), shown).toBe(seen.size > 0 || isReleased);
  for (const release of plan.releases) await expectWaves(fleet, namespace, release, shown);
  const again = await planInput(fleet.client, input, fleet.clock, signal);
  expect([again.hub, again.changes], shown).toEqual([[], []]);
}

/** By member, kind and name: what users write of an object. */
type Objects = ReadonlyMap<string, JsonObject>;

const LISTED = [...KINDS, ["v1", "Namespace"]] as const;

async function objectsOf({ client }: TestFleet, namespace: string): Promise<Objects> {
  const objects = new Map<string, JsonObject>();
  for (const cluster of MEMBERS) {
    const kinds = createKindResolver({ client, cluster });
    for (const [apiVersion, kind] of LISTED) {
      for (const item of await listed(kinds, { apiVersion, kind }, client, cluster)) {
        const { metadata, spec, data } = item as DeepReadonly<KubernetesObject> & { spec?: unknown; data?: unknown };
        const isOwn =
          metadata.namespace === namespace ||
          metadata.name === namespace ||
          metadata.name.startsWith(`work-${namespace}-`);
        if (!isOwn) continue;
        const title = `${cluster} ${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`;
        const { labels, annotations } = metadata;
        objects.set(title, { spec, data, metadata: { labels, annotations } } as unknown as JsonObject);
      }
    }
  }
  return objects;
}

async function listed(
  kinds: KindResolver,
  ref: { apiVersion: string; kind: string },
  client: Client,
  cluster: string,
): Promise<readonly DeepReadonly<KubernetesObject>[]> {
  try {
    return (await client.list(await kinds.resolve(ref), { cluster })).items;
  } catch (error) {
    if (error instanceof UnknownKindError || isNotFound(error)) return []; // Its CRD is not there yet.
    throw error;
  }
}

interface Difference {
  action: "create" | "update" | "delete";
  paths: ReadonlySet<string>;
}

function differencesBetween(before: Objects, after: Objects): Map<string, Difference> {
  const found = new Map<string, Difference>();
  for (const title of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before.get(title), after.get(title)];
    if (!old || !next) found.set(title, { action: next ? "create" : "delete", paths: new Set() });
    else {
      const paths = new Set(compareFields(old, next, isOfMember).fields.map(({ path }) => path));
      if (paths.size > 0) found.set(title, { action: "update", paths });
    }
  }
  return found;
}

/** What the hub and the members' controllers write for each other. */
const isOfMember = (path: string): boolean =>
  isBookkeeping(path) ||
  /^metadata\.annotations\[(flotilla\.dev\/applied-digest|deployment\.kubernetes\.io|resourcetemplate|kubectl\.)/.test(
    path,
  );

/** Planned changes that did not come, and changes that were not planned. */
function mismatches({ changes }: PlanResult, seen: ReadonlyMap<string, Difference>, after: Objects): string[] {
  const planned = new Map<string, PlanResult["changes"][number]>(
    changes.map((change) => {
      const { kind, namespace, name: own } = change.object;
      return [`${change.cluster} ${kind} ${namespace ? `${namespace}/` : ""}${own}`, change] as const;
    }),
  );
  const wrong: string[] = [];
  for (const [title, { action, paths }] of seen) {
    const change = planned.get(title);
    if (change?.action !== action)
      wrong.push(`${title}: ${action} ${[...paths].join(", ")} was planned as ${change?.action ?? "nothing"}`);
    else if (action === "update") {
      for (const path of paths)
        if (!change.fields.some((field) => isAbout(field.path, path))) wrong.push(`${title}: ${path} was not planned`);
    } else if (action === "create") {
      const copy = JSON.stringify(after.get(title));
      for (const { path, after: value } of change.fields)
        if (value !== undefined && !copy.includes(JSON.stringify(value)))
          wrong.push(`${title}: ${path} was planned as ${JSON.stringify(value)}`);
    }
  }
  for (const [title, change] of planned) {
    if (title.includes(" CustomResourceDefinition ")) continue;
    const { paths } = seen.get(title) ?? {};
    if (!paths) wrong.push(`${title}: ${change.action} was planned and did not come`);
    else if (change.action === "update")
      for (const { path } of change.fields)
        if (![...paths].some((each) => isAbout(path, each))) wrong.push(`${title}: ${path} was planned and stays`);
    if (change.action !== "delete") continue;
    if (after.has(title)) wrong.push(`${title}: it was to be deleted`);
  }
  return wrong;
}

const isAbout = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

async function expectWaves(
  { client }: TestFleet,
  namespace: string,
  { resource, waves }: PlanResult["releases"][number],
  shown: string,
): Promise<void> {
  const { items } = await client.list(FleetRollout, { cluster: "hub", namespace });
  const own = items
    .filter(({ spec: { target } }) => resource === `${target.kind} ${namespace}/${target.name}`)
    .toSorted((a, b) => b.spec.number - a.spec.number)[0];
  const recorded = (own?.status?.plan ?? []).map((wave) => [wave.name, wave.updated, wave.clusters]);
  expect(recorded, shown).toEqual(waves.map((wave) => [wave.name, wave.updated, wave.clusters]));
}

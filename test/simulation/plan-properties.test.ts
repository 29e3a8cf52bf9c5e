/**
 * A plan predicts an apply, whatever is applied: for random workloads, policies, overrides and changes by other clients,
 * the fields that change on each member are the planned ones, the hub's objects change as planned, and a plan after the
 * apply says that nothing would change.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Cluster, Work } from "@flotilla/karmada";
import { Namespace } from "@flotilla/kubernetes";
import { dynamicKind } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, defined } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { compareFields, isBookkeeping } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { makeCloneSet, makeDeployment, makePolicy } from "@flotilla/testing/builders.ts";
import { runs, seedOr } from "@flotilla/testing/runs.ts";
import { applyAll } from "../../packages/cli/src/explain/apply-input.ts";
import { mayChangeMembers, planInput, type PlanResult } from "../../packages/cli/src/explain/plan-input.ts";

const RUNS = runs(10);
const SEED = seedOr(7);
const SETTLED_MS = 60_000;
const MEMBERS = ["member1", "member2", "member3"];
const NAMESPACE = "shop";
const VERSIONS = ["apps.kruise.io/v1alpha1", "apps.kruise.io/v1beta1"] as const;
const { signal } = new AbortController();

const version = fc.constantFrom(...VERSIONS);
const name = fc.constantFrom("a", "b");
const image = fc.constantFrom("web:1", "web:2", "registry.example.com/shop/web:3");
const replicas = fc.integer({ min: 0, max: 9 });
const labels = fc.dictionary(fc.constantFrom("team", "tier"), fc.constantFrom("x", "y"), { maxKeys: 2 });
const members = fc.subarray(MEMBERS, { minLength: 1 });

const deployment = fc
  .record({ name, image, replicas, labels })
  .map(({ name: own, ...given }) =>
    makeDeployment(`${NAMESPACE}/${own}`).replicas(given.replicas).image(given.image).labels(given.labels).build(),
  );

const cloneSet = fc
  .record({ name, version, image, replicas, labels, partition: fc.integer({ min: 0, max: 4 }) })
  .map(({ name: own, version: apiVersion, partition, ...given }) => {
    const set = makeCloneSet(`${NAMESPACE}/${own}`)
      .replicas(given.replicas)
      .image(given.image)
      .labels(given.labels)
      .build();
    const updateStrategy = apiVersion === VERSIONS[0] ? { partition } : { rollingUpdate: { partition } };
    return { ...set, apiVersion, spec: { ...set.spec, updateStrategy } };
  });

const statefulSet = fc
  .record({ name, image, replicas, labels, partition: fc.integer({ min: 0, max: 4 }) })
  .map(({ name: own, partition, ...given }) => {
    const { spec, metadata } = makeDeployment(`${NAMESPACE}/${own}`)
      .replicas(given.replicas)
      .image(given.image)
      .labels(given.labels)
      .build();
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition } };
    return {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata,
      spec: { ...spec, serviceName: own, updateStrategy },
    };
  });

const daemonSet = fc.record({ name, image, labels }).map((given) => {
  const { spec, metadata } = makeDeployment(`${NAMESPACE}/${given.name}`)
    .image(given.image)
    .labels(given.labels)
    .build();
  const { selector, template } = spec;
  return { apiVersion: "apps/v1", kind: "DaemonSet", metadata, spec: { selector, template } };
});

const configMap = fc
  .record({ name, labels, data: fc.dictionary(fc.constantFrom("k1", "k2", "k3"), fc.constantFrom("1", "2")) })
  .map(({ name: own, labels: given, data }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: NAMESPACE, name: own, labels: given },
    data,
  }));

/** Its pod template cannot be changed. */
const job = fc.record({ name, labels, parallelism: fc.integer({ min: 0, max: 6 }) }).map((given) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { namespace: NAMESPACE, name: given.name, labels: given.labels },
  spec: {
    parallelism: given.parallelism,
    template: { spec: { restartPolicy: "Never", containers: [{ name: "run", image: "run:1" }] } },
  },
}));

const sidecarSet = fc
  .record({ name, version, image, namespace: fc.option(fc.constantFrom("shop", "default"), { nil: undefined }) })
  .map(({ name: own, version: apiVersion, image: given, namespace }) => ({
    apiVersion,
    kind: "SidecarSet",
    metadata: { name: own },
    spec: {
      namespace: apiVersion === VERSIONS[0] && namespace !== undefined ? namespace : undefined,
      selector: { matchLabels: { app: own } },
      containers: [{ name: "proxy", image: given }],
    },
  }));

const KINDS = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "DaemonSet"],
  [VERSIONS[0], "CloneSet"],
  [VERSIONS[1], "CloneSet"],
  ["v1", "ConfigMap"],
  ["batch/v1", "Job"],
] as const;
const selected = fc.record({ kind: fc.constantFrom(...KINDS), name: fc.option(name, { nil: undefined }) });

const placed = fc.record({
  divided: fc.boolean(),
  members,
  weights: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 3, maxLength: 3 }),
  suspended: fc.integer({ min: 0, max: 5 }).map((value) => value === 0),
});

/** Two for each kind. The second preempts the first, so that the order in which they arrive does not matter. */
const policy = fc
  .record({ name, selects: selected, placed })
  .map(({ name: own, selects, placed: { divided, members: to, weights, suspended } }) => {
    const ranked = own === "a" ? { priority: 0 } : { priority: 1, preemption: "Always" };
    const [apiVersion, kind] = selects.kind;
    const selectedName = own === "a" ? selects.name : (selects.name ?? "a");
    const builder = makePolicy(`${NAMESPACE}/${kind.toLowerCase()}-${own}`).selects(apiVersion, kind, selectedName);
    const place = divided
      ? builder.weights(Object.fromEntries(to.map((member, index) => [member, weights[index] ?? 1])))
      : builder.duplicates(...to);
    return place
      .with(({ spec }) =>
        Object.assign(spec, { ...ranked, ...defined({ suspension: suspended ? { dispatching: true } : undefined }) }),
      )
      .build();
  });

const clusterPolicy = fc.record({ version, members }).map(({ version: apiVersion, members: to }) => ({
  ...makePolicy("x/x")
    .selects(apiVersion, "SidecarSet")
    .duplicates(...to)
    .build(),
  kind: "ClusterPropagationPolicy",
  metadata: { name: "sidecars" },
}));

const override = fc
  .record({ name, selects: selected, members, value: fc.constantFrom("mirror.example.com", "other.example.com") })
  .map(({ name: own, selects, members: to, value }) => {
    const [apiVersion, kind] = selects.kind;
    // Members reject a changed image of a Job.
    const overriders = ["ConfigMap", "Job"].includes(kind)
      ? { labelsOverrider: [{ operator: "add", value: { mirror: value } }] }
      : { imageOverrider: [{ component: "Registry", operator: "replace", value }] };
    return {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "OverridePolicy",
      metadata: { namespace: NAMESPACE, name: `${kind.toLowerCase()}-${own}` },
      spec: {
        resourceSelectors: [{ apiVersion, kind, ...defined({ name: selects.name }) }],
        overrideRules: [{ targetCluster: { clusterNames: to }, overriders }],
      },
    };
  });

const manifest = fc.oneof(
  { weight: 2, arbitrary: deployment },
  { weight: 4, arbitrary: cloneSet },
  { weight: 1, arbitrary: statefulSet },
  { weight: 1, arbitrary: daemonSet },
  { weight: 2, arbitrary: configMap },
  { weight: 1, arbitrary: job },
  { weight: 2, arbitrary: sidecarSet },
  { weight: 4, arbitrary: policy },
  { weight: 1, arbitrary: clusterPolicy },
  { weight: 2, arbitrary: override },
) as unknown as fc.Arbitrary<KubernetesObject>;

interface ApplyStep {
  do: "apply";
  manifests: KubernetesObject[];
  /** The hub reconciles everything after each write. */
  isSlow: boolean;
}
type Step =
  | ApplyStep
  /** Another client adds metadata to every template. */
  | { do: "annotate"; value: string }
  | { do: "taint"; member: string; isTainted: boolean };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("apply" as const),
      manifests: fc.uniqueArray(manifest, { minLength: 1, maxLength: 6, selector: slotOf }),
      isSlow: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("annotate" as const), value: fc.constantFrom("1", "2") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("taint" as const),
      member: fc.constantFrom(...MEMBERS),
      isTainted: fc.boolean(),
    }),
  },
);

function idOf({ kind, metadata: { namespace = "", name: own } }: DeepReadonly<KubernetesObject>): string {
  return `${kind} ${namespace}/${own}`;
}

/** One policy of a kind at a time: of two that change at once, the first may hand its objects to the second. */
function slotOf(object: DeepReadonly<KubernetesObject>): string {
  return object.kind === "PropagationPolicy" ? object.metadata.name.replace(/-.$/, "") : idOf(object);
}

test("applying changes exactly the planned fields on every member", { timeout: 300_000 }, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), play), {
    seed: SEED,
    numRuns: RUNS,
  });
});

async function play(steps: readonly Step[]): Promise<void> {
  const fleet = await startTestFleet({ members: MEMBERS });
  try {
    const shop = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
    await fleet.client.create(Namespace, "hub", shop);
    await fleet.run(SETTLED_MS);
    const applied = new Map<string, KubernetesObject>();
    for (const each of steps) {
      if (each.do === "apply") {
        await planAndApply(fleet, each);
        for (const object of each.manifests) applied.set(idOf(object), object);
      } else if (each.do === "annotate") await annotate(fleet, [...applied.values()], each.value);
      else await taint(fleet, each.member, each.isTainted);
      // The version in which an object was written last, and everything that others changed.
      expect(changesOf(await planOf(fleet, [...applied.values()]))).toEqual({ hub: [], members: [] });
    }
  } finally {
    await fleet.stop();
  }
}

async function planAndApply(fleet: TestFleet, { manifests, isSlow }: ApplyStep): Promise<void> {
  const before = await copiesOf(fleet);
  const plan = await planOf(fleet, manifests);

  const results = await applyAll(
    isSlow ? settlingBetweenWrites(fleet) : fleet.client,
    { manifests: manifests as unknown as JsonObject[], namespace: NAMESPACE },
    { signal },
  );
  await fleet.run(SETTLED_MS);

  const after = await copiesOf(fleet);
  const changed = await changesBetween(fleet, before, after);
  expect(changesOf(plan)).toEqual({
    hub: results
      .filter(({ outcome }) => outcome !== "unchanged")
      .map(({ object, outcome }) => `${outcome === "created" ? "create" : "update"} ${idOf(object)}`),
    members: changed,
  });
  expect(mayChangeMembers(plan)).toBe(changed.length > 0);
  for (const [place, { manifest: copied, suspended }] of after)
    if (!suspended) await expectOnMember(fleet, place, copied);
}

function settlingBetweenWrites({ client, run }: TestFleet): Client {
  const { create, patch, apply } = client;
  const settled = async <T>(written: Promise<T>): Promise<T> => {
    const object = await written;
    await run(1_000);
    return object;
  };
  return {
    ...client,
    create: (...args: Parameters<Client["create"]>) => settled(create(...args)),
    patch: (...args: Parameters<Client["patch"]>) => settled(patch(...args)),
    apply: (...args: Parameters<Client["apply"]>) => settled(apply(...args)),
  } as Client;
}

const planOf = (fleet: TestFleet, manifests: readonly KubernetesObject[]): Promise<PlanResult> =>
  planInput(
    fleet.client,
    { manifests: manifests as unknown as JsonObject[], without: [], namespace: NAMESPACE },
    fleet.clock,
    signal,
  );

/** Of a new copy, the fields of its content that differ from its template. */
const contentOf = (fields: readonly { path: string }[]): unknown[] =>
  fields.filter(({ path }) => /^(spec|data)\b/.test(path));

const changesOf = ({ hub, changes }: PlanResult): { hub: string[]; members: unknown[] } => ({
  hub: hub.map(({ action, object }) => `${action} ${object.kind} ${object.namespace ?? ""}/${object.name}`),
  members: changes
    .map(({ cluster, action, object, fields }) => ({
      where: `${cluster} ${object.kind} ${object.namespace ?? ""}/${object.name}`,
      action,
      fields: action !== "create" ? fields : object.kind === "Job" ? [] : contentOf(fields),
    }))
    .sort(byPlace),
});

interface Copy {
  manifest: KubernetesObject;
  suspended: boolean;
}

/** By member, kind, namespace and name. */
async function copiesOf({ client }: TestFleet): Promise<Map<string, Copy>> {
  const { items } = await client.list(Work, { cluster: "hub" });
  return new Map(
    items
      .filter(({ metadata }) => metadata.labels?.["flotilla.dev/namespace"] === undefined)
      .flatMap(({ metadata, spec }) =>
        ((spec.workload?.manifests ?? []) as unknown as KubernetesObject[]).map((each): [string, Copy] => [
          `${metadata.namespace?.replace("karmada-es-", "") ?? ""} ${idOf(each)}`,
          { manifest: each, suspended: spec.suspendDispatching ?? false },
        ]),
      ),
  );
}

async function changesBetween(
  fleet: TestFleet,
  before: ReadonlyMap<string, Copy>,
  after: ReadonlyMap<string, Copy>,
): Promise<unknown[]> {
  const shown = (copy: Copy): unknown => ({
    ...copy.manifest,
    ...defined({ suspendDispatching: copy.suspended ? true : undefined }),
  });
  const changes = await Promise.all(
    [...new Set([...before.keys(), ...after.keys()])].map(async (where) => {
      const [old, next] = [before.get(where), after.get(where)];
      if (!next) return [{ where, action: "delete", fields: [] }];
      if (!old) return [{ where, action: "create", fields: await differencesOf(fleet, next.manifest) }];
      const { fields } = compareFields(shown(old), shown(next), isBookkeeping);
      return fields.length > 0 ? [{ where, action: "update", fields }] : [];
    }),
  );
  return changes.flat().sort(byPlace);
}

/** How a copy differs from its template on the hub. */
async function differencesOf({ client }: TestFleet, copied: KubernetesObject): Promise<unknown[]> {
  const kind = await createKindResolver({ client, cluster: "hub" }).resolve(copied);
  const { namespace, name: own } = copied.metadata;
  const template = await client.get(kind, { cluster: "hub", namespace: namespace || undefined, name: own });
  const content = (object: object): unknown => {
    const { spec, data } = object as { spec?: unknown; data?: unknown };
    return { spec, data };
  };
  // Of a Job, the fields that its own server fills in are not copied.
  return copied.kind === "Job" ? [] : contentOf(compareFields(content(template), content(copied)).fields);
}

function byPlace(a: { where: string }, b: { where: string }): number {
  return a.where < b.where ? -1 : 1;
}

/** The member has every field of the copy. */
async function expectOnMember(fleet: TestFleet, place: string, copied: KubernetesObject): Promise<void> {
  const cluster = place.split(" ")[0] ?? "";
  const kind = await createKindResolver({ client: fleet.client, cluster }).resolve(copied);
  const { namespace, name: own } = copied.metadata;
  const found = await find(fleet.client, dynamicKind({ ...kind, version: kind.storageVersion }), {
    cluster,
    namespace: namespace || undefined,
    name: own,
  });
  for (const part of ["spec", "data"] as const)
    expect(
      missingFrom((found as unknown as JsonObject)?.[part], (copied as unknown as JsonObject)[part]),
      place,
    ).toEqual([]);
}

/** The paths of the wanted fields that an object lacks. */
function missingFrom(found: unknown, wanted: unknown, path = ""): string[] {
  if (isObject(wanted) && isObject(found))
    return Object.keys(wanted).flatMap((key) => missingFrom(found[key], wanted[key], `${path}.${key}`));
  if (Array.isArray(wanted) && Array.isArray(found) && wanted.length === found.length)
    return wanted.flatMap((each, index) => missingFrom(found[index], each, `${path}[${index}]`));
  const isEmpty = wanted === undefined || (isObject(wanted) && Object.keys(wanted).length === 0);
  return isEmpty || Object.is(found, wanted) ? [] : [path];
}

async function annotate(
  { client, run }: TestFleet,
  objects: readonly KubernetesObject[],
  value: string,
): Promise<void> {
  const kinds = createKindResolver({ client, cluster: "hub" });
  for (const { apiVersion, kind, metadata } of objects)
    await client.patch(
      await kinds.resolve({ apiVersion, kind }),
      { cluster: "hub", namespace: metadata.namespace || undefined, name: metadata.name },
      { metadata: { annotations: { "example.com/note": value }, labels: { "example.com/seen": value } } },
      { type: "merge", fieldManager: "other" },
    );
  await run(SETTLED_MS);
}

async function taint({ client, run }: TestFleet, member: string, isTainted: boolean): Promise<void> {
  const taints = isTainted ? [{ key: "example.com/full", effect: "NoSchedule" }] : [];
  await client.patch(Cluster, { cluster: "hub", name: member }, { spec: { taints } }, { type: "merge" });
  await run(SETTLED_MS);
}

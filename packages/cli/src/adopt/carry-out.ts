/**
 * Carries out an adoption plan. The template is applied last and with `flotilla.dev/unmanaged`, so that the hub
 * schedules it without changing any member. The annotation is removed only when the real Works match what the members
 * run. After a failure before that, what it created is deleted. Interrupting at any point leaves every member unchanged,
 * and the next run continues from there.
 */
import { findCondition, HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import {
  bindingName,
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
  TEMPLATE_GENERATION,
} from "@flotilla/karmada";
import type { Work } from "@flotilla/karmada";
import { equalJson, FlotillaError, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { compareFields, UNMANAGED } from "@flotilla/flotilla";
import type { Interpreter } from "@flotilla/flotilla";
import { valueAt } from "./differences.ts";
import { isDelivered, workOf } from "./hub-state.ts";
import type { Copy } from "./merge-copies.ts";
import { isRefused, forecastOf } from "./forecast.ts";
import type { Forecast, Resource } from "./forecast.ts";
import { adoptionName, MADE_FOR_ADOPTION } from "./policies.ts";
import { describeRefusal } from "./render-adoption.ts";
import { keyOf } from "./select.ts";
import type { Readers } from "./select.ts";
import { cleanUp } from "./clean-up.ts";
import type { CreatedObjects } from "./clean-up.ts";
import { titleOf } from "./strip.ts";
import type { Manifest } from "./strip.ts";
import type { Adopted, AdoptedMember } from "./adopted.ts";

interface CarryOut {
  client: Client;
  readers: Readers;
  interpreter: Pick<Interpreter, "retain">;
  /** Continue even if running workloads would change. */
  force: boolean;
  waitMs: number;
  clock: Clock;
  signal: AbortSignal;
  progress(text: string): void;
}

const POLL_MS = 250;
const POLICY_KINDS: Readonly<Record<string, Kind>> = Object.fromEntries(
  [PropagationPolicy, ClusterPropagationPolicy, OverridePolicy, ClusterOverridePolicy].map((kind) => [
    kind.kind,
    kind as Kind,
  ]),
);

export async function carryOut(resources: readonly Resource[], deps: CarryOut): Promise<Adopted[]> {
  const { client, signal, progress } = deps;
  const created: CreatedObjects = { policies: [], templates: [] };
  try {
    await createAll(resources, created, deps);
    progress("waiting for the hub to create the works");
    for (const resource of resources) await check(resource, await untilDispatched(resource, deps), deps);
  } catch (error) {
    throw await cleanUp(error, created, deps);
  }
  for (const resource of resources) await letThrough(client, resource, signal);
  progress("waiting for the members");
  const adopted: Adopted[] = [];
  for (const resource of resources) adopted.push({ resource, members: await untilDelivered(resource, deps) });
  return adopted;
}

/** Adds what it creates to `created`, also if it fails. */
async function createAll(
  resources: readonly Resource[],
  created: CreatedObjects,
  { client, signal }: Pick<CarryOut, "client" | "signal">,
): Promise<void> {
  for (const { overrides, policy } of resources)
    for (const manifest of [overrides, policy])
      if (manifest) created.policies.push(...(await applyPolicy(client, manifest, signal)));
  for (const resource of resources)
    if (!resource.isKnown) created.templates.push(createdOf(resource.kind, await createHeld(client, resource, signal)));
  for (const resource of resources) await bindPolicies(client, resource, signal);
}

const createdOf = (kind: Kind, object: DeepReadonly<KubernetesObject>): CreatedObjects["templates"][number] => ({
  kind,
  title: titleOf(object),
  namespace: object.metadata.namespace || undefined,
  name: object.metadata.name,
  uid: object.metadata.uid ?? "",
});

/**
 * Repairs a policy that an earlier run left incomplete; rejects a policy that selects other objects. The policy, if it
 * is a new one.
 */
async function applyPolicy(
  client: Client,
  manifest: JsonObject,
  signal: AbortSignal,
): Promise<CreatedObjects["policies"]> {
  const wanted = manifest as unknown as PropagationPolicy;
  const kind = POLICY_KINDS[wanted.kind] as Kind<PropagationPolicy>;
  const { namespace, name } = wanted.metadata;
  const existing = await find(client, kind, { cluster: HUB, namespace: namespace || undefined, name }, { signal });
  const selects = ({ spec }: DeepReadonly<PropagationPolicy>): unknown[] =>
    spec.resourceSelectors.map((selector) => [selector.kind, selector.name]);
  if (existing && !equalJson(selects(existing), selects(wanted)))
    throw new FlotillaError(
      "Adopt",
      `${titleOf(wanted)} already exists and selects other objects; rename it, or adopt with --policy ${name}`,
    );
  // A policy owned by an earlier template is about to be garbage-collected with it.
  if (existing?.metadata.ownerReferences?.length)
    await client.delete(
      kind,
      { cluster: HUB, namespace: namespace || undefined, name },
      { preconditions: { uid: existing.metadata.uid ?? "" }, signal },
    );
  const applied = await client.apply(kind, HUB, wanted, { force: true, signal });
  return existing?.metadata.uid === applied.metadata.uid ? [] : [createdOf(kind, applied)];
}

/**
 * Makes the template the owner of the policies created for it. Otherwise a later object of that name would be divided
 * by this one's weights.
 */
async function bindPolicies(client: Client, resource: Resource, signal: AbortSignal): Promise<void> {
  const { apiVersion, kind, metadata } = await client.get(
    resource.kind,
    { cluster: HUB, ...keyOf(resource) },
    { signal },
  );
  const owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? "" };
  for (const policyKind of metadata.namespace
    ? [PropagationPolicy, OverridePolicy]
    : [ClusterPropagationPolicy, ClusterOverridePolicy]) {
    const key = { cluster: HUB, namespace: metadata.namespace || undefined, name: adoptionName(resource) };
    const policy = await find<KubernetesObject>(client, policyKind, key, { signal });
    if (
      policy?.metadata.annotations?.[MADE_FOR_ADOPTION] === undefined ||
      policy.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)
    )
      continue;
    await client.patch(policyKind, key, { metadata: { ownerReferences: [owner] } }, { type: "merge", signal });
  }
}

async function createHeld(
  client: Client,
  { kind, template }: { kind: Kind; template: Manifest },
  signal: AbortSignal,
): Promise<DeepReadonly<KubernetesObject>> {
  const { metadata } = template;
  const held = {
    ...template,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [UNMANAGED]: "true" } },
  };
  return client.create(kind, HUB, held, { signal });
}

async function letThrough(client: Client, resource: Resource, signal: AbortSignal): Promise<void> {
  await client.patch(
    resource.kind,
    { cluster: HUB, ...keyOf(resource) },
    { metadata: { annotations: { [UNMANAGED]: null } } },
    { type: "merge", signal },
  );
}

/** Waits for the Works of the newest template, one per member. */
async function untilDispatched(resource: Resource, deps: CarryOut): Promise<DeepReadonly<Work>[]> {
  const { client, waitMs, clock, signal } = deps;
  const untilMs = clock.now() + waitMs;
  for (;;) {
    const template = await client.get(resource.kind, { cluster: HUB, ...keyOf(resource) }, { signal });
    const works = await Promise.all(resource.copies.map(({ cluster }) => workOf(client, resource, cluster, signal)));
    const generation = String(template.metadata.generation ?? 0);
    const current = works.filter(
      (work) =>
        work !== undefined &&
        valueAt(work.spec.workload?.manifests?.[0], ["metadata", "annotations", TEMPLATE_GENERATION]) === generation,
    );
    if (current.length === works.length) return current as DeepReadonly<Work>[];
    if (clock.now() >= untilMs)
      throw new FlotillaError(
        "Adopt",
        `the hub created ${current.length} of ${works.length} works for ${titleOf(resource.template)} ` +
          `within ${waitMs / 1000} s: ${await withoutWorks(resource, deps)}` +
          (resource.isKnown ? "; run the same command again to continue" : ""),
      );
    deps.progress(`the hub has created ${current.length} of ${works.length} works of ${titleOf(resource.template)}`);
    await sleep(clock, POLL_MS, signal);
  }
}

async function withoutWorks(resource: Resource, deps: CarryOut): Promise<string> {
  const conditions = (await bindingOf(resource, deps))?.status?.conditions ?? [];
  const dispatched = findCondition(conditions, "Dispatched");
  return (
    (dispatched?.status === "False" ? dispatched.message : undefined) ??
    findCondition(conditions, "Scheduled")?.message ??
    "no policy matches it yet"
  );
}

function bindingOf(
  resource: Resource,
  { client, signal }: CarryOut,
): Promise<DeepReadonly<ResourceBinding> | undefined> {
  const { namespace, name } = keyOf(resource);
  const kind = namespace ? ResourceBinding : (ClusterResourceBinding as unknown as Kind<ResourceBinding>);
  return find(
    client,
    kind,
    { cluster: HUB, namespace: namespace || undefined, name: bindingName(resource.kind.kind, name) },
    { signal },
  );
}

/** The last check before a member changes: compares the real Works with what runs now. */
async function check(resource: Resource, works: readonly DeepReadonly<Work>[], deps: CarryOut): Promise<void> {
  const copies = (await Promise.all(resource.copies.map((copy) => readAgain(resource, copy, deps)))) as [
    Copy,
    ...Copy[],
  ];
  const forecast: Forecast = await forecastOf(
    { ...resource, copies },
    works,
    deps.interpreter,
    await elsewhere(resource, deps),
  );
  if (isRefused(forecast) && !deps.force)
    throw new FlotillaError(
      "Adopt",
      describeRefusal(forecast) +
        (resource.isKnown
          ? `. The template was on the hub before: delete it, which does not affect members while it has ${UNMANAGED}, ` +
            "and adopt the object again"
          : ""),
    );
}

/** A released template is propagated to all of its members, including members that were not compared. */
async function elsewhere(resource: Resource, deps: CarryOut): Promise<string[]> {
  const template = await deps.client.get(resource.kind, { cluster: HUB, ...keyOf(resource) }, { signal: deps.signal });
  if (template.metadata.annotations?.[UNMANAGED] === undefined) return [];
  const { clusters = [], requiredBy = [] } = (await bindingOf(resource, deps))?.spec ?? {};
  const known = new Set(resource.copies.map(({ cluster }) => cluster));
  const others = new Set(
    [...clusters, ...requiredBy.flatMap((each) => each.clusters ?? [])]
      .map(({ name }) => name)
      .filter((name) => !known.has(name)),
  );
  return others.size > 0
    ? [`it is also propagated to ${[...others].join(", ")}; list all of its members in --from`]
    : [];
}

async function readAgain(resource: Resource, copy: Copy, { readers }: CarryOut): Promise<Copy> {
  const { cluster, object } = copy;
  const now = await readers.get(cluster)?.get(resource.kind, keyOf(resource));
  if (now?.metadata.uid !== object.metadata.uid)
    throw new FlotillaError("Adopt", `${titleOf(object)} was deleted on ${cluster} during the adoption`);
  return { ...copy, object: now ?? object };
}

async function untilDelivered(resource: Resource, deps: CarryOut): Promise<AdoptedMember[]> {
  const { client, waitMs, clock, signal } = deps;
  const untilMs = clock.now() + waitMs;
  for (;;) {
    const now = await Promise.all(resource.copies.map((copy) => readAgain(resource, copy, deps)));
    const waiting = now.filter((copy) => !isDelivered(resource, copy));
    if (waiting.length === 0)
      return now.map((copy, index) => adoptedMember(resource, resource.copies[index] ?? copy, copy));
    if (clock.now() >= untilMs) {
      const reasons = await Promise.all(
        waiting.map(
          async ({ cluster }) =>
            `${cluster}: ` +
            (findCondition((await workOf(client, resource, cluster, signal))?.status?.conditions ?? [], "Applied")
              ?.message ?? "its Work has no status yet"),
        ),
      );
      throw new FlotillaError(
        "Adopt",
        `${titleOf(resource.template)} is not managed by the hub after ${waitMs / 1000} s: ${reasons.join("; ")}. ` +
          `The hub keeps retrying, and 'flotilla why' explains it. To undo the adoption, set the annotation ${UNMANAGED}=true ` +
          "on the template and delete it: members keep what they run",
      );
    }
    deps.progress(
      `${titleOf(resource.template)} is not managed yet on ${waiting.map(({ cluster }) => cluster).join(", ")}`,
    );
    await sleep(clock, POLL_MS, signal);
  }
}

function adoptedMember(
  { replicas }: Resource,
  { cluster, object: before, isAutoscaled }: Copy,
  { object: after }: Copy,
): AdoptedMember {
  const count = replicas?.get(cluster);
  const isSame = (...steps: string[]): boolean => equalJson(valueAt(before, steps), valueAt(after, steps));
  return {
    cluster,
    replicas: count,
    isUnchanged:
      isSame("spec", "template") &&
      (isAutoscaled === true || isSame("spec", "replicas")) &&
      isSame("status", "updateRevision"),
    fields: compareFields(
      { spec: valueAt(before, ["spec"]) },
      { spec: valueAt(after, ["spec"]) },
      (path) => isAutoscaled === true && path === "spec.replicas",
    ).fields,
  };
}

/**
 * Decides which objects the hub gets for workloads that members run, and predicts with a dry run of the hub's own
 * matcher, scheduler, division and overrides what that would change on the members. Read-only.
 */
import { Namespace } from "@flotilla/kubernetes";
import { CLUSTER_POLICY_ID, CONFLICT_RESOLUTION, POLICY_ID, ResourceInterpreterCustomization } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { Interpreter, TemplatePlan } from "@flotilla/flotilla";
import { createHubInterpreter } from "../explain/hub-interpreter.ts";
import type { HubInterpreter } from "../explain/hub-interpreter.ts";
import { planManifests } from "../explain/plan-input.ts";
import { keepingOverrider } from "./differences.ts";
import { knownOf } from "./hub-state.ts";
import type { Live } from "./member-reader.ts";
import { mergeCopies } from "./merge-copies.ts";
import { isRefused, forecastOf } from "./forecast.ts";
import type { Forecast, Resource } from "./forecast.ts";
import { adoptionName, overridePolicy, propagationPolicy } from "./policies.ts";
import { findNeeded, isClustersOwn, titleOfFound } from "./select.ts";
import type { Found, Readers } from "./select.ts";
import { strip, titleOf } from "./strip.ts";
import type { Manifest } from "./strip.ts";

interface AdoptionOptions {
  readers: Readers;
  /** Adopt the objects' dependencies too. */
  deps: boolean;
  /** Keep differences between members with an OverridePolicy. */
  overrides: boolean;
  force: boolean;
  scope?: "cluster" | "fleet";
  /** An existing policy; if unset, one is created per object. */
  policy?: string;
}

export interface AdoptionPlan {
  /** Dependencies come before their dependents. */
  forecasts: readonly Forecast[];
  /** Objects that are already adopted. */
  adopted: readonly string[];
  notes: readonly string[];
}

/** The most dependencies one object may have; more indicate a mistake in its template. */
const MAX_NEEDED = 500;
/** The first pass finds the differences, the second what a replaced override policy has kept until now. */
const OVERRIDE_PASSES = 2;
/** Set on a template that a policy has claimed. */
const CLAIMS = [POLICY_ID, CLUSTER_POLICY_ID];

/** Loads the interpreter rules of the hub. */
export async function readInterpreter(client: Client, clock: Clock, signal: AbortSignal): Promise<HubInterpreter> {
  const { items } = await client.list(ResourceInterpreterCustomization, { cluster: HUB, signal });
  return createHubInterpreter({ customizations: items }, clock);
}

export async function planAdoption(
  client: Client,
  found: readonly Found[],
  options: AdoptionOptions,
  interpreter: Interpreter,
  clock: Clock,
  signal: AbortSignal,
): Promise<AdoptionPlan> {
  const adopted: string[] = [];
  const notes: string[] = [];
  const byTitle = new Map<string, Resource>();
  for (const each of found) {
    const resource = await resourceOf(client, each, options, interpreter, signal);
    if (resource === "adopted") {
      adopted.push(titleOfFound(each));
      continue;
    }
    for (const needed of await neededBy(client, resource, options, interpreter, notes, signal))
      if (!byTitle.has(titleOfFound(needed))) byTitle.set(titleOfFound(needed), needed);
    byTitle.set(titleOfFound(each), resource);
  }
  // An object named on the command line gets its own policy, even if another object depends on it.
  const resources = [...byTitle.values()];
  if (resources.length === 0) return { forecasts: [], adopted, notes };
  await checkNamespaces(client, resources, signal);
  let forecasts = await predictChanges(client, resources, options, interpreter, clock, signal);
  for (let pass = 0; options.overrides && pass < OVERRIDE_PASSES && forecasts.some(isRefused); pass++) {
    forecasts = await predictChanges(client, forecasts.map(withOverrides), options, interpreter, clock, signal);
  }
  return { forecasts, adopted, notes };
}

async function resourceOf(
  client: Client,
  found: Found,
  { force, scope, policy, deps }: AdoptionOptions,
  interpreter: Interpreter,
  signal: AbortSignal,
): Promise<Resource | "adopted"> {
  const known = await knownOf(client, found, { force }, signal);
  if (known.state === "adopted") return "adopted";
  const { template, replicas } = await mergeCopies(found.copies, interpreter, scope);
  const head = { ...found, replicas };
  // An earlier run may have stopped before its policy claimed the template.
  if (known.state !== "absent" && (known.state !== "held" || isClaimed(known.template)))
    return { ...head, template: strip(known.template), isKnown: true };
  const idle = found.copies.length > 1 ? found.copies.find(({ cluster }) => replicas?.get(cluster) === 0) : undefined;
  if (idle)
    throw new FlotillaError(
      "Adopt",
      `${titleOfFound(found)} has no replicas on ${idle.cluster}, so its weight there is unknown; leave ${idle.cluster} out of --from`,
    );
  const isKnown = known.state !== "absent";
  if (policy !== undefined) return { ...head, template: withOverwrite(template), isKnown };
  const clusters = found.copies.map(({ cluster }) => cluster);
  return {
    ...head,
    template,
    isKnown,
    policy: propagationPolicy({ kind: found.kind, template, clusters, propagateDeps: deps, replicas }),
  };
}

const isClaimed = ({ metadata: { labels = {} } }: Live): boolean => CLAIMS.some((claim) => labels[claim]);

/** An existing policy may not overwrite members' objects; the template's annotation allows it. */
function withOverwrite(template: Manifest): Manifest {
  return {
    ...template,
    metadata: {
      ...template.metadata,
      annotations: { ...template.metadata.annotations, [CONFLICT_RESOLUTION]: "overwrite" },
    },
  };
}

/** The dependencies of a resource that its members have. */
async function neededBy(
  client: Client,
  resource: Resource,
  { readers, deps, force }: AdoptionOptions,
  interpreter: Interpreter,
  notes: string[],
  signal: AbortSignal,
): Promise<Resource[]> {
  const all = await interpreter.dependencies(resource.template);
  const references = all.filter(({ name }) => name !== undefined);
  if (references.length > MAX_NEEDED)
    throw new FlotillaError(
      "Adopt",
      `${titleOf(resource.template)} depends on ${references.length} objects, more than the limit of ${MAX_NEEDED}; adopt it without --deps`,
    );
  if (!deps) {
    if (references.length > 0)
      notes.push(
        `${titleOf(resource.template)} depends on ` +
          `${references.map(({ kind, name }) => `${kind} ${name}`).join(", ")}, which stay unmanaged on the ` +
          "members; --deps adopts them too",
      );
    return [];
  }
  for (const { kind, labelSelector } of all)
    if (labelSelector) notes.push(`${titleOf(resource.template)} selects ${kind}s by label; adopt them separately`);
  const kinds = createKindResolver({ client, cluster: HUB });
  const own: Readers = new Map(
    [...readers].filter(([cluster]) => resource.copies.some((copy) => copy.cluster === cluster)),
  );
  const needed: Resource[] = [];
  for (const { apiVersion, kind: name, namespace, name: object = "" } of references) {
    const kind = await kinds.resolve({ apiVersion, kind: name });
    const found = await findNeeded(kind, { namespace: namespace || undefined, name: object }, own);
    if (!found) notes.push(`${titleOf(resource.template)} refers to ${name} ${object}, which no member has`);
    else if (!isClustersOwn(found.copies[0].object)) {
      const known = await knownOf(client, found, { force, isNeeded: true }, signal);
      const template =
        known.state === "absent" ? (await mergeCopies(found.copies, interpreter)).template : strip(known.template);
      needed.push({ ...found, template, isKnown: known.state !== "absent", neededBy: titleOf(resource.template) });
    }
  }
  return needed;
}

/**
 * A dry run needs the namespace. Creating it is left to the user, because the hub propagates its namespaces to every
 * member.
 */
async function checkNamespaces(client: Client, resources: readonly Resource[], signal: AbortSignal): Promise<void> {
  for (const namespace of new Set(resources.flatMap(({ template }) => template.metadata.namespace ?? []))) {
    if (!(await find(client, Namespace, { cluster: HUB, name: namespace }, { signal })))
      throw new FlotillaError(
        "NoNamespace",
        `namespace ${namespace} does not exist on the hub; create it with 'kubectl create namespace ` +
          `${namespace}', which creates it on every member that lacks it and changes no existing one`,
      );
  }
}

/** In apply order: everything that affects the template exists before the template. */
export function manifestsOf(resources: readonly Resource[]): JsonObject[] {
  const fresh = resources.filter(({ isKnown }) => !isKnown);
  return [
    ...resources.flatMap(({ overrides }) => (overrides ? [overrides] : [])),
    ...resources.flatMap(({ policy }) => (policy ? [policy] : [])),
    ...fresh.map(({ template }) => template as unknown as JsonObject),
  ];
}

async function predictChanges(
  client: Client,
  resources: readonly Resource[],
  { policy }: AdoptionOptions,
  interpreter: Interpreter,
  clock: Clock,
  signal: AbortSignal,
): Promise<Forecast[]> {
  const { plan } = await planManifests(
    client,
    { manifests: manifestsOf(resources), without: [], namespace: "default" },
    clock,
    signal,
  );
  return Promise.all(
    resources.map(async (resource) => {
      const planned = plan.templates.find(
        ({ template }) =>
          titleOf(template) === titleOf(resource.template) &&
          template.apiVersion.split("/")[0] === resource.template.apiVersion.split("/")[0],
      );
      return forecastOf(resource, planned?.works.after ?? [], interpreter, [
        ...(planned?.problems ?? []),
        ...otherPolicy(resource, planned, policy),
      ]);
    }),
  );
}

/** Another policy that claimed the object would move it. */
function otherPolicy(resource: Resource, planned: TemplatePlan | undefined, named: string | undefined): string[] {
  if (resource.isKnown || resource.neededBy || planned?.match.outcome !== "matched") return [];
  const { kind, metadata, spec } = planned.match.policy;
  const wanted = named ?? adoptionName(resource);
  if (metadata.name === wanted) return [];
  return [
    `${kind} ${metadata.name} (priority ${spec.priority ?? 0}) would claim it instead of ${wanted}; adopt it ` +
      `with --policy ${metadata.name}, or lower that priority`,
  ];
}

/**
 * Adds overrides for fields that would change on a member. Secret values must not appear in any other object, and
 * replicas are set by the policy.
 */
function withOverrides({ resource, members }: Forecast): Resource {
  if (resource.isKnown || resource.template.kind === "Secret") return resource;
  const kept = new Map(resource.kept);
  for (const { cluster, refused } of members) {
    const more = refused
      .filter(({ steps }) => steps.length > 1 && steps.join(".") !== "spec.replicas")
      .map(keepingOverrider);
    if (more.length > 0) kept.set(cluster, [...(kept.get(cluster) ?? []), ...more]);
  }
  return kept.size === 0 ? resource : { ...resource, kept, overrides: overridePolicy(resource, kept) };
}

/** Reads the ResourceQuotas of the members' namespaces in which a plan adds something, and says which have no room. */
import { gvkOf, isNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import type { ResourceQuota } from "@flotilla/kubernetes";
import { planMemberQuota, worksOf } from "@flotilla/flotilla";
import type { CopyGrowth, FleetPlan, Interpreter, MemberChange, SizedCopy } from "@flotilla/flotilla";
import { ask } from "../members/ask.ts";
import { createDiscovery, typeOfManifest } from "../members/discovery.ts";
import { askEach } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { Place } from "../members/members-places.ts";
import type { PlanProblem } from "./own-changes.ts";

/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;

interface Dependencies {
  client: Client;
  interpreter: Pick<Interpreter, "replicas">;
  clock: Clock;
  signal: AbortSignal;
}

export async function quotaProblems(
  plan: FleetPlan,
  changes: readonly MemberChange[],
  { client, interpreter, clock, signal }: Dependencies,
): Promise<{ problems: PlanProblem[]; notes: string[] }> {
  const growing = changes.filter(({ action, object: { namespace } }) => action !== "delete" && namespace !== undefined);
  if (growing.length === 0) return { problems: [], notes: [] };
  const byCluster = Map.groupBy(growing, ({ cluster }) => cluster);
  const asking = { client, clock, responseTimeoutMs: TIMEOUT_MS, signal };
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const quotasIn = async (place: Place, namespace: string): Promise<DeepReadonly<ResourceQuota>[]> => {
    try {
      const { items } = await ask(asking, place, `/api/v1/namespaces/${encodeURIComponent(namespace)}/resourcequotas`);
      return (items ?? []) as unknown as DeepReadonly<ResourceQuota>[];
    } catch (error) {
      if (isNotFound(error)) return []; // The namespace is new.
      throw error;
    }
  };
  const places = (await findPlaces(client, [], signal)).filter(({ name }) => byCluster.has(name));
  const { answers, failures } = await askEach(places, signal, async (place) => {
    const problems: PlanProblem[] = [];
    // Deletions make room, so they count, too.
    const here = changes.filter(({ cluster }) => cluster === place.name);
    for (const [namespace = "", own] of Map.groupBy(here, ({ object }) => object.namespace)) {
      if (!own.some((change) => growing.includes(change))) continue;
      const quotas = await quotasIn(place, namespace);
      if (quotas.length === 0) continue;
      const copies = await Promise.all(
        own.map(async (change): Promise<CopyGrowth> => ({
          ...(await growthOf(plan, change, interpreter)),
          plural:
            change.action === "create" ? (await typeOfManifest(discovery, place, change.object))?.plural : undefined,
        })),
      );
      for (const { resource, message } of planMemberQuota(quotas, copies, clock.now()))
        problems.push({ resource, message: `${place.name} would reject some of it: ${message}` });
    }
    return problems;
  });
  return {
    problems: answers.flatMap(({ answer }) => answer),
    notes: failures
      .filter(({ isAway, isOutOfReach }) => !isAway && !isOutOfReach)
      .map(({ place, reason }) => `${place.name}: its ResourceQuotas were not checked: ${reason}`),
  };
}

async function growthOf(
  plan: FleetPlan,
  change: MemberChange,
  interpreter: Dependencies["interpreter"],
): Promise<CopyGrowth> {
  const { kind, namespace, name, apiVersion } = change.object;
  const { before, after } = worksOf(plan, change);
  const sized = async (work: typeof before): Promise<SizedCopy | undefined> => {
    const copy = work?.spec.workload?.manifests?.[0] as unknown as DeepReadonly<KubernetesObject> | undefined;
    return copy && { copy, pods: await podsOf(copy, interpreter) };
  };
  return {
    resource: `${kind} ${namespace ? `${namespace}/` : ""}${name}`,
    before: await sized(before),
    after: change.action === "delete" ? undefined : await sized(after),
    group: gvkOf({ apiVersion, kind }).group,
  };
}

async function podsOf(copy: DeepReadonly<KubernetesObject>, interpreter: Dependencies["interpreter"]): Promise<number> {
  try {
    return (await interpreter.replicas(copy))?.replicas ?? 0;
  } catch (error) {
    if (error instanceof InterpretError) return 0; // The plan reports the rule.
    throw error;
  }
}

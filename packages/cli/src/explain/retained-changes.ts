/**
 * Shows a plan as it ends on the members: where a user's Retain rule keeps values of a member, its object is read and the
 * rule is run.
 */
import { HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { createKindResolver, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { InterpretError } from "@flotilla/kubernetes";
import { keeperOf, planRetained } from "@flotilla/flotilla";
import type { FleetPlan, Interpreter, MemberChange } from "@flotilla/flotilla";
import { ask } from "../members/ask.ts";
import { askEach } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { PlanChanges } from "./own-changes.ts";

/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;

interface Dependencies {
  client: Client;
  interpreter: Pick<Interpreter, "retain" | "ownerOf">;
  clock: Clock;
  signal: AbortSignal;
}

interface RetainedChanges extends PlanChanges {
  notes: string[];
}

export async function withRetained(
  plan: FleetPlan,
  planned: PlanChanges,
  deps: Dependencies,
): Promise<RetainedChanges> {
  const { interpreter } = deps;
  const kept = planned.changes.filter((change) => keeperOf(change, interpreter) !== undefined);
  if (kept.length === 0) return { ...planned, notes: [] };
  const observed = await readObjects(deps, kept);
  const result: RetainedChanges = { changes: [], problems: [...planned.problems], notes: [] };
  for (const change of planned.changes) {
    const keeper = keeperOf(change, interpreter);
    const object = observed.get(change);
    if (keeper !== undefined && object) await addCorrected(result, plan, change, object, interpreter);
    else result.changes.push(change);
    if (keeper !== undefined && !object)
      result.notes.push(
        `${titleOf(change)}: the Retain rule of ${keeper} may keep values of ${change.cluster}, which could not be read`,
      );
  }
  return result;
}

/** The objects that the changes concern. Those that a member does not have, or that cannot be read now, are missing. */
async function readObjects(
  { client, clock, signal }: Dependencies,
  changes: readonly MemberChange[],
): Promise<ReadonlyMap<MemberChange, DeepReadonly<KubernetesObject>>> {
  const resolver = createKindResolver({ client, cluster: HUB });
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster);
  const places = (await findPlaces(client, [], signal)).filter(({ name }) => byCluster.has(name));
  const found = new Map<MemberChange, DeepReadonly<KubernetesObject>>();
  await askEach(places, signal, async (place) => {
    for (const change of byCluster.get(place.name) ?? []) {
      const { apiVersion, kind, namespace, name } = change.object;
      const { plural: resource } = await resolver.resolve({ apiVersion, kind });
      const path = resourcePath({ cluster: HUB, ...parseApiVersion(apiVersion), resource, namespace, name });
      const object = await ask({ client, clock, responseTimeoutMs: TIMEOUT_MS, signal }, place, path);
      found.set(change, object as unknown as DeepReadonly<KubernetesObject>);
    }
  });
  return found;
}

async function addCorrected(
  { changes, problems, notes }: RetainedChanges,
  plan: FleetPlan,
  change: MemberChange,
  observed: DeepReadonly<KubernetesObject>,
  interpreter: Pick<Interpreter, "retain" | "ownerOf">,
): Promise<void> {
  try {
    const planned = await planRetained(plan, change, observed, interpreter);
    if (planned.outcome === "change") changes.push(planned.change);
    else if (planned.outcome === "none") notes.push(`${titleOf(change)} on ${change.cluster} stays: ${planned.note}`);
    else problems.push({ resource: titleOf(change), message: planned.message });
  } catch (error) {
    if (!(error instanceof InterpretError)) throw error;
    problems.push({ resource: titleOf(change), message: `${change.cluster}: ${error.message}` });
  }
}

const titleOf = ({ object: { kind, namespace, name } }: MemberChange): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

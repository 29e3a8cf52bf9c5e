/**
 * Shows a plan as it ends on members that decide the replicas of an object themselves: an autoscaler there scales it, or
 * its label says that the member's replicas stay.
 */
import { gvkOf, HUB, isConditionTrue, isNotFound } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, messageOf } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { autoscalerOf, replicasOf, REPLICAS_LEFT, worksOf } from "@flotilla/flotilla";
import type { FleetPlan, MemberChange } from "@flotilla/flotilla";
import { RETAIN_REPLICAS } from "@flotilla/karmada";
import { HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import { partitionOf } from "@flotilla/openkruise";
import { ask } from "../members/ask.ts";
import { askEach } from "../members/each-place.ts";
import { findPlaces } from "../members/members-places.ts";
import type { PlanChanges } from "./own-changes.ts";
import { readMemberObjects } from "./read-member-objects.ts";

interface Dependencies {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}

const REPLICAS = "spec.replicas";
/** A healthy member responds in a fraction of this. */
const TIMEOUT_MS = 3_000;

type Autoscalers = readonly DeepReadonly<HorizontalPodAutoscaler>[];

export async function withAutoscaled(
  plan: FleetPlan,
  planned: PlanChanges,
  deps: Dependencies,
): Promise<PlanChanges & { notes: string[] }> {
  const announced = withHeldPods(plan, withScalers(plan, planned.changes));
  const scaled = announced.filter(
    ({ action, fields }) => action === "update" && fields.some(({ path }) => path === REPLICAS),
  );
  const created = announced.filter(
    (change) => change.action === "create" && replicasOf(copyOf(plan, change)) !== undefined,
  );
  if (scaled.length + created.length === 0) return { ...planned, changes: announced, notes: [] };
  const [{ found }, { lists, unread }] = await Promise.all([
    readMemberObjects(deps, scaled),
    readAutoscalers(deps, [...scaled, ...created]),
  ]);
  const notes = [...unread].map(
    ([cluster, reason]) =>
      `${cluster}: not checked whether an autoscaler there decides the replicas of what changes: ${reason}`,
  );
  const changes = announced.flatMap((change) => {
    if (change.action === "create") {
      const decider = autoscalerOf(change.object, lists.get(placeOf(change)) ?? []);
      return [decider === undefined ? change : withNote(change, `${REPLICAS} is left to ${decider} there`)];
    }
    const observed = replicasOf(found.get(change));
    const wanted = change.fields.find(({ path }) => path === REPLICAS)?.after;
    if (observed === undefined || observed === wanted) return [change];
    const decider = deciderOf(plan, change, lists.get(placeOf(change)) ?? []);
    if (decider === undefined) return [change];
    const note = `${REPLICAS} is left to ${decider}: ${observed}`;
    const fields = change.fields.filter(({ path }) => path !== REPLICAS);
    if (fields.length > 0 || change.more !== undefined) return [withNote({ ...change, fields }, note)];
    notes.push(`${titleOf(change)} on ${change.cluster} stays: ${note}, the hub asks for ${JSON.stringify(wanted)}`);
    return [];
  });
  return { changes, problems: planned.problems, notes };
}

/** Copies of autoscalers say what they scale: the plan cannot know how much. */
const withScalers = (plan: FleetPlan, changes: readonly MemberChange[]): MemberChange[] =>
  changes.map((change) => {
    const { apiVersion, kind } = change.object;
    const isScaler = kind === HorizontalPodAutoscaler.kind && gvkOf({ apiVersion, kind }).group === "autoscaling";
    if (!isScaler || change.action === "delete") return change;
    const { scaleTargetRef } = (copyOf(plan, change) as DeepReadonly<HorizontalPodAutoscaler> | undefined)?.spec ?? {};
    return scaleTargetRef
      ? withNote(change, `it decides the replicas of ${scaleTargetRef.kind} ${scaleTargetRef.name} there`)
      : change;
  });

/** A partition is divided by shares: a member that decided to have fewer pods may update none. */
const withHeldPods = (plan: FleetPlan, changes: readonly MemberChange[]): MemberChange[] =>
  changes.map((change) => {
    const { before, after } = worksOf(plan, change);
    const reported = before?.status?.manifestStatuses?.[0]?.status;
    const pods = isObject(reported) ? reported["replicas"] : undefined;
    const copy = after?.spec.workload?.manifests?.[0];
    const partition = copy && partitionOf(copy as unknown as KubernetesObject);
    const isHeld =
      isConditionTrue(before?.status?.conditions, REPLICAS_LEFT) &&
      typeof pods === "number" &&
      pods > 0 &&
      typeof partition === "number" &&
      partition >= pods;
    return isHeld
      ? withNote(
          change,
          `the member decided to run ${pods} pod${pods === 1 ? "" : "s"}, fewer than its share: the partition ${partition} updates none of them`,
        )
      : change;
  });

const withNote = (change: MemberChange, note: string): MemberChange => ({
  ...change,
  note: [change.note, note].filter(Boolean).join("; "),
});

const copyOf = (plan: FleetPlan, change: MemberChange): DeepReadonly<KubernetesObject> | undefined =>
  worksOf(plan, change).after?.spec.workload?.manifests?.[0] as unknown as DeepReadonly<KubernetesObject> | undefined;

/** Who decides the replicas on the member, instead of the hub. */
function deciderOf(plan: FleetPlan, change: MemberChange, autoscalers: Autoscalers): string | undefined {
  if (copyOf(plan, change)?.metadata.labels?.[RETAIN_REPLICAS] === "true")
    return `the member by the label ${RETAIN_REPLICAS}`;
  return autoscalerOf(change.object, autoscalers);
}

/** The autoscalers in the namespaces of the changes, by member and namespace. */
async function readAutoscalers(
  { client, clock, signal }: Dependencies,
  changes: readonly MemberChange[],
): Promise<{ lists: Map<string, Autoscalers>; unread: Map<string, string> }> {
  const asking = { client, clock, responseTimeoutMs: TIMEOUT_MS, signal };
  const byCluster = Map.groupBy(changes, ({ cluster }) => cluster);
  const lists = new Map<string, Autoscalers>();
  const unread = new Map<string, string>();
  const places = await findPlaces(client, [], signal);
  const { group, storageVersion: version, plural: resource } = HorizontalPodAutoscaler;
  await askEach(
    places.filter(({ name }) => byCluster.has(name)),
    signal,
    async (place) => {
      const namespaces = new Set(byCluster.get(place.name)?.map(({ object }) => object.namespace));
      for (const namespace of namespaces)
        try {
          const path = resourcePath({ cluster: HUB, group, version, resource, namespace });
          const { items } = await ask(asking, place, path);
          lists.set(
            placeOf({ cluster: place.name, object: { namespace } }),
            (Array.isArray(items) ? items : []) as unknown as Autoscalers,
          );
        } catch (error) {
          // A member that does not serve autoscalers has none.
          if (isNotFound(error)) continue;
          signal.throwIfAborted();
          unread.set(place.name, messageOf(error));
          return;
        }
    },
  );
  return { lists, unread };
}

const placeOf = ({ cluster, object }: { cluster: string; object: { namespace?: string } }): string =>
  `${cluster} ${object.namespace ?? ""}`;

const titleOf = ({ object: { kind, namespace, name } }: MemberChange): string =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}`;

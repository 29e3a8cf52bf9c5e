/**
 * Decides when a namespace or CRD may be deleted on a member, which deletes everything in it. Other Works come first:
 * once theirs are deleted, any remaining object was released, preserved or never ours. Remaining objects get a grace
 * period to be deleted; then the container stays on the member.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { CustomResourceDefinition } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { isContainer } from "../../delivery/container-contents.ts";
import { idOfKey } from "@flotilla/controller-runtime";
import type { Informer } from "@flotilla/controller-runtime";
import { manifestsOf } from "../members/member-objects.ts";

type Manifest = DeepReadonly<KubernetesObject>;

/** Garbage collection, and clients that delete Works, need seconds. */
export const GRACE_PERIOD_MS = 30_000;
/** A check costs a request per kind that the member serves. */
export const RECHECK_CONTENTS_MS = 15_000;

const BY_PLACE = "execute.place";

/** `wait` for the objects in it, or the reason why it stays. */
type Verdict = "delete" | "wait" | { stays: string };

export interface Departures {
  /** Decides on a manifest's object, from the hub's own Works. */
  judge(work: DeepReadonly<Work>, key: ObjectKey, manifest: Manifest): Verdict;
  /** Decides on a container that still has objects on the member. */
  judgeHolding(key: ObjectKey): "release" | "leave";
  /** The Works to requeue now that this Work is deleted. */
  after(work: DeepReadonly<Work>): ObjectKey[];
  forget(key: ObjectKey): void;
}

/** Called once per informer, by the code that wires the stages. */
export function createDepartures({
  works,
  clock,
}: {
  works: Pick<Informer<Work>, "addIndex" | "by">;
  clock: Clock;
}): Departures {
  /** Works that must delete such an object: since when, and what they wait for. */
  const departing = new Map<string, { sinceMs: number; places: Set<string> }>();
  const waiting = new Map<string, Map<string, ObjectKey>>();
  works.addIndex(BY_PLACE, placesIn);

  function departureOf(key: ObjectKey): { sinceMs: number; places: Set<string> } {
    let departure = departing.get(idOfKey(key));
    if (!departure) departing.set(idOfKey(key), (departure = { sinceMs: clock.now(), places: new Set() }));
    return departure;
  }
  const isPatient = (key: ObjectKey): boolean => clock.now() - departureOf(key).sinceMs < GRACE_PERIOD_MS;

  function wait(key: ObjectKey, place: string): "wait" {
    departureOf(key).places.add(place);
    const row = waiting.get(place) ?? new Map<string, ObjectKey>();
    waiting.set(place, row.set(idOfKey(key), key));
    return "wait";
  }

  function forget(key: ObjectKey): void {
    const id = idOfKey(key);
    for (const place of departing.get(id)?.places ?? []) {
      const row = waiting.get(place);
      if (row?.delete(id) && row.size === 0) waiting.delete(place);
    }
    departing.delete(id);
  }

  return {
    judge({ metadata: { namespace = "", name } }, key, manifest) {
      if (!isContainer(manifest)) return "delete";
      const place = placeInside(namespace, manifest);
      const inside = works.by(BY_PLACE, place).filter(({ metadata }) => metadata.name !== name);
      if (inside.length === 0) {
        // From here on the grace period for the member's own clean-up runs.
        if (departing.get(idOfKey(key))?.places.size) forget(key);
        return "delete";
      }
      const live = inside.find(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (!live || isPatient(key)) return wait(key, place);
      const one = manifestsOf(live).find((each) => placesOf(namespace, each).includes(place));
      return {
        stays: `Work ${live.metadata.name} delivers ${one?.kind ?? "an object"} ${one?.metadata.name ?? ""} into it`,
      };
    },
    judgeHolding: (key) => (isPatient(key) ? "leave" : "release"),
    after: (work) =>
      waiting.size === 0 ? [] : placesIn(work).flatMap((place) => [...(waiting.get(place)?.values() ?? [])]),
    forget,
  };
}

/** A place is a namespace, or a kind, of one member: its objects are deleted with the namespace or CRD. */
function placesOf(executionNamespace: string, { apiVersion, kind, metadata }: Manifest): string[] {
  const ofKind = `${executionNamespace} of ${parseApiVersion(apiVersion).group}/${kind}`;
  return metadata.namespace ? [ofKind, `${executionNamespace} in ${metadata.namespace}`] : [ofKind];
}

function placesIn(work: DeepReadonly<Work>): string[] {
  const { namespace = "" } = work.metadata;
  const manifests = manifestsOf(work);
  const [first] = manifests;
  if (first && manifests.length === 1) return placesOf(namespace, first);
  return [...new Set(manifests.flatMap((manifest) => placesOf(namespace, manifest)))];
}

function placeInside(executionNamespace: string, container: Manifest): string {
  if (container.kind === "Namespace") return `${executionNamespace} in ${container.metadata.name}`;
  const { spec } = container as DeepReadonly<Partial<CustomResourceDefinition>>;
  return `${executionNamespace} of ${spec?.group ?? ""}/${spec?.names?.kind ?? ""}`;
}

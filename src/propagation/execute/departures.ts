/**
 * When a namespace or a definition may be deleted on a member, with which everything in it goes. Other Works come
 * first: once theirs are gone, whatever is left there was let go, preserved or never ours. What goes along is given a
 * while to go; then the object stays on the member.
 */
import { parseApiVersion } from "../../api/index.ts";
import type { CustomResourceDefinition, KubernetesObject, Work } from "../../api/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { isContainer } from "../../delivery/index.ts";
import { idOfKey } from "../../runtime/index.ts";
import type { Informer } from "../../runtime/index.ts";
import { manifestsOf } from "../member-objects.ts";

type Manifest = DeepReadonly<KubernetesObject>;

/** Garbage collection, and whoever takes a Work away, need seconds. */
export const PATIENCE_MS = 30_000;
/** A look costs a request per kind that the member serves. */
export const LOOK_INSIDE_AGAIN_MS = 15_000;

const BY_PLACE = "execute.place";

/** `wait` for what is in it, or why it stays where it is. */
export type Verdict = "delete" | "wait" | { stays: string };

export interface Departures {
  /** What is to become of a manifest's object, as far as the hub's own Works tell. */
  judge(work: DeepReadonly<Work>, key: ObjectKey, manifest: Manifest): Verdict;
  /** What is to become of one in which the member has something left. */
  judgeHolding(key: ObjectKey): "release" | "leave";
  /** Who may go on now that this Work is gone. */
  after(work: DeepReadonly<Work>): ObjectKey[];
  forget(key: ObjectKey): void;
}

/** Called once per informer, by whoever wires the stages. */
export function createDepartures({
  works,
  clock,
}: {
  works: Pick<Informer<Work>, "addIndex" | "by">;
  clock: Clock;
}): Departures {
  /** Works that are to delete such an object: since when, and for what they wait. */
  const departing = new Map<string, { sinceMs: number; places: Set<string> }>();
  const waiting = new Map<string, Map<string, ObjectKey>>();
  works.addIndex(BY_PLACE, placesIn);

  function departureOf(key: ObjectKey): { sinceMs: number; places: Set<string> } {
    let departure = departing.get(idOfKey(key));
    if (!departure) departing.set(idOfKey(key), (departure = { sinceMs: clock.now(), places: new Set() }));
    return departure;
  }
  const isPatient = (key: ObjectKey): boolean => clock.now() - departureOf(key).sinceMs < PATIENCE_MS;

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
        // From here on the member's own clean-up has its time.
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

/** A place is a namespace, or a kind, of one member: what is there goes with the namespace, or the definition. */
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

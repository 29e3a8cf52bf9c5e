/**
 * When a namespace or a definition may be deleted on a member, with which everything in it goes. Other Works come first: once theirs are gone,
 * whatever is left there was let go, preserved or never ours. What goes along is given a while to go; then the object stays on the member.
 */
import { gvkOf } from "../../api/index.ts";
import type { CustomResourceDefinition, KubernetesObject, Work } from "../../api/index.ts";
import type { Clock, DeepReadonly } from "../../base/index.ts";
import type { ObjectKey } from "../../client/index.ts";
import { isContainer } from "../../delivery/index.ts";
import { idOfKey } from "../../runtime/index.ts";
import type { Lister } from "../../runtime/index.ts";
import { manifestsOf } from "../member-objects.ts";

type Manifest = DeepReadonly<KubernetesObject>;

/** Garbage collection, and whoever takes a Work away, need seconds. */
export const PATIENCE_MS = 30_000;
/** A look costs a request per kind that the member serves. */
export const LOOK_INSIDE_AGAIN_MS = 15_000;

/** `wait` for what is in it, or why it stays where it is. */
export type Verdict = "delete" | "wait" | { stays: string };

export interface Departures {
  /** What is to become of a manifest's object, as far as the hub's own Works tell. */
  judge(work: DeepReadonly<Work>, key: ObjectKey, manifest: Manifest): Verdict;
  /** What is to become of one in which the member has something left. */
  judgeHolding(key: ObjectKey): "release" | "leave";
  /** Who may go on when a Work of this namespace is gone. */
  waitingIn(executionNamespace: string): ObjectKey[];
  forget(key: ObjectKey): void;
}

export function createDepartures({ hub, works, clock }: { hub: string; works: Pick<Lister<Work>, "list">; clock: Clock }): Departures {
  /** Works that are to delete such an object, and since when. */
  const departing = new Map<string, { key: ObjectKey; sinceMs: number }>();

  function isPatient(key: ObjectKey): boolean {
    const id = idOfKey(key);
    let departure = departing.get(id);
    if (!departure) departing.set(id, (departure = { key, sinceMs: clock.now() }));
    return clock.now() - departure.sinceMs < PATIENCE_MS;
  }

  return {
    judge({ metadata: { namespace = "", name } }, key, manifest) {
      if (!isContainer(manifest)) return "delete";
      const isInside = insideOf(manifest);
      const inside = works.list({ cluster: hub, namespace }).filter((other) => other.metadata.name !== name && manifestsOf(other).some(isInside));
      const patient = isPatient(key);
      const [live] = inside.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      if (inside.length === 0) return "delete";
      if (patient || !live) return "wait";
      const one = manifestsOf(live).find(isInside);
      return { stays: `Work ${live.metadata.name} delivers ${one?.kind ?? "an object"} ${one?.metadata.name ?? ""} into it` };
    },
    judgeHolding: (key) => (isPatient(key) ? "leave" : "release"),
    waitingIn: (executionNamespace) => (departing.size === 0 ? [] : [...departing.values()].flatMap(({ key }) => (key.namespace === executionNamespace ? [key] : []))),
    forget: (key) => void departing.delete(idOfKey(key)),
  };
}

function insideOf(container: Manifest): (manifest: Manifest) => boolean {
  if (container.kind === "Namespace") return ({ metadata }) => metadata.namespace === container.metadata.name;
  const { spec } = container as DeepReadonly<Partial<CustomResourceDefinition>>;
  return (manifest) => manifest.kind === spec?.names?.kind && gvkOf(manifest).group === spec.group;
}

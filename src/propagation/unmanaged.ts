/**
 * Where objects are let go, and what that means for what they need. A template says it of itself; the dependencies
 * stage notes it on the bindings of the two, and dispatch makes Works of it.
 *
 * The note outlives the workload on the hub: a workload that was let go and then deleted on the hub still runs on its
 * members, and still needs its ConfigMap there.
 */
import type { ResourceBinding } from "../api/index.ts";
import { isObject } from "../base/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { LET_GO_FOR, UNMANAGED } from "./well-known.ts";

type Binding = DeepReadonly<ResourceBinding>;

/**
 * Beyond these a note says less exactly where, or for whom, and more is left running. An annotation is no place for a
 * thousand names.
 */
const MAX_NAMED_CLUSTERS = 20;
const MAX_NOTED = 50;
const EVERYWHERE = "true";

/** `true` means every member, otherwise the names of members with commas between them. */
export function isUnmanagedOn(value: string | undefined, cluster: string): boolean {
  if (value === undefined || value === "false") return false;
  return value === EVERYWHERE || value.split(",").some((name) => name.trim() === cluster);
}

/** Which of those who need an object were let go, by their bindings, and where. */
type Notes = ReadonlyMap<string, string>;
const NONE: Notes = new Map();

export const requirerId = ({ namespace = "", name }: { readonly namespace?: string; readonly name: string }): string =>
  `${namespace}/${name}`;

function notesOf({ metadata }: Binding): Notes {
  const text = metadata.annotations?.[LET_GO_FOR];
  if (text === undefined) return NONE;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value)
      ? new Map(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"))
      : NONE;
  } catch (error) {
    if (error instanceof SyntaxError) return NONE; // Written over by hand; the stage writes it anew.
    throw error;
  }
}

/**
 * The note on the binding of what `requirers` need now; those of others that are gone stay. Undefined when nobody was
 * let go.
 */
export function planLetGo(existing: Binding | undefined, requirers: readonly Binding[]): string | undefined {
  const notes = new Map(existing ? notesOf(existing) : []);
  for (const { metadata, spec } of requirers) {
    const value = metadata.annotations?.[UNMANAGED];
    const clusters = [
      ...(spec.clusters ?? []).map(({ name }) => name),
      ...(spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster),
    ].filter((cluster) => isUnmanagedOn(value, cluster));
    if (clusters.length === 0) notes.delete(requirerId(metadata));
    else
      notes.set(
        requirerId(metadata),
        clusters.length > MAX_NAMED_CLUSTERS ? EVERYWHERE : [...new Set(clusters)].sort().join(","),
      );
  }
  if (notes.size === 0) return undefined;
  return JSON.stringify(
    notes.size > MAX_NOTED ? { "": EVERYWHERE } : Object.fromEntries([...notes].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

/**
 * What a member's copy of a needed object is. `released`: everybody who needs it there was let go, and no policy of its
 * own takes it there. `left`: one of those who need it was let go, or was before it was deleted on the hub: it is kept
 * up to date and not deleted.
 */
export function dependencyOn(binding: Binding, cluster: string): "released" | "left" | undefined {
  if (binding.metadata.annotations?.[LET_GO_FOR] === undefined) return undefined;
  const notes = notesOf(binding);
  const { requiredBy = [], placement, clusters = [] } = binding.spec;
  const isOfPolicy = placement !== undefined && clusters.some(({ name }) => name === cluster);
  const here = requiredBy.filter((requirer) => requirer.clusters?.some(({ name }) => name === cluster));
  if (
    !isOfPolicy &&
    here.length > 0 &&
    here.every((requirer) => isUnmanagedOn(notes.get(requirerId(requirer)), cluster))
  )
    return "released";
  return [...notes.values()].some((value) => isUnmanagedOn(value, cluster)) ? "left" : undefined;
}

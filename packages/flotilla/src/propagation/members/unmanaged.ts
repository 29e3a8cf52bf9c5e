/**
 * Where objects are unmanaged, and what that means for their dependencies. A template declares it by annotation; the
 * dependencies stage records it on the bindings of both, and dispatch applies it to Works.
 *
 * The record outlives the workload on the hub: an unmanaged workload that was deleted on the hub still runs on its
 * members, and still needs its ConfigMap there.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { UNMANAGED_FOR, UNMANAGED } from "../../flotilla-names.ts";
type Binding = DeepReadonly<ResourceBinding>;

/**
 * Beyond these limits a record is less exact about clusters or requirers, and more is left running. An annotation
 * cannot hold a thousand names.
 */
const MAX_NAMED_CLUSTERS = 20;
const MAX_NOTED = 50;
const EVERYWHERE = "true";

/** `true` means every member, otherwise comma-separated names of members. */
export function isUnmanagedOn(value: string | undefined, cluster: string): boolean {
  if (value === undefined || value === "false") return false;
  return value === EVERYWHERE || value.split(",").some((name) => name.trim() === cluster);
}

/** The unmanaged requirers of an object, by binding, and their clusters. */
type Notes = ReadonlyMap<string, string>;
const NONE: Notes = new Map();

const requirerId = ({ namespace = "", name }: { readonly namespace?: string; readonly name: string }): string =>
  `${namespace}/${name}`;

function notesOf({ metadata }: Binding): Notes {
  const text = metadata.annotations?.[UNMANAGED_FOR];
  if (text === undefined) return NONE;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value)
      ? new Map(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"))
      : NONE;
  } catch (error) {
    if (error instanceof SyntaxError) return NONE; // Overwritten by a user; the stage writes it again.
    throw error;
  }
}

/**
 * The record for the binding of an object that `requirers` currently need; records of deleted requirers stay. Undefined
 * when none is unmanaged.
 */
export function planUnmanagedFor(existing: Binding | undefined, requirers: readonly Binding[]): string | undefined {
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
 * The mode of a member's copy of a dependency. `released`: every requirer there is unmanaged, and no policy of its own
 * propagates it there. `left`: a requirer is unmanaged, or was before it was deleted on the hub: the copy is kept up to
 * date and not deleted.
 */
export function dependencyOn(binding: Binding, cluster: string): "released" | "left" | undefined {
  if (binding.metadata.annotations?.[UNMANAGED_FOR] === undefined) return undefined;
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

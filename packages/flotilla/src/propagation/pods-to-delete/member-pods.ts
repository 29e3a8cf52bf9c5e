/**
 * The pods that one member's copy names for deletion. Pure.
 *
 * OpenKruise on the member removes the name of a pod that it has deleted, and rejects the name when it is written again.
 * So the copy has an annotation with the names that it was given: a name that the member's object was given before, and
 * no longer has, is done and is left out.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { objectOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { rulesOfKind } from "../../interpreter/kind-rules.ts";
import { specOf } from "../../interpreter/release-reach.ts";
import { PODS_TO_DELETE } from "../../flotilla-names.ts";
import { podsToDeleteOf, type NamedPods } from "./named-pods.ts";

type Copy = DeepReadonly<KubernetesObject>;

/** The copies, each with the names of the pods that its member has. */
export function withOwnPods(
  copies: ReadonlyMap<string, Copy>,
  named: NamedPods | undefined,
): ReadonlyMap<string, Copy> {
  return new Map(
    Array.from(copies, ([cluster, copy]) => {
      const names = podsToDeleteOf(copy);
      if (names.length === 0) return [cluster, copy];
      const own = (named?.pods ?? []).flatMap(([name, clusters]) => (clusters.includes(cluster) ? [name] : []));
      const given = withPodsToDelete(
        copy,
        own.filter((name) => names.includes(name)),
      );
      return [cluster, given];
    }),
  );
}

/** The copy without the names that are done. `observed` is the member's object; undefined if it does not exist. */
export function withoutDonePods(copy: Copy, observed: Copy | undefined): Copy {
  if (copy.metadata.annotations?.[PODS_TO_DELETE] === undefined) return copy;
  const names = podsToDeleteOf(copy);
  const left = new Set(observed ? podsToDeleteOf(observed) : []);
  const given = observed?.metadata.annotations?.[PODS_TO_DELETE]?.split(",") ?? [];
  // An object that is created has no pods yet.
  const done = new Set(observed ? given.filter((name) => !left.has(name)) : names);
  const open = names.filter((name) => !done.has(name));
  return open.length === names.length ? copy : withNames(copy, open);
}

function withPodsToDelete(copy: Copy, names: readonly string[]): Copy {
  const next = withNames(copy, names);
  if (names.length === 0) return next;
  const annotations = { ...copy.metadata.annotations, [PODS_TO_DELETE]: names.join(",") };
  return { ...next, metadata: { ...copy.metadata, annotations } };
}

function withNames(copy: Copy, names: readonly string[]): Copy {
  const path = rulesOfKind(copy)?.podsToDelete?.path;
  return path ? ({ ...copy, spec: withNamesAt(specOf(copy), path, names) } as Copy) : copy;
}

/** Objects that only had the names are removed with them. */
function withNamesAt(part: JsonObject, [key = "", ...rest]: readonly string[], names: readonly string[]): JsonObject {
  const value = rest.length > 0 ? withNamesAt(objectOf(part[key]), rest, names) : [...names];
  if (Object.keys(value).length > 0) return { ...part, [key]: value };
  const { [key]: _empty, ...others } = part;
  return others;
}

/**
 * Divides an Advanced StatefulSet so that an ordinal exists once in the fleet. A member takes the lowest ordinals that are
 * not reserved; reserving all that others own leaves it exactly its own.
 *
 * A cluster keeps the ordinals that its last copy gave it. It shrinks by its highest ones and grows by ones that nobody
 * owned, so an ordinal is never started in one cluster while it may still run in another.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { parseApiVersion } from "../../api/index.ts";
import type { DeepReadonly } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { Share } from "../kind-interpreter.ts";
import { withSpecField, type Workload } from "../workload.ts";
import { countsPerCluster, isDuplicated } from "./scope.ts";

type Reserved = readonly (number | string)[];

export interface OrdinalSet extends Workload {
  spec?: Workload["spec"] & {
    reserveOrdinals?: (number | string)[];
    ordinals?: { start?: number };
    updateStrategy?: { rollingUpdate?: { partition?: number } };
    volumeClaimTemplates?: { metadata?: { name?: string } }[];
  };
}

type Copy = DeepReadonly<OrdinalSet>;

/** A set of more pods than this is refused rather than given a list of as many ordinals. */
const MAX_ORDINALS = 100_000;

export function divideOrdinals(object: Copy, shares: readonly Share[]): ReadonlyMap<string, Copy> {
  if (shares.length < 2 || countsPerCluster(object) || isDuplicated(shares, object.spec?.replicas ?? 1)) {
    return new Map(shares.map(({ cluster, replicas }) => [cluster, withSpecField(object, "replicas", replicas)]));
  }
  const owned = planOrdinals(object, shares);
  const all = [...owned.values()].flat().sort((a, b) => a - b);
  const partition = object.spec?.updateStrategy?.rollingUpdate?.partition;
  const firstUpdated = partition === undefined ? undefined : (all[partition] ?? Number.POSITIVE_INFINITY);
  return new Map(shares.map(({ cluster }) => [cluster, copyFor(object, owned.get(cluster) ?? [], firstUpdated)]));
}

/** The ordinals of each cluster, ascending. */
export function planOrdinals(object: Copy, shares: readonly Share[]): ReadonlyMap<string, readonly number[]> {
  const start = object.spec?.ordinals?.start ?? 0;
  const total = shares.reduce((sum, { replicas }) => sum + replicas, 0);
  if (total > MAX_ORDINALS) throw new InterpretError(`dividing ${object.kind} ${object.metadata.name}: ${total} replicas are more than the ${MAX_ORDINALS} that can be given ordinals`);
  const withheld = expand(object.spec?.reserveOrdinals ?? []);
  const taken = new Set<number>();
  const owned = new Map<string, number[]>();
  for (const { cluster, replicas, copy } of shares) {
    const before = copy ? ordinalsOf(copy as Copy).filter((ordinal) => !taken.has(ordinal)) : [];
    // What is given up here stays taken: its pod may still be running.
    for (const ordinal of before) taken.add(ordinal);
    owned.set(cluster, before.filter((ordinal) => !withheld.has(ordinal)).slice(0, replicas));
  }
  let next = start;
  for (const { cluster, replicas } of shares) {
    const own = owned.get(cluster) ?? [];
    while (own.length < replicas) {
      if (!taken.has(next) && !withheld.has(next)) own.push(next);
      next++;
    }
    own.sort((a, b) => a - b);
  }
  return owned;
}

/** The ordinals that a member runs for a copy: the lowest that are not reserved. */
function ordinalsOf({ spec }: Copy): number[] {
  const reserved = expand(spec?.reserveOrdinals ?? []);
  const ordinals: number[] = [];
  const replicas = Math.min(spec?.replicas ?? 1, MAX_ORDINALS);
  for (let ordinal = spec?.ordinals?.start ?? 0; ordinals.length < replicas; ordinal++) if (!reserved.has(ordinal)) ordinals.push(ordinal);
  return ordinals;
}

function copyFor(object: Copy, own: readonly number[], firstUpdated: number | undefined): Copy {
  const reserved: number[] = [];
  let index = 0;
  for (let ordinal = object.spec?.ordinals?.start ?? 0; index < own.length; ordinal++) {
    if (own[index] === ordinal) index++;
    else reserved.push(ordinal);
  }
  // Ordinals that the user withholds stay withheld beyond the last one that is owned, for when the set grows.
  for (const ordinal of expand(object.spec?.reserveOrdinals ?? [])) if (ordinal > (own.at(-1) ?? -1)) reserved.push(ordinal);
  const copy = withSpecField(object, "replicas", own.length);
  const placed = reserved.length > 0 ? withSpecField(copy, "reserveOrdinals", compress(reserved, object)) : copy;
  if (firstUpdated === undefined) return placed;
  const strategy = object.spec?.updateStrategy;
  const partition = own.filter((ordinal) => ordinal < firstUpdated).length;
  return withSpecField(placed, "updateStrategy", { ...strategy, rollingUpdate: { ...strategy?.rollingUpdate, partition } });
}

function expand(reserved: Reserved): Set<number> {
  const ordinals = new Set<number>();
  for (const entry of reserved) {
    const [first = Number.NaN, last = first] = String(entry).split("-").map(Number);
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last) || last - first >= MAX_ORDINALS) throw new InterpretError(`reading reserved ordinals: ${JSON.stringify(entry)} is not an ordinal or a range of at most ${MAX_ORDINALS}`);
    for (let ordinal = first; ordinal <= last; ordinal++) ordinals.add(ordinal);
    if (ordinals.size > MAX_ORDINALS) throw new InterpretError(`reading reserved ordinals: there are more than ${MAX_ORDINALS}`);
  }
  return ordinals;
}

/** As ranges; the version before v1beta1 knows single ordinals only. */
function compress(ordinals: readonly number[], { apiVersion }: DeepReadonly<KubernetesObject>): (number | string)[] {
  const sorted = [...new Set(ordinals)].sort((a, b) => a - b);
  if (parseApiVersion(apiVersion).version === "v1alpha1") return sorted;
  const ranges: [number, number][] = [];
  for (const ordinal of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] === ordinal - 1) last[1] = ordinal;
    else ranges.push([ordinal, ordinal]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`));
}

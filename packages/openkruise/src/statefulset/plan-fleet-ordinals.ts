/**
 * Decides which ordinals of an Advanced StatefulSet each member owns. Pure; the current owners are read from the
 * members' copies.
 *
 * - An ordinal has one owner in the fleet. A member keeps its ordinals and shrinks from its highest.
 * - Shrink before grow: an ordinal that one member releases may still run there. It is recorded on that member's copy
 * as leaving, and the member that takes it over runs one pod less until it is released.
 * - A growing member takes the lowest free ordinals, so that the fleet has no holes for longer than a move takes.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type DeepReadonly } from "@flotilla/base";
import { DivideError } from "../divide/divide-error.ts";
import { countOf } from "@flotilla/kubernetes";
import type { Share, Workload } from "@flotilla/kubernetes";
import {
  formatSpans,
  joinSpans,
  outside,
  parseSpans,
  readSpans,
  spansInclude,
  spansOf,
  type Spans,
} from "./ordinal-spans.ts";

export interface OrdinalSet extends Workload {
  spec?: Workload["spec"] & {
    reserveOrdinals?: (number | string)[];
    ordinals?: { start?: number };
    updateStrategy?: { rollingUpdate?: { partition?: number; maxUnavailable?: number | string } };
    scaleStrategy?: { maxUnavailable?: number | string };
    volumeClaimTemplates?: { metadata?: { name?: string } }[];
  };
}

type Copy = DeepReadonly<OrdinalSet>;

/**
 * On a copy: the ordinals that its member releases and may still run, and the generation of the member's object before
 * that: `4,7-9@3`. A report for a later generation shows whether they are released. The generation is 0 if the member
 * was never reported to have the object: then it may be created with this copy.
 */
export const LEAVING_ORDINALS = "flotilla.dev/leaving-ordinals";

/** Larger sets are rejected instead of being given a list of this many ordinals. */
const MAX_ORDINALS = 100_000;

export interface Ownership {
  /** Ascending. */
  readonly own: readonly number[];
  /** The copy's annotation for leaving ordinals; undefined when there are none. */
  readonly leaving: string | undefined;
}

export interface OrdinalsPlan {
  readonly byCluster: ReadonlyMap<string, Ownership>;
  /** All ordinals of the fleet, ascending, including those that wait for another member to release them. */
  readonly all: readonly number[];
  /** The ordinals that wait, and the members between which they move. */
  readonly awaited: readonly AwaitedOrdinal[];
}

interface AwaitedOrdinal {
  readonly ordinal: number;
  readonly from: string;
  readonly to: string;
}

interface Leaving {
  readonly spans: Spans;
  readonly generation: number;
}

export function planOrdinals(object: Copy, shares: readonly Share[]): OrdinalsPlan {
  const total = shares.reduce((sum, { replicas }) => sum + replicas, 0);
  if (total > MAX_ORDINALS)
    throw new DivideError(
      `dividing ${object.kind} ${object.metadata.name}: ${total} replicas exceed the ${MAX_ORDINALS} ordinals that can be assigned`,
    );
  const withheld = parseSpans(object.spec?.reserveOrdinals ?? []);
  const owners = new Map<number, string>();
  const leavers = new Map<number, string>();
  const left = new Map<string, Leaving>();
  const owned = new Map<string, number[]>();
  for (const share of shares) {
    const { cluster, replicas, copy } = share;
    const before = copy ? ordinalsOf(copy) : [];
    const own = before.filter((ordinal) => !owners.has(ordinal) && !spansInclude(withheld, ordinal)).slice(0, replicas);
    for (const ordinal of own) owners.set(ordinal, cluster);
    owned.set(cluster, own);
    const kept = new Set(own);
    const leaving = planLeaving(
      before.filter((ordinal) => !kept.has(ordinal)),
      share,
    );
    if (!leaving) continue;
    left.set(cluster, leaving);
    for (const { first, last } of leaving.spans)
      for (let ordinal = first; ordinal <= last; ordinal++) leavers.set(ordinal, cluster);
  }
  const awaited: AwaitedOrdinal[] = [];
  const free = outside(withheld, object.spec?.ordinals?.start ?? 0);
  for (const { cluster, replicas } of shares) {
    const own = owned.get(cluster) ?? [];
    for (let missing = replicas - own.length; missing > 0;) {
      const ordinal = free.next().value;
      if (owners.has(ordinal)) continue;
      missing--;
      const leaver = leavers.get(ordinal);
      if (leaver === undefined || leaver === cluster) own.push(ordinal);
      else awaited.push({ ordinal, from: leaver, to: cluster });
    }
    own.sort((a, b) => a - b);
  }
  const byCluster = new Map(
    [...owned].map(([cluster, own]) => [cluster, { own, leaving: formatLeaving(left.get(cluster), own) }]),
  );
  const waiting = awaited.map(({ ordinal }) => ordinal);
  return { byCluster, all: [...[...owned.values()].flat(), ...waiting].sort((a, b) => a - b), awaited };
}

/** The ordinals that a member runs for a copy: the lowest that are not reserved. */
function ordinalsOf(copy: Copy): number[] {
  const { replicas = 1, reserveOrdinals = [], ordinals } = copy.spec ?? {};
  return outside(readSpans(reserveOrdinals), ordinals?.start ?? 0)
    .take(Math.min(Math.max(0, replicas), MAX_ORDINALS))
    .toArray();
}

/**
 * Ordinals that may still run on a member besides those it owns: those it releases now, and those released earlier but
 * not yet reported.
 */
function planLeaving(givenUp: readonly number[], { copy, observed, isUndelivered }: Share): Leaving | undefined {
  const before = copy && leavingOf(copy);
  const earlier = before && !isReleased(before, copy, observed) ? before.spans : [];
  const spans = joinSpans([...earlier, ...spansOf(givenUp)]);
  if (spans.length === 0) return undefined;
  if (givenUp.length === 0) return { spans, generation: before?.generation ?? 1 };
  if (isObject(observed)) return { spans, generation: Math.max(1, countOf(observed["generation"])) };
  return { spans, generation: isUndelivered ? 0 : 1 };
}

/** The member has observed a later copy and runs exactly the requested number of pods; terminating pods still count. */
function isReleased({ generation }: Leaving, { spec }: Copy, observed: Share["observed"]): boolean {
  if (!isObject(observed)) return false;
  const seen = countOf(observed["generation"]);
  return (
    seen > generation &&
    countOf(observed["observedGeneration"]) >= seen &&
    countOf(observed["replicas"]) === (spec?.replicas ?? 1)
  );
}

/** An invalid text is ignored: it may come from the template. */
function leavingOf({ metadata }: DeepReadonly<KubernetesObject>): Leaving | undefined {
  const [, ordinals, generation] =
    /^([\d,-]{1,65536})@(\d{1,15})$/.exec(metadata.annotations?.[LEAVING_ORDINALS] ?? "") ?? [];
  if (ordinals === undefined) return undefined;
  const spans = readSpans(ordinals.split(","));
  const count = spans.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return count > MAX_ORDINALS ? undefined : { spans, generation: Number(generation) };
}

/** Without the ordinals that were returned to the member. */
function formatLeaving(leaving: Leaving | undefined, own: readonly number[]): string | undefined {
  if (!leaving) return undefined;
  const kept = new Set(own);
  const ordinals = leaving.spans
    .flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_each, index) => first + index))
    .filter((ordinal) => !kept.has(ordinal));
  return ordinals.length === 0 ? undefined : `${formatSpans(spansOf(ordinals)).join(",")}@${leaving.generation}`;
}

/**
 * Decides which ordinals of an Advanced StatefulSet each member owns. Pure; the owners so far are read from the
 * members' copies.
 *
 * - An ordinal has one owner in the fleet. A member keeps the ones that it has and shrinks by its highest.
 * - Shrink before grow: an ordinal that one member gives up may still run there. It is written on that member's copy as
 * leaving, and the member that is to take it runs one pod less until it is gone.
 * - A member that grows takes the lowest ordinals that are free, so that the fleet has no holes for longer than a move
 * takes.
 */
import type { KubernetesObject } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import { DivideError } from "./divide-error.ts";
import type { Share } from "../kind-interpreter.ts";
import { countOf } from "../replica-status.ts";
import type { Workload } from "../workload.ts";
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
 * On a copy: the ordinals that its member gives up and may still run, and the generation of the member's object before
 * that: `4,7-9@3`. What the member reports for a later generation tells whether they are gone.
 */
export const LEAVING_ORDINALS = "flotilla.dev/leaving-ordinals";

/** A set of more pods than this is refused rather than given a list of as many ordinals. */
const MAX_ORDINALS = 100_000;

export interface Ownership {
  /** Ascending. */
  readonly own: readonly number[];
  /** What the copy says about the ordinals that are on their way out; undefined when there are none. */
  readonly leaving: string | undefined;
}

export interface OrdinalsPlan {
  readonly byCluster: ReadonlyMap<string, Ownership>;
  /** All ordinals of the fleet, ascending, with those that wait for another member to let go. */
  readonly all: readonly number[];
}

interface Leaving {
  readonly spans: Spans;
  readonly generation: number;
}

export function planOrdinals(object: Copy, shares: readonly Share[]): OrdinalsPlan {
  const total = shares.reduce((sum, { replicas }) => sum + replicas, 0);
  if (total > MAX_ORDINALS)
    throw new DivideError(
      `dividing ${object.kind} ${object.metadata.name}: ${total} replicas are more than the ${MAX_ORDINALS} that can be given ordinals`,
    );
  const withheld = parseSpans(object.spec?.reserveOrdinals ?? []);
  const owners = new Map<number, string>();
  const leavers = new Map<number, string>();
  const left = new Map<string, Leaving>();
  const owned = new Map<string, number[]>();
  for (const { cluster, replicas, copy, observed } of shares) {
    const before = copy ? ordinalsOf(copy) : [];
    const own = before.filter((ordinal) => !owners.has(ordinal) && !spansInclude(withheld, ordinal)).slice(0, replicas);
    for (const ordinal of own) owners.set(ordinal, cluster);
    owned.set(cluster, own);
    const kept = new Set(own);
    const leaving = planLeaving(
      before.filter((ordinal) => !kept.has(ordinal)),
      copy,
      observed,
    );
    if (!leaving) continue;
    left.set(cluster, leaving);
    for (const { first, last } of leaving.spans)
      for (let ordinal = first; ordinal <= last; ordinal++) leavers.set(ordinal, cluster);
  }
  const awaited: number[] = [];
  const free = outside(withheld, object.spec?.ordinals?.start ?? 0);
  for (const { cluster, replicas } of shares) {
    const own = owned.get(cluster) ?? [];
    for (let missing = replicas - own.length; missing > 0;) {
      const ordinal = free.next().value;
      if (owners.has(ordinal)) continue;
      missing--;
      const leaver = leavers.get(ordinal);
      if (leaver === undefined || leaver === cluster) own.push(ordinal);
      else awaited.push(ordinal);
    }
    own.sort((a, b) => a - b);
  }
  const byCluster = new Map(
    [...owned].map(([cluster, own]) => [cluster, { own, leaving: formatLeaving(left.get(cluster), own) }]),
  );
  return { byCluster, all: [...[...owned.values()].flat(), ...awaited].sort((a, b) => a - b) };
}

/** The ordinals that a member runs for a copy: the lowest that are not reserved. */
function ordinalsOf(copy: Copy): number[] {
  const { replicas = 1, reserveOrdinals = [], ordinals } = copy.spec ?? {};
  return outside(readSpans(reserveOrdinals), ordinals?.start ?? 0)
    .take(Math.min(Math.max(0, replicas), MAX_ORDINALS))
    .toArray();
}

/**
 * What may still run on a member beside what it owns: what it gives up now, and what it gave up before until it reports
 * so.
 */
function planLeaving(
  givenUp: readonly number[],
  copy: Copy | undefined,
  observed: Share["observed"],
): Leaving | undefined {
  const before = copy && leavingOf(copy);
  const earlier = before && !isGone(before, copy, observed) ? before.spans : [];
  const spans = joinSpans([...earlier, ...spansOf(givenUp)]);
  if (spans.length === 0) return undefined;
  const generation =
    givenUp.length > 0
      ? Math.max(1, isObject(observed) ? countOf(observed["generation"]) : 1)
      : (before?.generation ?? 1);
  return { spans, generation };
}

/**
 * The member has seen a later copy and runs exactly as many pods as it asks for; pods that are being removed still
 * count there.
 */
function isGone({ generation }: Leaving, { spec }: Copy, observed: Share["observed"]): boolean {
  if (!isObject(observed)) return false;
  const seen = countOf(observed["generation"]);
  return (
    seen > generation &&
    countOf(observed["observedGeneration"]) >= seen &&
    countOf(observed["replicas"]) === (spec?.replicas ?? 1)
  );
}

/** A text that is not ours says nothing: the template may have brought it along. */
function leavingOf({ metadata }: DeepReadonly<KubernetesObject>): Leaving | undefined {
  const [, ordinals, generation] =
    /^([\d,-]{1,65536})@(\d{1,15})$/.exec(metadata.annotations?.[LEAVING_ORDINALS] ?? "") ?? [];
  if (ordinals === undefined) return undefined;
  const spans = readSpans(ordinals.split(","));
  const count = spans.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  return count > MAX_ORDINALS ? undefined : { spans, generation: Number(generation) };
}

/** Without those that the member has got back. */
function formatLeaving(leaving: Leaving | undefined, own: readonly number[]): string | undefined {
  if (!leaving) return undefined;
  const kept = new Set(own);
  const ordinals = leaving.spans
    .flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_each, index) => first + index))
    .filter((ordinal) => !kept.has(ordinal));
  return ordinals.length === 0 ? undefined : `${formatSpans(spansOf(ordinals)).join(",")}@${leaving.generation}`;
}

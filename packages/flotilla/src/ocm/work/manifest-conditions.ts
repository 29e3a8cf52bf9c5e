/** Conditions of manifests, carried over between versions of the work and aggregated for the whole work. */
import type { ManifestCondition, ManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { withCondition, type NextCondition } from "@flotilla/apimachinery";

type Manifest = DeepReadonly<ManifestCondition>;
type Conditions = Manifest["conditions"];

/** The reason prefix of conditions from rules. */
const BY_RULE = "ConditionRule";
export const isByRule = ({ reason }: { readonly reason: string }): boolean => reason.startsWith(BY_RULE);

/** A condition of another generation is new: its transition time restarts, and it moves to the end. */
export function mergeConditions(before: Conditions, next: readonly NextCondition[], now: string): Conditions {
  return next.reduce((merged, condition) => {
    const known = merged.find(({ type }) => type === condition.type);
    const kept =
      known && known.observedGeneration !== condition.observedGeneration
        ? merged.filter((each) => each !== known)
        : merged;
    return withCondition(kept, condition, now);
  }, before);
}

/**
 * The current conditions of the manifests, merged with the previous ones of the same manifests: those at the same
 * position, or else the only one of the same identity. Status feedback is kept.
 */
export function mergeManifests(before: readonly Manifest[], next: readonly Manifest[], now: string): Manifest[] {
  const exact = new Map(before.map((manifest) => [keyOf(manifest.resourceMeta), manifest]));
  const alike = Map.groupBy(before, ({ resourceMeta }) => identityOf(resourceMeta));
  return next.map((manifest) => {
    const identity = identityOf(manifest.resourceMeta);
    // A manifest without a name matches nothing else.
    const others = identity === NAMELESS ? [] : (alike.get(identity) ?? []);
    const known = exact.get(keyOf(manifest.resourceMeta)) ?? (others.length === 1 ? others[0] : undefined);
    const conditions = mergeConditions(known?.conditions ?? [], manifest.conditions, now);
    const { statusFeedback } = known ?? manifest;
    return { resourceMeta: manifest.resourceMeta, conditions, statusFeedback };
  });
}

const identityOf = (meta: DeepReadonly<ManifestResourceMeta>): string => {
  const { group = "", version = "", kind = "", resource = "", namespace = "", name = "" } = meta;
  return [group, version, kind, resource, namespace, name].join("/");
};
const NAMELESS = identityOf({ ordinal: 0 });
const keyOf = (meta: DeepReadonly<ManifestResourceMeta>): string => `${meta.ordinal ?? 0} ${identityOf(meta)}`;

interface Tally {
  true: number;
  false: number;
  unknown: number;
  message: string;
}

/**
 * The aggregated conditions of the work: whether its manifests are available, and the results of rules. Sorted by type.
 */
export function aggregateConditions(generation: number, manifests: readonly Manifest[]): NextCondition[] {
  const tallies = new Map<string, Tally>([["Available", { true: 0, false: 0, unknown: 0, message: "" }]]);
  for (const { type, status, message, reason } of manifests.flatMap(({ conditions }) => conditions)) {
    if (type !== "Available" && !isByRule({ reason })) continue;
    const tally = tallies.get(type) ?? { true: 0, false: 0, unknown: 0, message: "" };
    tallies.set(type, tally);
    tally[status === "True" ? "true" : status === "False" ? "false" : "unknown"] += 1;
    if (message) tally.message = message;
  }
  return [...tallies]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, tally]) => ({
      ...(type === "Available" ? available(tally, manifests.length) : ruled(type, tally)),
      type,
      observedGeneration: generation,
    }));
}

function available(tally: Tally, total: number): Omit<NextCondition, "type"> {
  if (tally.false > 0)
    return {
      status: "False",
      reason: "ResourcesNotAvailable",
      message: `${tally.false} of ${total} resources are not available`,
    };
  if (tally.unknown > 0)
    return {
      status: "Unknown",
      reason: "ResourcesStatusUnknown",
      message: `${tally.unknown} of ${total} resources have unknown status`,
    };
  if (tally.true === 0)
    return { status: "Unknown", reason: "ResourcesStatusUnknown", message: "cannot get any available resource " };
  return { status: "True", reason: "ResourcesAvailable", message: "All resources are available" };
}

/** One progressing manifest makes the work progressing; any other condition requires all manifests. */
function ruled(type: string, tally: Tally): Omit<NextCondition, "type"> {
  const total = tally.true + tally.false + tally.unknown;
  const [first, last] = type === "Progressing" ? ([tally.true, "True"] as const) : ([tally.false, "False"] as const);
  const others = last === "True" ? "False" : "True";
  const status = first > 0 ? last : tally.unknown > 0 ? "Unknown" : others;
  return {
    status,
    reason: "ConditionRulesAggregated",
    message: total === 1 && tally.message ? tally.message : `Aggregated from ${total} manifest conditions`,
  };
}

/** Drops rule conditions of an earlier generation: a remaining rule sets them again. */
export const withoutOldRules = (conditions: Conditions, generation: number): Conditions =>
  conditions.filter((condition) => !isByRule(condition) || condition.observedGeneration === generation);

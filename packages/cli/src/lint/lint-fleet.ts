/**
 * All manifests together: which policy claims which object, and how an object reaches members. Rules query this instead
 * of computing it themselves. Does not contact a hub; a hub's results are in `answers`.
 */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { formatPath, itemsAt, labelsAt, numberAt, objectAt, textAt, textsAt, valueAt } from "./fields.ts";
import type { FieldPath } from "./fields.ts";
import type { HubAnswers } from "./hub-answers.ts";
import { PLACEMENT } from "./kind-names.ts";
import type { LintManifest, ReadManifests } from "./lint-manifest.ts";
import { namespaceOf, selects } from "./selectors.ts";
import { PARTITION_SCOPE } from "@flotilla/openkruise";

/** One path by which an object reaches members. */
export interface Propagation {
  /** The policy, ManifestWork or ManifestWorkReplicaSet. */
  readonly via: LintManifest;
  /** `divided`: the members share its replicas. `copied`: each member has all of them. */
  readonly how: "divided" | "copied";
  /** The policy explicitly gives each member all replicas. */
  readonly isAsked?: boolean;
  /** The maximum number of members that get it; undefined when unknown. */
  readonly members: number | undefined;
  /** The members, if they are named. */
  readonly names?: readonly string[];
}

export interface LintFleet extends ReadManifests {
  /** Propagation policies of both scopes. */
  readonly policies: readonly LintManifest[];
  /** Override policies of both scopes. */
  readonly overrides: readonly LintManifest[];
  /** The hub's result for each manifest; empty without a hub. */
  readonly answers: HubAnswers;
  /** Manifests of `group/Kind`; the core group is empty: `/Pod`. */
  of(...kinds: readonly string[]): LintManifest[];
  /** The policy that claims an object. */
  policyOf(manifest: LintManifest): LintManifest | undefined;
  propagationsOf(manifest: LintManifest): readonly Propagation[];
  /** Whether the hub serves the kind of a policy's selector in other versions only, so that it matches nothing. */
  isUnserved(policy: LintManifest, selector: FieldPath): boolean;
  /** The objects that a policy selects, with the selector. */
  selectedBy(policy: LintManifest): readonly { manifest: LintManifest; selector: FieldPath }[];
}

const POLICY = "policy.karmada.io";
const POLICY_KINDS = ["PropagationPolicy", "ClusterPropagationPolicy"];
const OVERRIDE_KINDS = ["OverridePolicy", "ClusterOverridePolicy"];

const isPolicy = ({ group, kind }: LintManifest): boolean => group === POLICY && POLICY_KINDS.includes(kind);

export function createLintFleet({ manifests, unreadable, passedOver }: ReadManifests, answers: HubAnswers): LintFleet {
  const policies = manifests.filter(isPolicy);
  const overrides = manifests.filter(({ group, kind }) => group === POLICY && OVERRIDE_KINDS.includes(kind));
  // A policy names its kind, so only objects of that kind are compared with it.
  const byKind = Map.groupBy(manifests, ({ group, kind }) => `${group}/${kind}`);
  const byName = Map.groupBy(manifests, ({ group, kind, name }) => `${group}/${kind}/${name}`);
  /** Narrows the candidates of a selector: most name one object, and there may be thousands of a kind. */
  const candidates = (selector: JsonObject): readonly LintManifest[] => {
    const kind = `${parseApiVersion(textAt(selector, "apiVersion")).group}/${textAt(selector, "kind")}`;
    const name = textAt(selector, "name");
    return (name === "" ? byKind.get(kind) : byName.get(`${kind}/${name}`)) ?? [];
  };
  /** A kind that the hub serves in no version may be defined later. */
  const isUnserved = (policy: LintManifest, path: FieldPath): boolean =>
    answers
      .of(policy)
      ?.warnings.some(
        (text) => text.startsWith(`${formatPath(path)}: the hub does not serve`) && text.includes(", but in "),
      ) ?? false;
  const selected = new Map<LintManifest, { manifest: LintManifest; selector: FieldPath; closeness: number }[]>();
  const chosen = new Map<LintManifest, LintManifest | undefined>();

  function selectedBy(policy: LintManifest): { manifest: LintManifest; selector: FieldPath; closeness: number }[] {
    let found = selected.get(policy);
    if (!found) {
      found = itemsAt(policy.object, "spec", "resourceSelectors").flatMap(({ item, path }) =>
        (isUnserved(policy, path) ? [] : candidates(item)).flatMap((manifest) => {
          const closeness = manifest.inside ? undefined : selects(item, policy, manifest);
          return closeness === undefined ? [] : [{ manifest, selector: path, closeness }];
        }),
      );
      selected.set(policy, found);
    }
    return found;
  }

  function choose(): void {
    const best = new Map<LintManifest, { policy: LintManifest; rank: readonly number[] }>();
    for (const policy of policies) {
      for (const { manifest, closeness } of selectedBy(policy)) {
        // A namespaced policy wins over a cluster policy; then priority, then the more specific selector, then the
        // first name.
        const rank = [
          policy.kind === "PropagationPolicy" ? 1 : 0,
          numberAt(policy.object, "spec", "priority") ?? 0,
          closeness,
        ];
        const before = best.get(manifest);
        const order = before ? compareRanks(rank, before.rank) : 1;
        if (order > 0 || (order === 0 && before && policy.name < before.policy.name))
          best.set(manifest, { policy, rank });
      }
    }
    for (const [manifest, { policy }] of best) chosen.set(manifest, policy);
  }
  choose();

  /** Objects in works, by identity. */
  const brought = Map.groupBy(
    manifests.filter(({ inside }) => inside),
    identityOf,
  );

  return {
    manifests,
    unreadable,
    passedOver,
    policies,
    overrides,
    answers,
    of: (...kinds) => kinds.flatMap((kind) => byKind.get(kind) ?? []),
    policyOf: (manifest) => chosen.get(manifest),
    isUnserved,
    selectedBy,
    propagationsOf(manifest) {
      if (manifest.inside)
        return [
          workPropagation(manifest.inside.work, brought.get(identityOf(manifest)) ?? [], byKind.get(PLACEMENT) ?? []),
        ];
      const policy = chosen.get(manifest);
      return policy ? [policyPropagation(policy)] : [];
    },
  };
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0);
  return 0;
}

/** The identity of an object, in any version. */
export const identityOf = (manifest: LintManifest): string =>
  `${manifest.group}/${manifest.kind}/${namespaceOf(manifest)}/${manifest.name}`;

/** The placement of a policy, and the paths of its affinities. */
export const placementOf = ({ object }: LintManifest): JsonObject => objectAt(object, "spec", "placement");
export function affinitiesOf(placement: JsonObject): { item: JsonObject; path: FieldPath }[] {
  const single =
    valueAt(placement, "clusterAffinity") === undefined
      ? []
      : [{ item: objectAt(placement, "clusterAffinity"), path: ["clusterAffinity"] }];
  return [...single, ...itemsAt(placement, "clusterAffinities")];
}

/** The members that an affinity names; undefined when it names none. */
export function namedIn(affinity: JsonObject): string[] | undefined {
  const names = textsAt(affinity, "clusterNames");
  if (names.length === 0) return undefined;
  const excluded = textsAt(affinity, "exclude");
  return names.filter((name) => !excluded.includes(name));
}

function policyPropagation(policy: LintManifest): Propagation {
  const placement = placementOf(policy);
  const affinities = affinitiesOf(placement);
  const named = affinities.map(({ item }) => namedIn(item));
  const names =
    affinities.length > 0 && named.every((list) => list !== undefined) ? [...new Set(named.flat())] : undefined;
  // Of several affinities only one is used at a time.
  const ofNames = names && Math.max(...named.map((list) => list?.length ?? 0));
  const ofSpread = itemsAt(placement, "spreadConstraints").flatMap(({ item }) =>
    ["", "cluster"].includes(textAt(item, "spreadByField")) && textAt(item, "spreadByLabel") === ""
      ? (numberAt(item, "maxGroups") ?? [])
      : [],
  );
  const bounds = [...(ofNames === undefined ? [] : [ofNames]), ...ofSpread.filter((groups) => groups > 0)];
  const scheduling = valueAt(placement, "replicaScheduling");
  const isAsked = textAt(scheduling, "replicaSchedulingType") === "Duplicated";
  return {
    via: policy,
    how: scheduling === undefined || isAsked ? "copied" : "divided",
    isAsked,
    members: bounds.length > 0 ? Math.min(...bounds) : undefined,
    names,
  };
}

/**
 * A ManifestWork is for one member, and the same object may be in those of several; a ManifestWorkReplicaSet is for the
 * clusters its Placements select.
 */
function workPropagation(work: LintManifest, same: readonly LintManifest[], all: readonly LintManifest[]): Propagation {
  if (work.kind === "ManifestWork") {
    const names = [
      ...new Set(same.flatMap(({ inside }) => (inside?.work.kind === "ManifestWork" ? [inside.work.namespace] : []))),
    ];
    return { via: work, how: "copied", members: Math.max(1, names.length), names };
  }
  const wanted = itemsAt(work.object, "spec", "placementRefs").map(({ item }) => textAt(item, "name"));
  const placements = all.filter(({ name, namespace }) => namespace === work.namespace && wanted.includes(name));
  const counts = placements.map(({ object }) => numberAt(object, "spec", "numberOfClusters"));
  const isBounded = placements.length === wanted.length && counts.every((count) => count !== undefined);
  return {
    via: work,
    how: "copied",
    members: isBounded && wanted.length > 0 ? counts.reduce<number>((sum, count) => sum + (count ?? 0), 0) : undefined,
  };
}

export const reachesSeveral = ({ members }: Propagation): boolean => members === undefined || members > 1;

/** `2 members`, or a phrase when the number is unknown. */
export const membersText = ({ members }: Propagation): string =>
  members === undefined ? "every matching member" : `${members} members`;

/** The annotation that makes the numbers of a rollout apply to each cluster. */
export const countsPerCluster = ({ object }: LintManifest): boolean =>
  labelsAt(object, "metadata", "annotations")[PARTITION_SCOPE] === "cluster";

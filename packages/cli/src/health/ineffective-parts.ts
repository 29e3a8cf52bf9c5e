/**
 * Parts of policies that have no effect: clusters that are not members or do not serve the kind, ignored spread constraints, selectors of kinds
 * that the hub does not serve, and policies that select the same objects as another one. `flotilla doctor` lists them;
 * `flotilla status` counts them. Pure.
 */
import { ignoredSpread } from "@flotilla/karmada";
import type { Cluster, PolicyStatus, PropagationPolicy } from "@flotilla/karmada";
import { capitalised } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { findTies, unjoinedClusters, unservedSelectors, unservingMembers, unservingText } from "@flotilla/flotilla";
import type { FindObject, ServedKinds, Tie, TieLookups } from "@flotilla/flotilla";
import type { ServedType } from "../members/served-types.ts";
import type { PlacementUses } from "./placement-use.ts";
import { referenceTitle } from "@flotilla/apimachinery";

export type Policy = DeepReadonly<PropagationPolicy & { status?: PolicyStatus }>;

interface IneffectivePart {
  seen: string;
  fix: string;
}

export interface PolicyParts {
  policy: Policy;
  /** `PropagationPolicy shop/web` */
  title: string;
  /** The policy that takes its objects. */
  competitor: Policy | undefined;
  /** Whether the hub serves a kind that it selects. */
  selectsServed: boolean;
  ineffective: IneffectivePart[];
}

export interface PartsInput {
  policies: readonly Policy[];
  /** Names of the members. */
  joined: ReadonlySet<string>;
  /** The members with the kinds that they serve; unset if that is reported elsewhere. */
  clusters?: readonly DeepReadonly<Cluster>[];
  /** What the bindings show about the placements. */
  uses?: Pick<PlacementUses, "of">;
  /** The kinds that the hub serves; unset if they could not be read. */
  served?: ServedKinds | undefined;
  /** An object that selectors with different labels share; unset if that was not looked up. */
  findTied?: FindObject;
  /** The titles of policies that are reported because they name only clusters that are not members. */
  misdirecting: ReadonlySet<string>;
}

/** Policies that are being deleted are left out. */
export function findPolicyParts(input: PartsInput): PolicyParts[] {
  const { policies, joined, clusters = [], uses, served, findTied = () => undefined, misdirecting } = input;
  const byScope = Map.groupBy(policies, scopeOf);
  return policies.flatMap((policy): PolicyParts[] => {
    if (policy.metadata.deletionTimestamp !== undefined) return [];
    const title = referenceTitle({ kind: policy.kind, ...policy.metadata });
    const lost = lostTie(policy, byScope.get(scopeOf(policy)) ?? [], { findObject: findTied, served });
    const unserved = served ? unservedSelectors(served, policy.spec) : [];
    // No member serves a kind that is misspelt.
    const unknown = new Set(unserved.map(({ index }) => index));
    const resourceSelectors = policy.spec.resourceSelectors.filter((_, index) => !unknown.has(index));
    const servedPart = { ...policy.spec, resourceSelectors };
    const ineffective = [
      ...unserved.map(({ text }) => ({
        seen: `${capitalised(text)}, so the selector matches nothing.`,
        fix: "Correct apiVersion and kind of the selector, or apply the CustomResourceDefinition to the hub.",
      })),
      ...unservingMembers(servedPart, clusters, uses?.of({ kind: policy.kind, ...policy.metadata })).map((found) => ({
        seen: `It selects members without the kind: ${unservingText(found)}.`,
        fix:
          "Select members that serve it, or let those members serve it: with the kind's " +
          "CustomResourceDefinition, or with a newer Kubernetes for one of its own kinds.",
      })),
      ...ineffectiveParts(policy, lost, (name) => joined.has(name) || misdirecting.has(title)),
    ];
    const selectsServed = unserved.length < policy.spec.resourceSelectors.length;
    return [{ policy, title, competitor: lost?.competitor, selectsServed, ineffective }];
  });
}

export const servedKindsOf = (types: readonly ServedType[]): ServedKinds => ({
  versions: (group, kind) =>
    types.filter((type) => type.group === group && type.kind === kind).map(({ version }) => version),
  kinds: () => types,
});

export const scopeOf = ({ kind, metadata }: Policy): string => `${kind}/${metadata.namespace ?? ""}`;

/**
 * The policy that takes objects of this one, with the same precedence: the one that has objects, or the one whose name
 * sorts first.
 */
function lostTie(policy: Policy, sameScope: readonly Policy[], lookups: TieLookups): Tie<Policy> | undefined {
  return findTies(policy, sameScope, lookups).find(({ competitor }) => {
    const [own, theirs] = [policy, competitor].map(({ status }) => (status?.matched ?? 0) > 0);
    return own === theirs ? policy.metadata.name > competitor.metadata.name : !own;
  });
}

/** Parts of a policy that have no effect. */
function ineffectiveParts(
  policy: Policy,
  lost: Tie<Policy> | undefined,
  isMember: (name: string) => boolean,
): IneffectivePart[] {
  const { placement } = policy.spec;
  const unjoined = unjoinedClusters(policy.spec, isMember);
  const ignored = placement && ignoredSpread(placement);
  return [
    ...(unjoined.length > 0
      ? [
          {
            seen: `It names ${unjoined.join(", ")}, which ${unjoined.length === 1 ? "is not a member" : "are not members"}.`,
            fix: "Correct or remove the name, or join the cluster.",
          },
        ]
      : []),
    ...(ignored === undefined
      ? []
      : [{ seen: `Its ${ignored.split("; ")[0] ?? ""}.`, fix: `${capitalised(ignored.split("; ")[1] ?? "")}.` }]),
    ...(lost
      ? [
          {
            seen:
              `${lost.competitor.metadata.name} selects ` +
              `${lost.object === undefined ? "the same objects" : `${lost.object}, too,`} with the same priority, so ` +
              `${(policy.status?.matched ?? 0) === 0 ? "this policy" : "one of the two"} has no effect on ${lost.object === undefined ? "them" : "it"}.`,
            fix: "Set spec.priority of the policy that is to take effect, or make the selectors disjoint.",
          },
        ]
      : []),
  ];
}

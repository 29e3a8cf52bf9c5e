/** Members that a placement selects and that do not serve the kind: the scheduler leaves them out. Pure. */
import type { Cluster, PropagationPolicy } from "@flotilla/karmada";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { compileAffinity } from "../policies/cluster-affinity.ts";
import type { ClusterAffinity } from "../policies/cluster-affinity.ts";
import { servedKinds } from "../schedule/fleet-view.ts";
import { servedKey } from "../schedule/framework.ts";

type Spec = DeepReadonly<Partial<Pick<PropagationPolicy["spec"], "placement" | "resourceSelectors">>>;
type Members = readonly DeepReadonly<Pick<Cluster, "metadata" | "spec" | "status">>[];

export interface Unserving {
  /** The field of the policy that selects the members. */
  at: string;
  apiVersion: string;
  kind: string;
  clusters: string[];
}

/** What the bindings of a policy show about its placement. */
export interface PlacementUse {
  /** The names of the affinity terms by which objects are scheduled; empty if no binding reports one. */
  affinities: ReadonlySet<string>;
  /** Whether a member has copies of objects of the kind, which it keeps although it no longer serves the kind. */
  hasCopies(cluster: string, ref: { apiVersion: string; kind: string }): boolean;
}

/** Nothing is known of bindings: of a new policy. */
const UNUSED: PlacementUse = { affinities: new Set(), hasCopies: () => false };

/**
 * A policy that selects by no criterion means every member that can have the object, so nothing is found for it. The
 * kinds of a member that has not reported them yet are not known.
 */
export function unservingMembers(
  { placement, resourceSelectors = [] }: Spec,
  members: Members,
  { affinities, hasCopies }: PlacementUse = UNUSED,
): Unserving[] {
  const { clusterAffinity, clusterAffinities = [] } = placement ?? {};
  const terms: [at: string, term: ClusterAffinity | undefined][] = [
    ["spec.placement.clusterAffinity", clusterAffinity],
    ...clusterAffinities.flatMap((term, index): [string, ClusterAffinity][] =>
      affinities.size === 0 || affinities.has(term.affinityName)
        ? [[`spec.placement.clusterAffinities[${index}]`, term]]
        : [],
    ),
  ];
  const kinds = new Map(
    resourceSelectors.map(({ apiVersion, kind }) => [servedKey(apiVersion, kind), { apiVersion, kind }]),
  );
  return terms.flatMap(([at, term]) => {
    if (!term || !isSelective(term)) return [];
    const isSelected = compileAffinity(term);
    const selected = members.filter(
      (member) =>
        member.metadata.deletionTimestamp === undefined && member.status?.apiEnablements?.length && isSelected(member),
    );
    return [...kinds].flatMap(([key, { apiVersion, kind }]): Unserving[] => {
      const clusters = selected
        .filter(
          ({ metadata, status }) =>
            !servedKinds(status?.apiEnablements).has(key) &&
            !servesInOtherVersion(status, apiVersion, kind) &&
            !hasCopies(metadata.name, { apiVersion, kind }),
        )
        .map(({ metadata }) => metadata.name);
      return clusters.length > 0 ? [{ at, apiVersion, kind, clusters }] : [];
    });
  });
}

/**
 * Delivery converts OpenKruise's kinds to a version that the member serves. The scheduler knows which ones; commands that
 * must start quickly do not load them, so here it is enough that the kind is OpenKruise's.
 */
function servesInOtherVersion(status: Members[number]["status"], apiVersion: string, kind: string): boolean {
  const { group } = parseApiVersion(apiVersion);
  if (!group.endsWith(".kruise.io")) return false;
  return (status?.apiEnablements ?? []).some(
    ({ groupVersion, resources = [] }) =>
      parseApiVersion(groupVersion).group === group && resources.some((resource) => resource.kind === kind),
  );
}

const isSelective = ({ clusterNames = [], labelSelector, fieldSelector }: ClusterAffinity): boolean =>
  clusterNames.length > 0 ||
  Object.keys(labelSelector?.matchLabels ?? {}).length > 0 ||
  (labelSelector?.matchExpressions ?? []).length > 0 ||
  (fieldSelector?.matchExpressions ?? []).length > 0;

const MAX_NAMES = 10;

/** `member1, member2 do not serve Widget in example.com/v1, so they get no copies` */
export function unservingText({ clusters, kind, apiVersion }: Omit<Unserving, "at">): string {
  const more = clusters.length > MAX_NAMES ? ` and ${clusters.length - MAX_NAMES} more` : "";
  const [does, gets] = clusters.length === 1 ? ["does", "it gets"] : ["do", "they get"];
  return `${clusters.slice(0, MAX_NAMES).join(", ")}${more} ${does} not serve ${kind} in ${apiVersion}, so ${gets} no copies`;
}

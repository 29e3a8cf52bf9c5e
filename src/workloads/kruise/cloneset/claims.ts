/**
 * Volume claims of a CloneSet: one of each template for each pod, found by the instance id that both carry. Pure.
 *
 * A pod that is deleted by the CloneSet takes its claims with it. One that others delete leaves them behind: they are
 * used again by its successor, which then has the same name, or removed when the CloneSet does not reuse claims.
 */
import { controllerReference } from "../../../api/index.ts";
import { randomSuffix } from "../../../base/index.ts";
import type { Random } from "../../../base/index.ts";
import { makeClaims } from "../../claims.ts";
import type { ReadonlyClaim } from "../../claims.ts";
import type { ReadonlyPod } from "../../kubernetes/pod.ts";
import { INSTANCE_ID_LABEL } from "./names.ts";
import type { ReadonlyCloneSet } from "./pod-state.ts";

export const instanceIdOf = ({ metadata }: ReadonlyPod | ReadonlyClaim): string =>
  metadata.labels?.[INSTANCE_ID_LABEL] ?? "";

/** The claims of one pod, by the names of their templates. */
export function claimsOfPod(cloneSet: ReadonlyCloneSet, id: string): ReadonlyMap<string, ReadonlyClaim> {
  const { metadata, spec } = cloneSet;
  return makeClaims(spec.volumeClaimTemplates, {
    namespace: metadata.namespace,
    nameOf: (template) => `${template}-${metadata.name}-${id}`,
    labels: { ...spec.selector?.matchLabels, [INSTANCE_ID_LABEL]: id },
    owner: controllerReference(cloneSet),
  });
}

/** Everything that has an instance id. */
export interface Instances {
  /** Pods that count, and all that exist. */
  active: readonly ReadonlyPod[];
  pods: readonly ReadonlyPod[];
  claims: readonly ReadonlyClaim[];
}

/**
 * Ids for new pods: those of claims that no pod uses first, then new ones. An id is part of names, so none is used
 * twice. The pod of a claim may not quite be gone; then the creation of its successor fails and is tried again, as
 * upstream does.
 */
export function chooseInstanceIds(count: number, { active, pods, claims }: Instances, random: Random): string[] {
  const used = new Set(active.map(instanceIdOf));
  const taken = new Set([...pods, ...claims].map(instanceIdOf));
  const unused = new Set(claims.map(instanceIdOf).filter((id) => id !== "" && !used.has(id)));
  const ids = new Set([...unused].toSorted().slice(0, count));
  while (ids.size < count) {
    const id = randomSuffix(random);
    if (!taken.has(id)) ids.add(id);
  }
  return [...ids].toSorted();
}

export interface ClaimPlan {
  /** Claims that belong to pods that count, or that may be used again. */
  kept: readonly ReadonlyClaim[];
  /** No pod has them any more. */
  remove: readonly ReadonlyClaim[];
  /** Their pod is on its way out and takes them along: it becomes their owner. */
  handOver: readonly ReadonlyClaim[];
}

/** What becomes of the claims of pods that no longer count. */
export function planClaims(
  { spec, metadata }: ReadonlyCloneSet,
  claims: readonly ReadonlyClaim[],
  active: readonly ReadonlyPod[],
  inactive: readonly ReadonlyPod[],
): ClaimPlan {
  if (spec.scaleStrategy?.enablePVCReuse || claims.length === 0) return { kept: claims, remove: [], handOver: [] };
  const activeIds = new Set(active.map(instanceIdOf));
  const leaving = new Map(inactive.map((pod) => [instanceIdOf(pod), pod]));
  const kept: ReadonlyClaim[] = [];
  const remove: ReadonlyClaim[] = [];
  const handOver: ReadonlyClaim[] = [];
  for (const claim of claims) {
    const pod = leaving.get(instanceIdOf(claim));
    if (activeIds.has(instanceIdOf(claim))) kept.push(claim);
    else if (pod) handOver.push(inHandsOf(pod, claim, metadata.uid));
    else remove.push(claim);
  }
  return { kept, remove, handOver };
}

function inHandsOf(
  { metadata: { name, uid = "" } }: ReadonlyPod,
  claim: ReadonlyClaim,
  ownerUid: string | undefined,
): ReadonlyClaim {
  const others = claim.metadata.ownerReferences?.filter((reference) => reference.uid !== ownerUid) ?? [];
  return {
    ...claim,
    metadata: { ...claim.metadata, ownerReferences: [...others, { apiVersion: "v1", kind: "Pod", name, uid }] },
  };
}

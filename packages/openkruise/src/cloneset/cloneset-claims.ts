/**
 * Volume claims of a CloneSet: one per template and pod, matched by the instance id that both carry. Pure.
 *
 * A pod that the CloneSet deletes takes its claims with it. A pod that other clients delete leaves them behind: its
 * successor reuses them, with the same name, or they are deleted if the CloneSet does not reuse claims.
 */
import { controllerReference } from "@flotilla/apimachinery";
import { randomSuffix } from "@flotilla/base";
import type { Random } from "@flotilla/base";
import { makeClaims } from "@flotilla/kubernetes";
import type { ReadonlyClaim, ReadonlyPod } from "@flotilla/kubernetes";
import { INSTANCE_ID_LABEL } from "./cloneset-names.ts";
import type { ReadonlyCloneSet } from "./cloneset-pod-state.ts";

export const instanceIdOf = ({ metadata }: ReadonlyPod | ReadonlyClaim): string =>
  metadata.labels?.[INSTANCE_ID_LABEL] ?? "";

/** The claims of one pod, by template name. */
export function claimsOfPod(cloneSet: ReadonlyCloneSet, id: string): ReadonlyMap<string, ReadonlyClaim> {
  const { metadata, spec } = cloneSet;
  return makeClaims(spec.volumeClaimTemplates, {
    namespace: metadata.namespace,
    nameOf: (template) => `${template}-${metadata.name}-${id}`,
    labels: { ...spec.selector?.matchLabels, [INSTANCE_ID_LABEL]: id },
    owner: controllerReference(cloneSet),
  });
}

/** All objects with an instance id. */
export interface Instances {
  /** Active pods, and all existing ones. */
  active: readonly ReadonlyPod[];
  pods: readonly ReadonlyPod[];
  claims: readonly ReadonlyClaim[];
}

/**
 * Ids for new pods: first those of unused claims, then new ones. An id is part of names, so none is used twice. The pod
 * of a claim may still be terminating; then creating its successor fails and is retried, as upstream does.
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
  /** Claims of active pods, and claims that may be reused. */
  kept: readonly ReadonlyClaim[];
  /** Claims without a pod. */
  remove: readonly ReadonlyClaim[];
  /** Claims of a terminating pod, which becomes their owner so that they are deleted with it. */
  handOver: readonly ReadonlyClaim[];
}

/** Plans the claims of pods that are no longer active. */
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

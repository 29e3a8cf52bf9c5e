/** The identity of a StatefulSet's pod: its ordinal, name, labels and claims. */
import { omitZero } from "@flotilla/base";
import type { KubernetesObject, OwnerReference } from "@flotilla/apimachinery";
import type { LabelSelector } from "@flotilla/apimachinery/facts/meta-v1.ts";
import type { PersistentVolumeClaim } from "../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import type { StatefulSet } from "./statefulset-kind.ts";
import type { DeepReadonly } from "@flotilla/base";
import { makeClaims, withClaimVolumes } from "../persistentvolumeclaim/template-claims.ts";
import type { ReadonlyClaim } from "../persistentvolumeclaim/template-claims.ts";
import { REVISION_LABEL } from "../controllerrevision/revisions.ts";
import { podTemplateOf } from "../controllerrevision/pod-template-data.ts";
import type { ReadonlyRevision } from "../controllerrevision/pod-template-data.ts";
import { namedPod } from "../pod/pod-from-template.ts";
import type { ReadonlyPod } from "../pod/pod-state.ts";

export type ReadonlyStatefulSet = DeepReadonly<StatefulSet>;
/** A set whose pods have ordinals: Kubernetes' own, or OpenKruise's. */
export type OrdinalSet = DeepReadonly<
  KubernetesObject & {
    spec: { selector: LabelSelector; serviceName?: string; volumeClaimTemplates?: PersistentVolumeClaim[] };
  }
>;

const NAME_LABEL = "statefulset.kubernetes.io/pod-name";
export const INDEX_LABEL = "apps.kubernetes.io/pod-index";

export const replicasOf = ({ spec }: ReadonlyStatefulSet): number => spec.replicas ?? 1;
export const startOf = ({ spec }: ReadonlyStatefulSet): number => spec.ordinals?.start ?? 0;
export const podName = ({ metadata }: OrdinalSet, ordinal: number): string => `${metadata.name}-${ordinal}`;
export const revisionOf = ({ metadata }: ReadonlyPod): string => metadata.labels?.[REVISION_LABEL] ?? "";

/** The number at the end of the name; undefined if the pod is not named after this set. */
export function ordinalOf(set: ReadonlyStatefulSet, { metadata }: ReadonlyPod): number | undefined {
  const [, parent, digits = ""] = /^(.*)-(\d{1,10})$/.exec(metadata.name) ?? [];
  const ordinal = Number(digits);
  return parent === set.metadata.name && ordinal <= 2_147_483_647 ? ordinal : undefined;
}

export const isInRange = (set: ReadonlyStatefulSet, ordinal: number): boolean =>
  ordinal >= startOf(set) && ordinal < startOf(set) + replicasOf(set);

/**
 * The claims of one pod, by template name. A claim that is to be deleted with its set may have that owner from the
 * beginning.
 */
export function claimsOf(
  set: OrdinalSet,
  ordinal: number,
  owner?: DeepReadonly<OwnerReference>,
): ReadonlyMap<string, ReadonlyClaim> {
  const { metadata, spec } = set;
  return makeClaims(spec.volumeClaimTemplates, {
    namespace: metadata.namespace,
    nameOf: (template) => `${template}-${metadata.name}-${ordinal}`,
    labels: spec.selector.matchLabels ?? {},
    owner,
  });
}

export function statefulPod(set: OrdinalSet, revision: ReadonlyRevision, ordinal: number): ReadonlyPod {
  const name = podName(set, ordinal);
  const pod = namedPod(set, podTemplateOf(revision), name);
  const labels = { ...pod.metadata.labels, ...identityLabels(name, ordinal), [REVISION_LABEL]: revision.metadata.name };
  const { serviceName } = set.spec;
  const spec = {
    ...withClaimVolumes(pod.spec, claimsOf(set, ordinal)),
    hostname: name,
    ...omitZero({ subdomain: serviceName }),
  };
  return { ...pod, metadata: { ...pod.metadata, generateName: `${set.metadata.name}-`, labels }, spec };
}

const identityLabels = (name: string, ordinal: number): Record<string, string> => ({
  [NAME_LABEL]: name,
  [INDEX_LABEL]: String(ordinal),
});

/**
 * The pod with its identity labels restored; undefined if they are correct. Volumes are immutable and cannot be
 * restored.
 */
export function mendedIdentity(pod: ReadonlyPod, ordinal: number): ReadonlyPod | undefined {
  const { name, labels } = pod.metadata;
  if (labels?.[NAME_LABEL] === name) return undefined;
  return { ...pod, metadata: { ...pod.metadata, labels: { ...labels, ...identityLabels(name, ordinal) } } };
}

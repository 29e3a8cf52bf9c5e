/**
 * The ReplicaSets of a Deployment: the one with the current template, their names and their revisions. Pure; the names
 * contain a hash of the template, as does the label `pod-template-hash` of their pods.
 */
import {
  DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION,
  DEPLOYMENT_MAX_REPLICAS_ANNOTATION,
  DEPLOYMENT_REVISION_ANNOTATION,
  DEPLOYMENT_REVISION_HISTORY_ANNOTATION,
} from "../well-known-names.ts";
import { controllerReference, LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import type { Deployment } from "./deployment-kind.ts";
import type { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import { NAME_ALPHABET, equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { TEMPLATE_HASH_LABEL } from "../controllerrevision/revisions.ts";

export type ReadonlyDeployment = DeepReadonly<Deployment>;
type PodTemplate = DeepReadonly<Deployment["spec"]["template"]>;

const MAX_HISTORY_LENGTH = 2000;
/** Annotations about one object, which are not copied. */
const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  LAST_APPLIED_ANNOTATION,
  DEPLOYMENT_REVISION_ANNOTATION,
  DEPLOYMENT_REVISION_HISTORY_ANNOTATION,
  DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION,
  DEPLOYMENT_MAX_REPLICAS_ANNOTATION,
  "deprecated.deployment.rollback.to",
]);
const MAX_NAME_LENGTH = 253;

export const replicasOf = ({ spec }: { readonly spec?: { readonly replicas?: number } }): number => spec?.replicas ?? 1;
export const sumOf = (
  sets: readonly ReadonlyReplicaSet[],
  value: (set: ReadonlyReplicaSet) => number | undefined,
): number => sets.reduce((sum, set) => sum + (value(set) ?? 0), 0);
/** Any 64-bit integer, as in upstream; 0 if invalid. */
export function revisionOf({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}): bigint {
  const text = metadata.annotations?.[DEPLOYMENT_REVISION_ANNOTATION] ?? "";
  return /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
}

/** The ReplicaSet with the Deployment's template; the oldest if there are two. */
export function findNewReplicaSet(
  deployment: ReadonlyDeployment,
  sets: readonly ReadonlyReplicaSet[],
): ReadonlyReplicaSet | undefined {
  return sets.find(
    ({ spec }) =>
      spec.template !== undefined && equalJson(withoutHash(spec.template), withoutHash(deployment.spec.template)),
  );
}

function withoutHash(template: PodTemplate): unknown {
  const { [TEMPLATE_HASH_LABEL]: _hash, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/**
 * FNV-1a over the template with sorted keys. Kubernetes hashes a Go dump, on which no client can rely; it only matters
 * that equal templates have equal hashes.
 */
export function templateHash(template: PodTemplate, collisionCount: number): string {
  let hash = 0x811c9dc5;
  const bytes = new TextEncoder().encode(sortedJson(template) + String(collisionCount));
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return Array.from(String(hash >>> 0), (digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join("");
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

export function makeReplicaSet(
  deployment: ReadonlyDeployment,
  options: { replicas: number; revision: bigint; maxReplicas: number; collisionCount: number },
): DeepReadonly<ReplicaSet> {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template, options.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [TEMPLATE_HASH_LABEL]: hash };
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${metadata.name.slice(0, MAX_NAME_LENGTH - hash.length - 1)}-${hash}`,
      namespace: metadata.namespace || undefined,
      labels,
      annotations: {
        ...newestAnnotations(deployment, {}, options.revision),
        ...scaleAnnotations(deployment, options.maxReplicas),
      },
      ownerReferences: [controllerReference(deployment)],
    },
    spec: {
      replicas: options.replicas,
      minReadySeconds: spec.minReadySeconds || undefined,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [TEMPLATE_HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

/**
 * The annotations of the ReplicaSet with the current template: those of the Deployment, such as the change cause, and
 * its revision.
 */
export function newestAnnotations(
  deployment: ReadonlyDeployment,
  before: Readonly<Record<string, string>>,
  revision: bigint,
): Record<string, string> {
  const handedOn = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key));
  const annotations: Record<string, string> = { ...before, ...Object.fromEntries(handedOn) };
  const old = before[DEPLOYMENT_REVISION_ANNOTATION];
  if (old !== undefined && revisionOf({ metadata: { annotations: before } }) >= revision) return annotations;
  annotations[DEPLOYMENT_REVISION_ANNOTATION] = String(revision);
  if (old === undefined) return annotations;
  const history = [...(before[DEPLOYMENT_REVISION_HISTORY_ANNOTATION]?.split(",") ?? []), old];
  while (history.join(",").length > MAX_HISTORY_LENGTH) history.shift();
  annotations[DEPLOYMENT_REVISION_HISTORY_ANNOTATION] = history.join(",");
  return annotations;
}

/**
 * From these a later reconcile detects that the Deployment was scaled, and distributes the difference among the
 * ReplicaSets.
 */
export function scaleAnnotations(deployment: ReadonlyDeployment, maxReplicas: number): Record<string, string> {
  return {
    [DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION]: String(replicasOf(deployment)),
    [DEPLOYMENT_MAX_REPLICAS_ANNOTATION]: String(maxReplicas),
  };
}

/**
 * Volume claims that a workload creates for each of its pods from `volumeClaimTemplates`.
 *
 * A workload kind defines the names, labels and owner of its claims; `makeClaims` builds them and `withClaimVolumes`
 * mounts them in the pod. An existing claim of the same name is reused, so the caller must skip creating it. Pure.
 */
import { omitZero, omitEmpty } from "@flotilla/base";
import type { PersistentVolumeClaim } from "./persistentvolumeclaim-kind.ts";
import type { PodSpec, Volume } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { OwnerReference } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";

export type ReadonlyClaim = DeepReadonly<PersistentVolumeClaim>;

export interface ClaimRules {
  namespace: string | undefined;
  /** The name of a pod's claim, from the name of the template. */
  nameOf(template: string): string;
  /** Added to the labels of the template. */
  labels: Readonly<Record<string, string>>;
  /** Unset: the claim outlives the workload. */
  owner?: DeepReadonly<OwnerReference> | undefined;
}

/** One claim per template, by template name. */
export function makeClaims(
  templates: readonly ReadonlyClaim[] | undefined,
  { namespace, nameOf, labels, owner }: ClaimRules,
): ReadonlyMap<string, ReadonlyClaim> {
  const claims = new Map<string, ReadonlyClaim>();
  for (const template of templates ?? []) {
    const { name, ownerReferences = [] } = template.metadata;
    const owners = owner ? [...ownerReferences, owner] : ownerReferences;
    claims.set(name, {
      ...template,
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: {
        ...template.metadata,
        name: nameOf(name),
        ...omitZero({ namespace }),
        labels: { ...template.metadata.labels, ...labels },
        ...omitEmpty({ ownerReferences: owners }),
      },
    });
  }
  return claims;
}

/** A pod spec that mounts these claims. A volume of the same name is replaced. */
export function withClaimVolumes<S extends DeepReadonly<Partial<PodSpec>>>(
  spec: S,
  claims: ReadonlyMap<string, ReadonlyClaim>,
): S {
  if (claims.size === 0) return spec;
  const ours: DeepReadonly<Volume>[] = Array.from(claims, ([name, { metadata }]) => ({
    name,
    persistentVolumeClaim: { claimName: metadata.name },
  }));
  return { ...spec, volumes: [...ours, ...(spec.volumes ?? []).filter(({ name }) => !claims.has(name))] };
}

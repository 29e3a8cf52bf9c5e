/**
 * Volume claims that a workload makes for each of its pods from `volumeClaimTemplates`.
 *
 * A kind says how its claims are called and labelled and who owns them; `makeClaims` makes them and `withClaimVolumes`
 * lets the pod use them. A claim that exists already under its name is used again, so whoever creates skips those.
 * Pure.
 */
import type { PersistentVolumeClaim, PodSpec, Volume } from "../api/index.ts";
import type { OwnerReference } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

export type ReadonlyClaim = DeepReadonly<PersistentVolumeClaim>;

export interface ClaimRules {
  namespace: string | undefined;
  /** The name of the claim of one pod, from the name of the template. */
  nameOf(template: string): string;
  /** In addition to what the template has. */
  labels: Readonly<Record<string, string>>;
  /** Unset: the claim outlives the workload. */
  owner?: DeepReadonly<OwnerReference> | undefined;
}

/** A claim for each template, by the name of the template. */
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
        ...(namespace && { namespace }),
        labels: { ...template.metadata.labels, ...labels },
        ...(owners.length > 0 && { ownerReferences: owners }),
      },
    });
  }
  return claims;
}

/** The spec of a pod that uses these claims. A volume of the same name gives way. */
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

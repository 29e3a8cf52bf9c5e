/**
 * Takes out of a template what belongs to the hub's copy alone: server-set metadata, status, and fields that a member
 * allocates or generates itself. Rules go by group and kind, so another project's `Job` is left as it is.
 */
import { gvkOf } from "../../api/index.ts";
import type { KubernetesObject } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { DeepReadonly } from "../../base/index.ts";

type Manifest = DeepReadonly<KubernetesObject> & { readonly [field: string]: unknown };

const SERVER_SET = new Set([
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "managedFields",
  "resourceVersion",
  "selfLink",
  "uid",
  "ownerReferences",
  "finalizers",
]);

const byKind: Record<string, (manifest: Manifest) => Manifest> = {
  "apps/Deployment": (manifest) => withoutAnnotations(manifest, ["deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"]),
  "/PersistentVolumeClaim": (manifest) => withoutAnnotations(manifest, ["volume.kubernetes.io/selected-node"]),
  "/Service"(manifest) {
    const { spec } = manifest;
    if (!isObject(spec) || spec["clusterIP"] === "None") return manifest;
    const { clusterIP: _clusterIP, clusterIPs: _clusterIPs, ...rest } = spec;
    return { ...manifest, spec: rest };
  },
};

export function prune(template: Manifest): Manifest {
  const { status: _status, ...manifest } = template;
  const metadata = Object.fromEntries(Object.entries(template.metadata).filter(([field]) => !SERVER_SET.has(field)));
  const { group, kind } = gvkOf(template);
  const bare = { ...manifest, metadata } as unknown as Manifest;
  return byKind[`${group}/${kind}`]?.(bare) ?? bare;
}

function withoutAnnotations(manifest: Manifest, names: readonly string[]): Manifest {
  const { annotations } = manifest.metadata;
  if (!annotations || !names.some((name) => name in annotations)) return manifest;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([name]) => !names.includes(name)));
  return { ...manifest, metadata: { ...manifest.metadata, annotations: kept } };
}

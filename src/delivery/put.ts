/**
 * The object that Karmada would PUT: the manifest, with what the member's own controllers put into its metadata kept. A
 * label or annotation that an earlier manifest recorded as its own and this one lacks is taken away; every other that
 * the member has stays. Pure.
 */
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";
import { MANAGED_ANNOTATIONS, MANAGED_LABELS } from "./marks.ts";

type Manifest = DeepReadonly<KubernetesObject>;
type Texts = Readonly<Record<string, string>>;

export function planPut(wanted: Manifest, observed: Manifest): Manifest {
  const { resourceVersion, finalizers, ownerReferences, labels = {}, annotations = {} } = observed.metadata;
  // A manifest's own finalizers and owners count when it is created; afterwards they are the member's.
  const { finalizers: _finalizers, ownerReferences: _owners, ...metadata } = wanted.metadata;
  return {
    ...wanted,
    metadata: {
      ...metadata,
      ...(resourceVersion && { resourceVersion }),
      finalizers,
      ownerReferences,
      labels: merge(wanted.metadata.labels, labels, annotations[MANAGED_LABELS]),
      annotations: merge(wanted.metadata.annotations, annotations, annotations[MANAGED_ANNOTATIONS]),
    },
  };
}

function merge(wanted: Texts = {}, observed: Texts, record = ""): Texts {
  const recorded = new Set(record.split(","));
  return { ...Object.fromEntries(Object.entries(observed).filter(([key]) => !recorded.has(key))), ...wanted };
}

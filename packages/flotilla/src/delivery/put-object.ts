/**
 * The object that Karmada would PUT: the manifest, with the metadata that the member's own controllers added. A label
 * or annotation that an earlier manifest recorded and this one lacks is removed; all others on the member stay. Pure.
 */
import { omitZero } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { MANAGED_ANNOTATIONS, MANAGED_LABELS } from "@flotilla/karmada";
type Manifest = DeepReadonly<KubernetesObject>;
type Texts = Readonly<Record<string, string>>;

export function planPut(wanted: Manifest, observed: Manifest): Manifest {
  const { resourceVersion, finalizers, ownerReferences, labels = {}, annotations = {} } = observed.metadata;
  // A manifest's finalizers and owner references apply on creation only; afterwards the member owns them.
  const { finalizers: _finalizers, ownerReferences: _owners, ...metadata } = wanted.metadata;
  return {
    ...wanted,
    metadata: {
      ...metadata,
      ...omitZero({ resourceVersion }),
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

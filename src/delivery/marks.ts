/** How we recognise, on a member, an object that Flotilla delivered. The label is Karmada's, so that users can come and leave. */
import { hash } from "node:crypto";
import type { KubernetesObject } from "../api/index.ts";
import type { DeepReadonly } from "../base/index.ts";

export const MANAGED_LABEL = "karmada.io/managed";
/** Digest of the manifest that was last applied: tells without a request that nothing is left to do. */
export const APPLIED_DIGEST = "flotilla.dev/applied-digest";

export function isOurs(object: DeepReadonly<KubernetesObject>): boolean {
  return object.metadata.labels?.[MANAGED_LABEL] === "true";
}

export function digestOf(manifest: DeepReadonly<KubernetesObject>): string {
  return hash("sha256", JSON.stringify(manifest), "base64url").slice(0, 22);
}

/** Manifests are shared and never changed, and each is looked at several times while it settles: it is marked once. */
const marked = new WeakMap<object, DeepReadonly<KubernetesObject>>();

/** The manifest with our marks on it. */
export function mark(manifest: DeepReadonly<KubernetesObject>): DeepReadonly<KubernetesObject> {
  const known = marked.get(manifest);
  if (known) return known;
  const { labels, annotations } = manifest.metadata;
  const result = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { ...labels, [MANAGED_LABEL]: "true" },
      annotations: { ...annotations, [APPLIED_DIGEST]: digestOf(manifest) },
    },
  };
  marked.set(manifest, result);
  return result;
}

/** A merge patch that takes our marks and Karmada's records off an object that stays on the member. */
export function releasePatch(object: DeepReadonly<KubernetesObject>): { metadata: { labels: Record<string, null>; annotations: Record<string, null> } } {
  const ours = (names: Readonly<Record<string, string>> = {}): Record<string, null> =>
    Object.fromEntries(
      Object.keys(names)
        .filter((name) => /(^|\.)karmada\.io\//.test(name) || name === APPLIED_DIGEST)
        .map((name) => [name, null]),
    );
  return { metadata: { labels: ours(object.metadata.labels), annotations: ours(object.metadata.annotations) } };
}

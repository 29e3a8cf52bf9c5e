/**
 * Hashes by which the kubelet and kruise-daemon detect whether a running container still matches the pod. The component
 * that runs the containers writes them to the annotation `apps.kruise.io/runtime-containers-meta`.
 */
import type { Container } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { compareText } from "@flotilla/base";
import { fnv1a32, goStructJson } from "@flotilla/apimachinery";

type ReadonlyContainer = DeepReadonly<Container>;
interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Kubernetes hashes a dump of a Go value; the dump of a byte slice is its numbers. */
export function goBytesHash(text: string): number {
  return fnv1a32(`([]uint8)[${Buffer.from(text).join(" ")}]`);
}

/** Hash of name and image, as in kubelets since 1.31. */
export function plainHash({ name, image = "" }: ReadonlyContainer): number {
  return goBytesHash(goStructJson({ image, name }));
}

/** Variables with which a SidecarSet switches versions; they change without a restart. */
const IGNORED: ReadonlySet<string> = new Set(["SIDECARSET_VERSION", "SIDECARSET_VERSION_ALT"]);

/** A label or an annotation of the pod that a container variable references. */
export interface MetadataReference {
  variable: string;
  of: "labels" | "annotations";
  key: string;
}

/** `metadata.labels['version']`, `metadata.annotations['note']`. */
export function metadataReferences({ env = [] }: ReadonlyContainer): MetadataReference[] {
  return env.flatMap(({ name, value, valueFrom }) => {
    if (value || IGNORED.has(name)) return [];
    const [, of, key] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(valueFrom?.fieldRef?.fieldPath ?? "") ?? [];
    return key !== undefined && (of === "labels" || of === "annotations") ? [{ variable: name, of, key }] : [];
  });
}

/** The variables that come from the pod's labels and annotations, with their current values. */
export function envFromMetadataHash(container: ReadonlyContainer, metadata: Metadata): number {
  const variables = metadataReferences(container)
    .map(({ variable, of, key }) => ({ name: variable, value: metadata[of]?.[key] }))
    .toSorted((a, b) => compareText(a.name, b.name))
    .map(({ name, value }) => (value ? { name, value } : { name }));
  return goBytesHash(goStructJson(variables.length > 0 ? variables : null));
}

/** Both hashes, for the component that runs containers and records them. */
export const containerHashes = { plain: plainHash, variables: envFromMetadataHash };

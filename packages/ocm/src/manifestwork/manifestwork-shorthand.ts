/**
 * A manifest with only a kind (`kind: CloneSet`), in a ManifestWork whose configs name one object of that kind,
 * represents that object. Guides omit the other fields this way when they show a config. The stored object is kept.
 */
import { isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { Admission, KubernetesObject } from "@flotilla/apimachinery";

type Read = DeepReadonly<JsonObject>;
type Canonical = NonNullable<Admission<KubernetesObject>["canonical"]>;

interface Identifier {
  name: string;
  namespace?: string;
}

export const expandBareManifests: Canonical = (sent, { stored, warn }) => {
  const manifests = manifestsOf(sent);
  if (!manifests?.some(isBare)) return sent;
  const known = (stored && manifestsOf(stored)) ?? [];
  const whole = manifests.map((manifest, index) => {
    const named = isBare(manifest) ? soleIdentifier(sent, manifest) : undefined;
    if (!named || !isBare(manifest)) return manifest;
    const { identifier, config } = named;
    const before = known.find((other) => isNamed(other, manifest, identifier));
    const { name, namespace } = identifier;
    warn(
      `spec.workload.manifests[${index}]: has no name and is taken for the ${manifest.kind} ` +
        `${namespace === undefined ? "" : `${namespace}/`}${name} of ` +
        `spec.manifestConfigs[${config}]${before ? ", as it is stored" : ""}; the canonical form is the ` +
        "whole manifest",
    );
    return before ?? { ...manifest, metadata: { name, namespace } };
  });
  const { spec } = sent as { spec: Read };
  return { ...sent, spec: { ...spec, workload: { ...(spec["workload"] as Read), manifests: whole as Json[] } } };
};

function manifestsOf({ spec }: Read): readonly DeepReadonly<Json>[] | undefined {
  const workload = isObject(spec) ? spec["workload"] : undefined;
  const manifests = isObject(workload) ? workload["manifests"] : undefined;
  return Array.isArray(manifests) ? manifests : undefined;
}

function isBare(manifest: DeepReadonly<Json>): manifest is { readonly apiVersion: string; readonly kind: string } {
  return (
    isObject(manifest) &&
    typeof manifest["apiVersion"] === "string" &&
    typeof manifest["kind"] === "string" &&
    Object.keys(manifest).length === 2
  );
}

/** The object of the manifest's kind that a config names, if exactly one does and it is not a pattern. */
function soleIdentifier(
  { spec }: Read,
  { apiVersion, kind }: { apiVersion: string; kind: string },
): { identifier: Identifier; config: number } | undefined {
  const configs = (spec as Read)["manifestConfigs"];
  const found = (Array.isArray(configs) ? configs : []).flatMap((config: DeepReadonly<Json>, index) => {
    const identifier = isObject(config) ? config["resourceIdentifier"] : undefined;
    if (!isObject(identifier)) return [];
    const { group = "", resource, name = "", namespace = "" } = identifier;
    if (
      group !== parseApiVersion(apiVersion).group ||
      resource !== pluralOf(kind) ||
      typeof name !== "string" ||
      typeof namespace !== "string"
    )
      return [];
    return name === "" || `${namespace}${name}`.includes("*")
      ? []
      : [{ identifier: { name, namespace: namespace !== "" ? namespace : undefined }, config: index }];
  });
  return found.length === 1 ? found[0] : undefined;
}

function isNamed(
  manifest: DeepReadonly<Json>,
  { apiVersion, kind }: { apiVersion: string; kind: string },
  { name, namespace }: Identifier,
): boolean {
  if (
    !isObject(manifest) ||
    manifest["apiVersion"] !== apiVersion ||
    manifest["kind"] !== kind ||
    !isObject(manifest["metadata"])
  )
    return false;
  const { metadata } = manifest;
  return metadata["name"] === name && metadata["namespace"] === namespace;
}

/** The regular plural of a kind; kinds with irregular plurals must be written in full. */
function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  if (/(s|x|z|ch|sh)$/.test(lower)) return `${lower}es`;
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}

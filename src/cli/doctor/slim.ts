/** What checks need of large objects: Works and ManifestWorks without what they bring, definitions without their schemas. Pure. */
import { CustomResourceDefinition, ManifestWork, ManifestWorkReplicaSet, Work } from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import { isObject } from "../../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../../base/index.ts";

const BULKY = new Set([Work.plural, ManifestWork.plural, ManifestWorkReplicaSet.plural]);

export function slimObject<T extends KubernetesObject>(kind: Kind<T>, object: DeepReadonly<T>): DeepReadonly<T> {
  const { managedFields: _fields, ...metadata } = (object as DeepReadonly<KubernetesObject>).metadata;
  const { spec } = object as { spec?: unknown };
  return { ...object, metadata, ...(isObject(spec) && { spec: slimSpec(kind.plural, spec) }) };
}

function slimSpec(plural: string, spec: JsonObject): JsonObject {
  if (BULKY.has(plural)) return { workload: { manifests: manifestsIn(spec) } };
  const { group = "", names = {}, scope = "" } = spec;
  return plural === CustomResourceDefinition.plural ? { group, names, scope } : spec;
}

/** The first few manifests with nothing but their names: what a check tells of. */
function manifestsIn(spec: JsonObject): Json[] {
  const { workload } = spec;
  const manifests = isObject(workload) && Array.isArray(workload["manifests"]) ? workload["manifests"] : [];
  return manifests.slice(0, 3).filter(isObject).map(({ apiVersion = "", kind = "", metadata }) => ({ apiVersion, kind, metadata: isObject(metadata) ? { name: metadata["name"] ?? "", ...(metadata["namespace"] !== undefined && { namespace: metadata["namespace"] }) } : {} }));
}

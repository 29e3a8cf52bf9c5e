/** What aggregated servers serve, in the form of aggregated discovery. Pure. */
import { isObject, defined, textOf } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

/** A version of a group in aggregated discovery (`apidiscovery.k8s.io/v2`). */
export interface DiscoveredVersion {
  readonly resources: readonly JsonObject[];
}

/** The version in an APIGroupDiscoveryList; undefined when the list does not have it. */
export function versionInGroups(list: Json, group: string, version: string): DiscoveredVersion | undefined {
  const items = isObject(list) && Array.isArray(list.items) ? list.items.filter(isObject) : [];
  const found = items.find(({ metadata }) => isObject(metadata) && metadata.name === group);
  const versions = Array.isArray(found?.versions) ? found.versions.filter(isObject) : [];
  const one = versions.find((candidate) => candidate.version === version);
  return one && { resources: Array.isArray(one.resources) ? one.resources.filter(isObject) : [] };
}

/** The version that an APIResourceList describes. */
export function versionOfResources(list: Json, group: string, version: string): DiscoveredVersion | undefined {
  if (!isObject(list) || !Array.isArray(list.resources)) return undefined;
  const rows = list.resources.filter(isObject);
  const kindOf = (row: JsonObject): JsonObject => ({
    group: textOf(row.group) || group,
    version: textOf(row.version) || version,
    kind: textOf(row.kind),
  });
  const resources = rows
    .filter(({ name }) => !textOf(name).includes("/"))
    .map((row): JsonObject => {
      const name = textOf(row.name);
      const subresources = rows.filter((other) => textOf(other.name).startsWith(`${name}/`));
      return {
        resource: name,
        responseKind: kindOf(row),
        scope: row.namespaced === true ? "Namespaced" : "Cluster",
        singularResource: textOf(row.singularName),
        verbs: Array.isArray(row.verbs) ? row.verbs : [],
        ...defined({
          shortNames: Array.isArray(row.shortNames) ? row.shortNames : undefined,
          categories: Array.isArray(row.categories) ? row.categories : undefined,
          subresources:
            subresources.length > 0
              ? subresources.map((other) => ({
                  subresource: textOf(other.name).slice(name.length + 1),
                  responseKind: kindOf(other),
                  verbs: Array.isArray(other.verbs) ? other.verbs : [],
                }))
              : undefined,
        }),
      };
    });
  return { resources };
}

/** The resources of a version whose objects are in namespaces and can be listed and deleted. */
export function deletableResources({ resources }: DiscoveredVersion): { name: string; hasCollection: boolean }[] {
  return resources.flatMap(({ resource, scope, verbs }) => {
    const allowed = Array.isArray(verbs) ? verbs : [];
    return typeof resource === "string" &&
      scope === "Namespaced" &&
      allowed.includes("list") &&
      allowed.includes("delete")
      ? [{ name: resource, hasCollection: allowed.includes("deletecollection") }]
      : [];
  });
}

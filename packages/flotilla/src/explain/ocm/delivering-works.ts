/** Finds ManifestWorks that deliver an object to members. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { ManifestWork } from "@flotilla/ocm";
import { isObject, type DeepReadonly } from "@flotilla/base";
import type { Explanation } from "../explanation.ts";
import { bindingName } from "@flotilla/karmada";

export interface DeliveredObject {
  resource: Explanation["resource"];
  /** The works with the ordinal of the object among their manifests. */
  deliveries: { work: DeepReadonly<ManifestWork>; ordinal: number }[];
}

/** An object may be delivered to thousands of members; only the first hundred are listed individually. */
const MAX_WORKS = 100;

/**
 * Takes the explanation name of the object. Without a group, the first group with a kind of this name is used. Scans
 * every work, which is acceptable because requests come from users and are rare.
 */
export function findDeliveringWorks(
  works: Iterable<DeepReadonly<ManifestWork>>,
  namespace: string | undefined,
  asked: string,
  group?: string,
): DeliveredObject | undefined {
  let wanted = group;
  let resource: Explanation["resource"] | undefined;
  const found: DeliveredObject["deliveries"] = [];
  for (const work of works) {
    const manifests = (work.spec.workload?.manifests ?? []) as readonly {
      apiVersion?: unknown;
      kind?: unknown;
      metadata?: unknown;
    }[];
    for (const [ordinal, { apiVersion, kind, metadata }] of manifests.entries()) {
      if (
        !isObject(metadata) ||
        typeof apiVersion !== "string" ||
        typeof kind !== "string" ||
        typeof metadata["name"] !== "string"
      )
        continue;
      // The name is constructed only if the length matches, which is rare.
      if (
        metadata["name"].length + kind.length + 1 !== asked.length ||
        (metadata["namespace"] || undefined) !== namespace ||
        bindingName(kind, metadata["name"]) !== asked
      )
        continue;
      const own = parseApiVersion(apiVersion).group;
      if (own !== (wanted ??= own)) continue;
      resource ??= { apiVersion, kind, namespace: namespace || undefined, name: metadata["name"] };
      found.push({ work, ordinal });
      break;
    }
    if (found.length === MAX_WORKS) break;
  }
  return resource && { resource, deliveries: found };
}

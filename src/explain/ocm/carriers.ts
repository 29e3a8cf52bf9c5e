/** ManifestWorks that bring one object to members. Pure. */
import { bindingName, parseApiVersion } from "../../api/index.ts";
import type { ManifestWork } from "../../api/index.ts";
import { isObject, type DeepReadonly } from "../../base/index.ts";
import type { ExplainedWork, Explanation } from "../explanation.ts";
import { verdictOn } from "./work-verdict.ts";

export interface Carried {
  resource: Explanation["resource"];
  works: ExplainedWork[];
}

/** An object may go to thousands of members; the first hundred are told one by one. */
const MAX_WORKS = 100;

/**
 * By the name that an explanation of the object has; the first group counts that has a kind of this name, unless one is
 * given. Every work is looked at: this is asked by a person, now and then.
 */
export function findCarriers(
  works: Iterable<DeepReadonly<ManifestWork>>,
  namespace: string | undefined,
  asked: string,
  group?: string,
): Carried | undefined {
  let wanted = group;
  let resource: Explanation["resource"] | undefined;
  const found: ExplainedWork[] = [];
  for (const work of works) {
    for (const { apiVersion, kind, metadata } of (work.spec.workload?.manifests ?? []) as readonly {
      apiVersion?: unknown;
      kind?: unknown;
      metadata?: unknown;
    }[]) {
      if (
        !isObject(metadata) ||
        typeof apiVersion !== "string" ||
        typeof kind !== "string" ||
        typeof metadata["name"] !== "string"
      )
        continue;
      // The name is put together only where its length fits, which is almost never.
      if (
        metadata["name"].length + kind.length + 1 !== asked.length ||
        (metadata["namespace"] || undefined) !== namespace ||
        bindingName(kind, metadata["name"]) !== asked
      )
        continue;
      const own = parseApiVersion(apiVersion).group;
      if (own !== (wanted ??= own)) continue;
      resource ??= { apiVersion, kind, namespace: namespace || undefined, name: metadata["name"] };
      found.push(verdictOn(work));
      break;
    }
    if (found.length === MAX_WORKS) break;
  }
  return resource && { resource, works: found };
}

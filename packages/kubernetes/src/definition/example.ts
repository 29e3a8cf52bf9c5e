/** Builds the smallest valid object of a kind, for the contract suites and for reference. */
import { defined } from "@flotilla/base";
import { formatApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";

/** `fields` are those that the kind requires; its `metadata` replaces the default. */
export function exampleOf(kind: Kind, fields: JsonObject = {}): KubernetesObject {
  const { metadata, ...rest } = fields;
  return {
    apiVersion: formatApiVersion(kind.group, kind.storageVersion),
    kind: kind.kind,
    metadata: {
      name: "web",
      ...defined({ namespace: kind.scope === "Namespaced" ? "shop" : undefined }),
      ...(metadata as JsonObject | undefined),
    },
    ...rest,
  };
}

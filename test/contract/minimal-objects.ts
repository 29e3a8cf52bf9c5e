/** The minimal valid object of each kind, in its storage version: the example in its definition. The suites cover all. */
import { defined } from "@flotilla/base";
import { formatApiVersion } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { LogicalCluster } from "@flotilla/apiserver";
import { argoDefinitions } from "@flotilla/argo";
import type { JsonObject } from "@flotilla/base";
import { rolloutDefinitions } from "@flotilla/flotilla";
import { karmadaDefinitions } from "@flotilla/karmada";
import { Eviction, isServed, kubernetesDefinitions, TokenRequest } from "@flotilla/kubernetes";
import type { AnyDefinition } from "@flotilla/kubernetes";
import { ocmDefinitions } from "@flotilla/ocm";
import { kruiseDefinitions } from "@flotilla/openkruise";

const UID = "00000000-0000-4000-8000-000000000001";

/** Bodies of requests, and the kind of the API server itself: they have no definition. */
const others: readonly (readonly [Kind, JsonObject])[] = [
  [Eviction, {}],
  [TokenRequest, { spec: { audiences: [] } }],
  [LogicalCluster, { spec: { profile: "empty" } }],
];

export const definitions: readonly AnyDefinition[] = [
  ...kubernetesDefinitions,
  ...karmadaDefinitions,
  ...ocmDefinitions,
  ...kruiseDefinitions,
  ...argoDefinitions,
  ...rolloutDefinitions,
];

const examples = new Map<Kind, JsonObject>([
  ...definitions.flatMap(({ kind, example }): [Kind, JsonObject][] =>
    isServed(kind) && example ? [[kind, example as unknown as JsonObject]] : [],
  ),
  ...others.map(([kind, fields]): [Kind, JsonObject] => [
    kind,
    {
      apiVersion: formatApiVersion(kind.group, kind.storageVersion),
      kind: kind.kind,
      metadata: { name: "web", ...defined({ namespace: kind.scope === "Namespaced" ? "shop" : undefined }) },
      ...fields,
    },
  ]),
]);

export const kinds: readonly Kind[] = [...examples.keys()];

export function minimalObject(kind: Kind): JsonObject {
  const example = examples.get(kind);
  if (!example) throw new Error(`the definition of ${kind.kind} has no example`);
  return { ...example, metadata: { ...(example["metadata"] as JsonObject), uid: UID } };
}

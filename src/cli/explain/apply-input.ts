/**
 * What the hub would have after manifests were applied. The hub itself says it, in dry runs: so defaults, admission and refusals
 * are the real ones, and nothing is written.
 */
import { ResourceInterpreterCustomization, gvkOf } from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import { FlotillaError, isObject, UsageError } from "../../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../../base/index.ts";
import { createKindResolver, find } from "../../client/index.ts";
import type { Client } from "../../client/index.ts";
import { SNAPSHOT_KINDS } from "../../explain/index.ts";
import type { FleetSnapshot } from "../../explain/index.ts";
import { isNotFound } from "../../machinery/index.ts";
import type { HubState } from "./read-snapshot.ts";

type Given = DeepReadonly<KubernetesObject>;
/** kubectl's memory of what it applied last; what it has and the manifest has not is taken away. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** In the order in which they are given. */
export async function dryRun(client: Client, manifests: readonly JsonObject[], namespace: string, signal: AbortSignal): Promise<Given[]> {
  const kinds = createKindResolver({ client, cluster: "hub" });
  const results: Given[] = [];
  for (const manifest of manifests) {
    const { apiVersion, kind: name } = manifest;
    if (typeof apiVersion !== "string" || typeof name !== "string" || !isObject(manifest["metadata"]) || typeof manifest["metadata"]["name"] !== "string") throw new UsageError("every manifest needs apiVersion, kind and metadata.name");
    const kind = await kinds.resolve({ apiVersion, kind: name });
    const { namespace: _, ...metadata } = manifest["metadata"];
    const own = manifest["metadata"]["namespace"] ?? namespace;
    results.push(await dryRunOne(client, kind, { ...manifest, metadata: { ...metadata, ...(kind.scope === "Namespaced" && { namespace: own }) } } as unknown as Given, signal));
  }
  return results;
}

async function dryRunOne(client: Client, kind: Kind, given: Given, signal: AbortSignal): Promise<Given> {
  const { namespace, name } = given.metadata;
  const doing = `trying ${given.kind} ${namespace ? `${namespace}/` : ""}${name} on the hub`;
  const options = { dryRun: true, signal };
  try {
    const key = { cluster: "hub", ...(namespace && { namespace }), name };
    const existing = await find(client, kind, key, { signal });
    if (!existing) return await client.create(kind, "hub", given, options);
    const last = lastApplied(existing);
    if (last) return await client.patch(kind, key, threeWay(last, given as unknown as JsonObject), { ...options, type: "merge" });
    return await client.apply(kind, "hub", given, { ...options, force: true, fieldManager: "kubectl" });
  } catch (error) {
    if (isNotFound(error) && namespace) throw new FlotillaError("NoNamespace", `${doing}: namespace ${namespace} is not there; create it first, and plan the rest then`, { cause: error });
    throw new FlotillaError("Refused", doing, { cause: error });
  }
}

function lastApplied({ metadata }: Given): JsonObject | undefined {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // Somebody wrote over it; kubectl starts anew as well.
    throw error;
  }
}

/** A merge patch: the manifest, and null for what the last one had and it has not. */
function threeWay(last: JsonObject, next: JsonObject): JsonObject {
  const patch: JsonObject = { ...next };
  for (const [key, before] of Object.entries(last)) {
    const after = Object.hasOwn(next, key) ? next[key] : undefined;
    if (after === undefined || after === null) patch[key] = null;
    else if (isObject(before) && isObject(after)) patch[key] = threeWay(before, after);
  }
  return patch;
}

/** The state with these objects in place of what they were. */
export function withObjects(state: HubState, objects: readonly Given[]): HubState {
  const snapshot: Record<string, readonly Given[]> = { ...state.snapshot };
  let customizations = state.customizations;
  // Whoever asks which came later, a policy or its template, finds these after everything that is there, in their order.
  let newest = 0;
  for (const list of Object.values(snapshot)) for (const { metadata } of list) newest = Math.max(newest, Number(metadata.resourceVersion ?? 0));
  objects.forEach((given, index) => {
    const object: Given = { ...given, metadata: { ...given.metadata, resourceVersion: String(newest + 1 + index) } };
    if (isOf(ResourceInterpreterCustomization, object)) customizations = [...customizations.filter(({ metadata }) => metadata.name !== object.metadata.name), object as DeepReadonly<ResourceInterpreterCustomization>];
    const place = (Object.keys(SNAPSHOT_KINDS) as (keyof typeof SNAPSHOT_KINDS)[]).find((name) => isOf(SNAPSHOT_KINDS[name] as Kind, object)) ?? "templates";
    snapshot[place] = [...(snapshot[place] ?? []).filter((other) => !isSame(other, object)), object];
  });
  return { ...state, snapshot: snapshot as unknown as FleetSnapshot, customizations };
}

const isOf = ({ group, kind }: Kind, object: Given): boolean => object.kind === kind && gvkOf(object).group === group;
/** Whether two are one object, in whatever version. */
export const isSame = (a: Given, b: Given): boolean => a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace && gvkOf(a).group === gvkOf(b).group;

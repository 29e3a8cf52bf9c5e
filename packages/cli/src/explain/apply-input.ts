/**
 * Applies manifests to the hub, for real or in a dry run. A plan uses dry runs on the hub, so defaults, admission and
 * rejections are the real ones, nothing is written, and a later apply does what was planned.
 *
 * Objects are applied as kubectl applies them, with the same last-applied annotation, so that both can be used on one
 * object.
 */
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import { gvkOf, HUB, isNotFound } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, isObject, setOwn, UsageError } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { SNAPSHOT_KINDS } from "@flotilla/flotilla";
import type { FleetSnapshot } from "@flotilla/flotilla";
import type { HubState } from "./read-snapshot.ts";

type Given = DeepReadonly<KubernetesObject>;
/** kubectl's record of the last applied manifest; fields that it has and the new manifest lacks are removed. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** All annotations of an object together are limited to 256 KiB, and the object's own need some of it. */
const MAX_REMEMBERED_CHARACTERS = 200 * 1024;
/** kubectl's field managers for client-side and server-side apply. */
const WITH_MEMORY = "kubectl-client-side-apply";
const ON_SERVER = "kubectl";

export interface Applied {
  /** The object as the hub has it afterwards. */
  object: Given;
  kind: Kind;
  outcome: "created" | "changed" | "unchanged";
}

export interface ApplyHow {
  dryRun: boolean;
  signal: AbortSignal;
  /** Called for each object after it was applied. */
  onApplied?(applied: Applied): void;
}

/** In the given order. */
export async function dryRun(
  client: Client,
  manifests: readonly JsonObject[],
  namespace: string,
  signal: AbortSignal,
): Promise<Given[]> {
  return (await applyAll(client, manifests, namespace, { dryRun: true, signal })).map(({ object }) => object);
}

/** In the given order; stops at the first object that the hub rejects. */
export async function applyAll(
  client: Client,
  manifests: readonly JsonObject[],
  namespace: string,
  how: ApplyHow,
): Promise<Applied[]> {
  const kinds = createKindResolver({ client, cluster: HUB });
  const results: Applied[] = [];
  for (const manifest of manifests) {
    const { apiVersion, kind: name } = manifest;
    if (
      typeof apiVersion !== "string" ||
      typeof name !== "string" ||
      !isObject(manifest["metadata"]) ||
      typeof manifest["metadata"]["name"] !== "string"
    )
      throw new UsageError("every manifest needs apiVersion, kind and metadata.name");
    const kind = await kinds.resolve({ apiVersion, kind: name });
    const { namespace: _, ...metadata } = manifest["metadata"];
    const own = manifest["metadata"]["namespace"] ?? namespace;
    const applied = await applyOne(
      client,
      kind,
      {
        ...manifest,
        metadata: { ...metadata, ...(kind.scope === "Namespaced" && { namespace: own }) },
      } as unknown as Given,
      how,
    );
    results.push(applied);
    how.onApplied?.(applied);
  }
  return results;
}

async function applyOne(
  client: Client,
  kind: Kind,
  given: Given,
  { dryRun: isDry, signal }: ApplyHow,
): Promise<Applied> {
  const { namespace, name } = given.metadata;
  const doing = `${isDry ? "trying" : "applying"} ${given.kind} ${namespace ? `${namespace}/` : ""}${name} on the hub`;
  const options = { dryRun: isDry, signal };
  try {
    const key = { cluster: HUB, namespace: namespace || undefined, name };
    const existing = await find(client, kind, key, { signal });
    const remembered = withMemory(given);
    // The annotation itself is not a change worth planning.
    const written = remembered && isDry ? given : remembered;
    if (!existing && written)
      return {
        object: await client.create(kind, HUB, written, { ...options, fieldManager: WITH_MEMORY }),
        kind,
        outcome: "created",
      };
    const last = existing && lastApplied(existing);
    const object =
      last && written
        ? await client.patch(kind, key, threeWay(last, written as unknown as JsonObject), {
            ...options,
            type: "merge",
            fieldManager: WITH_MEMORY,
          })
        : await client.apply(kind, HUB, given, { ...options, force: true, fieldManager: ON_SERVER });
    return {
      object,
      kind,
      outcome: !existing ? "created" : equalJson(contentOf(existing), contentOf(object)) ? "unchanged" : "changed",
    };
  } catch (error) {
    if (isNotFound(error) && namespace)
      throw new FlotillaError(
        "NoNamespace",
        `${doing}: namespace ${namespace} not found; create it first, then ${isDry ? "plan" : "apply"} the rest`,
        { cause: error },
      );
    throw new FlotillaError("Rejected", doing, { cause: error });
  }
}

/** The parts that a manifest can change. A concurrent status update is not our change. */
function contentOf(object: Given): unknown {
  const { metadata, status: _, ...content } = object as Given & { status?: unknown };
  const { resourceVersion: _revision, managedFields: _managers, ...named } = metadata;
  return { ...content, metadata: named };
}

/** The manifest with kubectl's last-applied annotation, in kubectl's format; undefined if it is too large. */
function withMemory(given: Given): Given | undefined {
  const annotations: Record<string, string> = { ...given.metadata.annotations };
  delete annotations[LAST_APPLIED];
  const text = `${JSON.stringify(sorted({ ...given, metadata: { ...given.metadata, annotations } } as unknown as Json))}\n`;
  return text.length > MAX_REMEMBERED_CHARACTERS
    ? undefined
    : { ...given, metadata: { ...given.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

/** Sorted keys, so that the same manifest always yields the same text. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) setOwn(result, key, sorted(value[key] ?? null));
  return result;
}

function lastApplied({ metadata }: Given): JsonObject | undefined {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    // The annotation was overwritten; kubectl starts over in this case as well.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A merge patch: the manifest, and null for fields that only the last one had. */
function threeWay(last: JsonObject, next: JsonObject): JsonObject {
  const patch: JsonObject = { ...next };
  for (const [key, before] of Object.entries(last)) {
    const after = Object.hasOwn(next, key) ? next[key] : undefined;
    if (after === undefined || after === null) patch[key] = null;
    else if (isObject(before) && isObject(after)) patch[key] = threeWay(before, after);
  }
  return patch;
}

/** The state with these objects replacing their previous versions. */
export function withObjects(state: HubState, objects: readonly Given[]): HubState {
  const snapshot: Record<string, readonly Given[]> = { ...state.snapshot };
  let customizations = state.customizations;
  // Comparisons of creation order, for example of a policy and its template, find these after all existing objects, in
  // their order.
  let newest = 0;
  for (const list of Object.values(snapshot))
    for (const { metadata } of list) newest = Math.max(newest, Number(metadata.resourceVersion ?? 0));
  objects.forEach((given, index) => {
    const object: Given = { ...given, metadata: { ...given.metadata, resourceVersion: String(newest + 1 + index) } };
    if (isOf(ResourceInterpreterCustomization, object))
      customizations = [
        ...customizations.filter(({ metadata }) => metadata.name !== object.metadata.name),
        object as DeepReadonly<ResourceInterpreterCustomization>,
      ];
    const place =
      (Object.keys(SNAPSHOT_KINDS) as (keyof typeof SNAPSHOT_KINDS)[]).find((name) =>
        isOf(SNAPSHOT_KINDS[name] as Kind, object),
      ) ?? "templates";
    snapshot[place] = [...(snapshot[place] ?? []).filter((other) => !isSame(other, object)), object];
  });
  return { ...state, snapshot: snapshot as unknown as FleetSnapshot, customizations };
}

const isOf = ({ group, kind }: Kind, object: Given): boolean => object.kind === kind && gvkOf(object).group === group;
/** Whether two are the same object, in any version. */
export const isSame = (a: Given, b: Given): boolean =>
  a.kind === b.kind &&
  a.metadata.name === b.metadata.name &&
  a.metadata.namespace === b.metadata.namespace &&
  gvkOf(a).group === gvkOf(b).group;

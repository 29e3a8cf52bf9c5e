/**
 * How manifests are applied to the hub, for good or in a dry run. A plan asks the hub in dry runs what it would have
 * then: so defaults, admission and refusals are the real ones, nothing is written, and what is applied later is what
 * was planned.
 *
 * Objects are applied as kubectl does it, and are remembered as kubectl remembers them, so that both can be used on one
 * object.
 */
import { ResourceInterpreterCustomization, gvkOf } from "../../api/index.ts";
import type { Kind, KubernetesObject } from "../../api/index.ts";
import { equalJson, FlotillaError, isObject, setOwn, UsageError } from "../../base/index.ts";
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
/** All annotations of an object together have 256 KiB, and its own need some too. */
const MAX_REMEMBERED_CHARACTERS = 200 * 1024;
/** Those who applied with that memory, and those who applied on the server, by the names that kubectl has for them. */
const WITH_MEMORY = "kubectl-client-side-apply";
const ON_SERVER = "kubectl";

export interface Applied {
  /** As the hub has it then. */
  object: Given;
  kind: Kind;
  outcome: "created" | "changed" | "unchanged";
}

export interface ApplyHow {
  dryRun: boolean;
  signal: AbortSignal;
  /** Told of each object when it is done. */
  onApplied?(applied: Applied): void;
}

/** In the order in which they are given. */
export async function dryRun(
  client: Client,
  manifests: readonly JsonObject[],
  namespace: string,
  signal: AbortSignal,
): Promise<Given[]> {
  return (await applyAll(client, manifests, namespace, { dryRun: true, signal })).map(({ object }) => object);
}

/** In the order in which they are given; ends with the first that the hub refuses. */
export async function applyAll(
  client: Client,
  manifests: readonly JsonObject[],
  namespace: string,
  how: ApplyHow,
): Promise<Applied[]> {
  const kinds = createKindResolver({ client, cluster: "hub" });
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
    const key = { cluster: "hub", namespace: namespace || undefined, name };
    const existing = await find(client, kind, key, { signal });
    const remembered = withMemory(given);
    // The memory itself changes nothing that anybody would plan.
    const written = remembered && isDry ? given : remembered;
    if (!existing && written)
      return {
        object: await client.create(kind, "hub", written, { ...options, fieldManager: WITH_MEMORY }),
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
        : await client.apply(kind, "hub", given, { ...options, force: true, fieldManager: ON_SERVER });
    return {
      object,
      kind,
      outcome: !existing ? "created" : equalJson(contentOf(existing), contentOf(object)) ? "unchanged" : "changed",
    };
  } catch (error) {
    if (isNotFound(error) && namespace)
      throw new FlotillaError(
        "NoNamespace",
        `${doing}: namespace ${namespace} is not there; create it first, and ${isDry ? "plan" : "apply"} the rest then`,
        { cause: error },
      );
    throw new FlotillaError("Refused", doing, { cause: error });
  }
}

/** What a manifest can change. A status that somebody writes meanwhile is no change of ours. */
function contentOf(object: Given): unknown {
  const { metadata, status: _, ...content } = object as Given & { status?: unknown };
  const { resourceVersion: _revision, managedFields: _managers, ...named } = metadata;
  return { ...content, metadata: named };
}

/**
 * The manifest with kubectl's memory of it, written as kubectl writes it; undefined for one that is too large to be
 * remembered.
 */
function withMemory(given: Given): Given | undefined {
  const annotations: Record<string, string> = { ...given.metadata.annotations };
  delete annotations[LAST_APPLIED];
  const text = `${JSON.stringify(sorted({ ...given, metadata: { ...given.metadata, annotations } } as unknown as Json))}\n`;
  return text.length > MAX_REMEMBERED_CHARACTERS
    ? undefined
    : { ...given, metadata: { ...given.metadata, annotations: { ...annotations, [LAST_APPLIED]: text } } };
}

/** Keys in order, so that the same manifest is always the same text. */
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
  // Whoever asks which came later, a policy or its template, finds these after everything that is there, in their
  // order.
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
/** Whether two are one object, in whatever version. */
export const isSame = (a: Given, b: Given): boolean =>
  a.kind === b.kind &&
  a.metadata.name === b.metadata.name &&
  a.metadata.namespace === b.metadata.namespace &&
  gvkOf(a).group === gvkOf(b).group;

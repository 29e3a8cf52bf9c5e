/**
 * Applies manifests to the hub, for real or in a dry run. A plan uses dry runs on the hub, so defaults, admission and
 * rejections are the real ones, nothing is written, and a later apply does what was planned: both decide the same
 * writes with the same functions.
 *
 * Objects are applied as kubectl applies them, with the same last-applied annotation, so that both can be used on one
 * object, and with strict validation: the hub rejects unknown fields.
 */
import { ResourceInterpreterCustomization } from "@flotilla/karmada";
import {
  ApiError,
  dynamicKind,
  formatApiVersion,
  gvkOf,
  HUB,
  isAnsweredElsewhere,
  isNotFound,
  LAST_APPLIED_ANNOTATION,
  threeWayPatch,
} from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, isObject, setOwn, UsageError, textOf, objectOf, objectsOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { AnyKind, Client } from "@flotilla/client";
import { isTemplate, isTemplateGroup, RolloutStrategy, SNAPSHOT_KINDS } from "@flotilla/flotilla";
import type { FleetSnapshot } from "@flotilla/flotilla";
import { inApplyOrder, isClaimed, isDefinition, isNeededFirst, mayPrecedePolicies } from "./apply-order.ts";
import type { HubState } from "./read-snapshot.ts";
import { strategicSchema } from "./strategic-schema.ts";
import { withoutAllocated } from "./without-allocated.ts";
import { isOf } from "./is-of-kind.ts";

type Given = DeepReadonly<KubernetesObject>;
type Writer = Pick<Client, "get" | "create" | "patch" | "apply">;
/** All annotations of an object together are limited to 256 KiB, and the object's own need some of it. */
const MAX_REMEMBERED_CHARACTERS = 200 * 1024;
/** kubectl's field managers for client-side and server-side apply. */
const WITH_MEMORY = "kubectl-client-side-apply";
const ON_SERVER = "kubectl";
const BY_HAND = "kubectl-edit";

export interface ApplyInput {
  manifests: readonly JsonObject[];
  /** For manifests without a namespace. */
  namespace: string;
  /** Of a manifest that was edited: what it was before. Only the difference is applied. */
  edited?: JsonObject;
}

export interface Applied {
  /** The object before; unset when it is new. */
  before?: Given;
  /** The object as the hub has it afterwards. */
  object: Given;
  kind: Kind;
  outcome: "created" | "changed" | "unchanged";
}

/** A manifest whose kind the hub serves, or will serve when the CRDs among the manifests are applied. */
interface Manifest {
  kind: AnyKind;
  given: Given;
  edited?: JsonObject;
}

interface ApplyTools {
  signal: AbortSignal;
  onApplied?(applied: Applied): void;
  /** Returns when the hub has recorded what runs of the workloads that the strategy selects. */
  whenRecorded?(strategy: DeepReadonly<RolloutStrategy>): Promise<void>;
}

/**
 * In apply order; stops at the first object that the hub rejects. `onApplied` is called for each object after it was
 * applied.
 */
export async function applyAll(
  client: Client,
  input: ApplyInput,
  { signal, onApplied, whenRecorded }: ApplyTools,
): Promise<Applied[]> {
  const resolve = createManifestResolver(client, input);
  const results: Applied[] = [];
  const unclaimed = await findUnclaimed(client, input, { resolve, signal });
  for (const manifest of inApplyOrder(input.manifests, unclaimed)) {
    const applied = await applyOne(client, await resolve(manifest), "applying", signal);
    results.push(applied);
    onApplied?.(applied);
    if (applied.outcome !== "unchanged" && isOf(RolloutStrategy, applied.object))
      await whenRecorded?.(applied.object as DeepReadonly<RolloutStrategy>);
  }
  return results;
}

/**
 * The results of applying, in apply order, without a write, and the manifests that the hub cannot try: an aggregated
 * API server answers for their kinds. `dry` is a dry-run client of the same hub.
 */
export async function tryAll(
  client: Client,
  dry: Writer,
  input: ApplyInput,
  signal: AbortSignal,
): Promise<{ applied: Applied[]; unknown: Given[] }> {
  const resolve = createManifestResolver(client, input);
  const unclaimed = await findUnclaimed(dry, input, { resolve, signal });
  const resolved = await Promise.all(inApplyOrder(input.manifests, unclaimed).map(resolve));
  const applied: Applied[] = [];
  const unknown: Given[] = [];
  // The requests of one round are sent together.
  for (const round of roundsOf(resolved))
    for (const result of await Promise.all(round.map((manifest) => tryOne(dry, manifest, signal))))
      if ("outcome" in result) applied.push(result);
      else unknown.push(result.given);
  return { applied, unknown };
}

/** The manifests of templates that are on the hub and that no policy has claimed. */
async function findUnclaimed(
  client: Pick<Client, "get">,
  { manifests }: ApplyInput,
  { resolve, signal }: { resolve(manifest: JsonObject): Promise<Manifest>; signal: AbortSignal },
): Promise<Set<JsonObject>> {
  const found = await Promise.all(
    mayPrecedePolicies(manifests).map(async (manifest) => {
      const { kind, given } = await resolve(manifest);
      if (!isTemplateGroup(kind.group) || !isTemplate(given)) return [];
      const { namespace, name } = given.metadata;
      try {
        const existing = await find(
          client,
          kind,
          { cluster: HUB, namespace: namespace || undefined, name },
          { signal },
        );
        return existing && !isClaimed(existing) ? [manifest] : [];
      } catch (error) {
        // Dry runs cannot read it, so it is not planned.
        if (isAnsweredElsewhere(error)) return [];
        throw error;
      }
    }),
  );
  return new Set(found.flat());
}

async function tryOne(dry: Writer, manifest: Manifest, signal: AbortSignal): Promise<Applied | Manifest> {
  try {
    const applied = await applyOne(dry, manifest, "trying", signal);
    return { ...applied, object: withoutAllocated(applied.object, [applied.before, manifest.given]) };
  } catch (error) {
    if (error instanceof FlotillaError && isAnsweredElsewhere(error.cause)) return manifest;
    throw error;
  }
}

/** Manifests that need nothing of each other: first what others need, then each object once, then repeated objects. */
function roundsOf(manifests: readonly Manifest[]): Manifest[][] {
  const rounds: Manifest[][] = [[], []];
  const seen = new Map<string, number>();
  for (const manifest of manifests) {
    const { given } = manifest;
    const { namespace = "", name } = given.metadata;
    const id = `${gvkOf(given).group}/${given.kind}/${namespace}/${name}`;
    const round = (seen.get(id) ?? (isNeededFirst(given as unknown as JsonObject) ? -1 : 0)) + 1;
    seen.set(id, round);
    (rounds[round] ??= []).push(manifest);
  }
  return rounds.filter((round) => round.length > 0);
}

/** Completes a manifest with its kind and namespace. */
function createManifestResolver(
  client: Client,
  { manifests, namespace, edited }: ApplyInput,
): (manifest: JsonObject) => Promise<Manifest> {
  const kinds = createKindResolver({ client, cluster: HUB });
  const defined = new Map(manifests.filter(isDefinition).flatMap(kindsDefinedBy));
  return async (manifest) => {
    const { apiVersion, kind: name } = manifest;
    if (
      typeof apiVersion !== "string" ||
      typeof name !== "string" ||
      !isObject(manifest["metadata"]) ||
      typeof manifest["metadata"]["name"] !== "string"
    )
      throw new UsageError("every manifest needs apiVersion, kind and metadata.name");
    const kind = defined.get(`${apiVersion}/${name}`) ?? (await kinds.resolve({ apiVersion, kind: name }));
    const { namespace: own = namespace, ...metadata } = manifest["metadata"];
    const inNamespace = kind.scope === "Namespaced" ? { ...metadata, namespace: own } : metadata;
    return { kind, given: { ...manifest, metadata: inNamespace } as unknown as Given, edited };
  };
}

/** By apiVersion and kind. */
function kindsDefinedBy({ spec }: JsonObject): [string, AnyKind][] {
  const { group: givenGroup, names, scope, versions } = objectOf(spec);
  const { kind: givenKind, plural } = objectOf(names);
  const [group, kind] = [textOf(givenGroup), textOf(givenKind)];
  return objectsOf(versions)
    .filter(({ served }) => served === true)
    .map(({ name }) => [
      `${formatApiVersion(group, textOf(name))}/${kind}`,
      dynamicKind({
        group,
        version: textOf(name),
        kind,
        plural: textOf(plural),
        scope: scope === "Cluster" ? "Cluster" : "Namespaced",
      }),
    ]);
}

async function applyOne(
  client: Writer,
  manifest: Manifest,
  doing: "applying" | "trying",
  signal: AbortSignal,
): Promise<Applied> {
  const { kind, given } = manifest;
  const { namespace, name } = given.metadata;
  const what = `${doing} ${given.kind} ${namespace ? `${namespace}/` : ""}${name} on the hub`;
  try {
    const key = { cluster: HUB, namespace: namespace || undefined, name };
    const before = await find(client, kind, key, { signal });
    const object = await writeOne(client, manifest, before, signal);
    return { before, object, kind, outcome: outcomeOf(before, object) };
  } catch (error) {
    if (namespace && isMissingNamespace(error))
      throw new FlotillaError(
        "NoNamespace",
        `${what}: namespace ${namespace} not found; create it first, or add its manifest`,
        { cause: error },
      );
    throw new FlotillaError("Rejected", what, { cause: error });
  }
}

const isMissingNamespace = (error: unknown): boolean =>
  error instanceof ApiError && isNotFound(error) && error.status.details?.kind === "namespaces";

async function writeOne(
  client: Writer,
  { kind, given, edited }: Manifest,
  before: Given | undefined,
  signal: AbortSignal,
): Promise<Given> {
  const { namespace, name } = given.metadata;
  const key = { cluster: HUB, namespace: namespace || undefined, name };
  const strictly = { signal, fieldValidation: "Strict" } as const;
  const schema = strategicSchema(given);
  const patchOptions = { ...strictly, type: schema ? "strategic" : "merge" } as const;
  if (edited) {
    const next = given as unknown as JsonObject;
    const patch = threeWayPatch({ last: edited, next, live: edited }, schema);
    return client.patch(kind, key, patch, { ...patchOptions, fieldManager: BY_HAND });
  }
  const remembered = withMemory(given, before);
  if (!before && remembered) return client.create(kind, HUB, remembered, { ...strictly, fieldManager: WITH_MEMORY });
  const last = before && lastApplied(before);
  if (!last || !remembered)
    return client.apply(kind, HUB, given, { ...strictly, force: true, fieldManager: ON_SERVER });
  const [modified, live] = [remembered, before] as unknown as [JsonObject, JsonObject];
  const patch = threeWayPatch({ last, next: modified, live }, schema);
  return client.patch(kind, key, patch, { ...patchOptions, fieldManager: WITH_MEMORY });
}

function outcomeOf(before: Given | undefined, object: Given): Applied["outcome"] {
  if (!before) return "created";
  return equalJson(contentOf(before), contentOf(object)) ? "unchanged" : "changed";
}

/** The parts that a manifest can change. A concurrent status update is not our change. */
export function contentOf(object: Given): unknown {
  const { metadata, status: _, ...content } = object as Given & { status?: unknown };
  const { resourceVersion: _revision, managedFields: _managers, ...named } = metadata;
  return { ...content, metadata: named };
}

/**
 * The manifest with kubectl's last-applied annotation, in kubectl's format; undefined if it is too large. An existing
 * annotation with the same content is kept: kubectl escapes some characters in another way.
 */
function withMemory(given: Given, before: Given | undefined): Given | undefined {
  const annotations: Record<string, string> = { ...given.metadata.annotations };
  delete annotations[LAST_APPLIED_ANNOTATION];
  const manifest = { ...given, metadata: { ...given.metadata, annotations } } as unknown as JsonObject;
  const kept =
    before && equalJson(lastApplied(before), manifest)
      ? before.metadata.annotations?.[LAST_APPLIED_ANNOTATION]
      : undefined;
  const text = kept ?? `${JSON.stringify(sorted(manifest))}\n`;
  return text.length > MAX_REMEMBERED_CHARACTERS
    ? undefined
    : { ...given, metadata: { ...given.metadata, annotations: { ...annotations, [LAST_APPLIED_ANNOTATION]: text } } };
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
  const text = metadata.annotations?.[LAST_APPLIED_ANNOTATION];
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

/** The state with these objects replacing their previous versions. Each is given in one or more versions. */
export function withObjects(state: HubState, objects: readonly (readonly Given[])[]): HubState {
  const { unserved, ...lists } = state.snapshot;
  const snapshot: Record<string, readonly Given[]> = { ...lists };
  let customizations = state.customizations;
  // Comparisons of creation order, for example of a policy and its template, find these after all existing objects, in
  // their order.
  let newest = 0;
  for (const list of Object.values(snapshot))
    for (const { metadata } of list) newest = Math.max(newest, Number(metadata.resourceVersion ?? 0));
  objects.forEach((versions, index) => {
    const resourceVersion = String(newest + 1 + index);
    const all = versions.map((given): Given => ({ ...given, metadata: { ...given.metadata, resourceVersion } }));
    const [object] = all;
    if (!object) return;
    if (isOf(ResourceInterpreterCustomization, object))
      customizations = [
        ...customizations.filter(({ metadata }) => metadata.name !== object.metadata.name),
        object as DeepReadonly<ResourceInterpreterCustomization>,
      ];
    const place =
      (Object.keys(SNAPSHOT_KINDS) as (keyof typeof SNAPSHOT_KINDS)[]).find((name) =>
        isOf(SNAPSHOT_KINDS[name] as Kind, object),
      ) ?? "templates";
    snapshot[place] = [...(snapshot[place] ?? []).filter((other) => !isSame(other, object)), ...all];
  });
  return { ...state, snapshot: { ...(snapshot as unknown as FleetSnapshot), unserved }, customizations };
}

/** Whether two are the same object, in any version. */
export const isSame = (a: Given, b: Given): boolean =>
  a.kind === b.kind &&
  a.metadata.name === b.metadata.name &&
  a.metadata.namespace === b.metadata.namespace &&
  gvkOf(a).group === gvkOf(b).group;

/** The manifests of a work as they are applied: without server-set fields, and normalized. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestResourceMeta } from "@flotilla/apimachinery/facts/work-ocm-v1.ts";
import type { ManifestWork } from "@flotilla/ocm";
import { isObject, setOwn, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { AnyKind } from "@flotilla/client";
import type { ObjectRef } from "../../delivery/delivery.ts";

type Object = DeepReadonly<KubernetesObject>;

export interface Manifest {
  /** Its index in the spec, which identifies it in the status. */
  ordinal: number;
  object: Object;
  /** Why it cannot be applied; undefined if it can. */
  problem?: string;
}

const prepared = new WeakMap<object, readonly Manifest[]>();
const NOTHING: readonly never[] = [];

/** Specs are shared and immutable; each is prepared once. */
export function manifestsOf({ spec }: DeepReadonly<ManifestWork>): readonly Manifest[] {
  const manifests = spec.workload?.manifests;
  if (!manifests) return NOTHING;
  const known = prepared.get(manifests);
  if (known) return known;
  const result = manifests.map(prepare);
  prepared.set(manifests, result);
  return result;
}

/** Fields set by a server, and fields of other managers. */
const SERVER_SET = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
];

function prepare(manifest: DeepReadonly<JsonObject>, ordinal: number): Manifest {
  const { status: _status, ...plain } = withoutEmptyTimes(manifest) as JsonObject;
  const metadata = isObject(plain["metadata"]) ? { ...plain["metadata"] } : {};
  for (const field of SERVER_SET) delete metadata[field];
  const object = { ...plain, metadata } as unknown as Object;
  if (typeof object.apiVersion !== "string" || typeof object.kind !== "string" || object.kind === "")
    return { ordinal, object, problem: "the manifest has no kind or no apiVersion" };
  return { ordinal, ...(object.apiVersion === "v1" && object.kind === "Secret" ? plainSecret(object) : { object }) };
}

/** A Secret's stringData is stored as data, which is compared. */
function plainSecret(secret: Object): { object: Object; problem?: string } {
  const { stringData, ...rest } = secret as unknown as { stringData?: unknown; data?: unknown };
  if (!isObject(stringData)) return { object: secret };
  const data: Record<string, unknown> = isObject(rest.data) ? { ...rest.data } : {};
  for (const [key, text] of Object.entries(stringData)) {
    if (typeof text !== "string")
      return { object: secret, problem: `Secret.stringData[${JSON.stringify(key)}] is not a string` };
    const encoded = Buffer.from(text).toString("base64");
    if (Object.hasOwn(data, key) && data[key] !== encoded)
      return {
        object: secret,
        problem: `Secret.stringData[${JSON.stringify(key)}] conflicts with Secret.data[${JSON.stringify(key)}]`,
      };
    setOwn(data, key, encoded);
  }
  return { object: { ...rest, data } as unknown as Object };
}

/**
 * Tools that serialize Go types leave empty timestamps, which a server treats as a change every time. Shares values
 * without any.
 */
function withoutEmptyTimes(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(withoutEmptyTimes);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  let result: Record<string, unknown> | undefined;
  for (const [key, inside] of Object.entries(value)) {
    const next = withoutEmptyTimes(inside);
    const isEmptyTime = key === "metadata" && isObject(next) && next["creationTimestamp"] === null;
    if (next === inside && !isEmptyTime) continue;
    result ??= { ...value };
    if (isEmptyTime) {
      const { creationTimestamp: _time, ...metadata } = next;
      result[key] = metadata;
    } else setOwn(result, key, next);
  }
  return result ?? value;
}

const unscoped = new WeakMap<object, Object>();

/** The object as a kind of this scope expects it: a cluster-scoped object loses its namespace. */
export function inScope(object: Object, { scope }: Pick<AnyKind, "scope">): Object {
  if (scope !== "Cluster" || object.metadata.namespace === undefined) return object;
  const known = unscoped.get(object);
  if (known) return known;
  const { namespace: _namespace, ...metadata } = object.metadata;
  const result = { ...object, metadata };
  unscoped.set(object, result);
  return result;
}

export function refOf({ apiVersion, kind, metadata }: Object): ObjectRef {
  return { apiVersion, kind, namespace: metadata.namespace || undefined, name: metadata.name };
}

/** The identification of a manifest in the status; without a kind the member does not serve it, or was not asked. */
export function metaOf({ ordinal, object }: Manifest, kind: AnyKind | undefined): ManifestResourceMeta {
  const { group, version } = parseApiVersion(typeof object.apiVersion === "string" ? object.apiVersion : "");
  const { name, namespace = "" } = object.metadata;
  return {
    ordinal,
    group,
    version,
    kind: object.kind ?? "",
    resource: kind?.plural ?? "",
    name,
    namespace: kind?.scope === "Cluster" ? "" : namespace,
  };
}

/** Computes a Work's status from the objects on its member. Pure. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Work } from "@flotilla/karmada";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { COUNTED_RELEASE, InterpretError } from "@flotilla/kubernetes";
import { type Interpreter } from "../../interpreter/interpreter.ts";
import type { ObjectRef } from "../../delivery/delivery.ts";
import { TEMPLATE_GENERATION } from "@flotilla/karmada";

/** One manifest, and the status of the member's object. */
interface Seen {
  ref: ObjectRef;
  resource: string;
  reading: Reading;
}

type ManifestStatus = NonNullable<NonNullable<Work["status"]>["manifestStatuses"]>[number];

/** `absent`: the member's cache is fresh and the object does not exist. Undefined: currently unknown. */
export type ObservedManifest = Seen | "absent" | undefined;

/** An object's status and health, as its kind's rules interpret it. */
export type Reading = Pick<ManifestStatus, "status" | "health">;

/** A failed rule means unknown: reporting nothing is better than reporting healthy. */
export async function readObject(
  object: DeepReadonly<KubernetesObject>,
  interpreter: Pick<Interpreter, "reflectStatus" | "health">,
  onFailure: (reason: "ReflectStatusFailed" | "InterpretHealthFailed", error: InterpretError) => void = () => {},
): Promise<Reading> {
  const attempt = async <T>(reason: Parameters<typeof onFailure>[0], read: Promise<T>): Promise<T | undefined> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof InterpretError)) throw error;
      onFailure(reason, error);
      return undefined;
    }
  };
  const status = await attempt("ReflectStatusFailed", interpreter.reflectStatus(object));
  const health = await attempt("InterpretHealthFailed", interpreter.health(object));
  return { status: status !== undefined ? (status as JsonObject) : undefined, health: health ?? "Unknown" };
}

/** A released object as rules can read it: it no longer follows the template's generation. */
export function withoutGeneration(object: DeepReadonly<KubernetesObject>): DeepReadonly<KubernetesObject> {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [TEMPLATE_GENERATION]: "0" } },
  };
}

export function planReflection(work: DeepReadonly<Work>, seen: readonly ObservedManifest[]): DeepReadonly<Work> {
  const before = work.status?.manifestStatuses ?? [];
  const manifestStatuses = seen.flatMap((item, ordinal) => {
    if (item === "absent") return [];
    // An object that is currently unobservable keeps its last known status.
    if (!item) return before.filter(({ identifier }) => identifier.ordinal === ordinal);
    const last = before.find(({ identifier }) => identifier.ordinal === ordinal);
    return [withCountedRelease(statusOf(item, ordinal), last?.status)];
  });
  if (equalJson(manifestStatuses, before)) return work;
  return { ...work, status: { ...work.status, manifestStatuses } };
}

function statusOf({ ref, resource, reading }: Seen, ordinal: number): ManifestStatus {
  const { group, version } = parseApiVersion(ref.apiVersion);
  return {
    identifier: {
      ordinal,
      group: group || undefined,
      version,
      kind: ref.kind,
      resource,
      namespace: ref.namespace || undefined,
      name: ref.name,
    },
    ...reading,
  };
}

/** Until a member's controller has observed its copy, the counters belong to the release of the report before. */
function withCountedRelease(next: ManifestStatus, last: unknown): ManifestStatus {
  const { status } = next;
  if (!isObject(status) || status[COUNTED_RELEASE] === undefined || isObserved(status)) return next;
  const release = isObject(last) ? last[COUNTED_RELEASE] : undefined;
  return { ...next, status: { ...status, [COUNTED_RELEASE]: release } as ManifestStatus["status"] };
}

function isObserved({ generation, observedGeneration }: JsonObject): boolean {
  return typeof generation !== "number" || (typeof observedGeneration === "number" && observedGeneration >= generation);
}

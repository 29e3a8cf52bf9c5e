/**
 * Runs recorded cases of OpenKruise's webhooks against the rules of this folder: defaults, rejections, conversions. For
 * tests and for `npm run golden`.
 */
import { deepFreeze, isObject, type DeepReadonly, type Json, type JsonObject, defined } from "@flotilla/base";
import { ApiError, fieldErrorText, parseApiVersion } from "@flotilla/apimachinery";
import type { AnyAdmission, ClusterReader, FieldError, Kind, KindRef, KubernetesObject, Review } from "@flotilla/apimachinery";
import { kruiseAdmissions } from "../../openkruise.ts";
import { withoutRejectedValues } from "./rejected-values.ts";
import { DEFAULT_GATES } from "../feature-gates.ts";
import { isServed } from "@flotilla/kubernetes";
import { kruiseDefinitions } from "../../kruise-definitions.ts";

type Typed = JsonObject & { apiVersion: string; kind: string };

export interface Recorded {
  name: string;
  input: { kind: "default" | "validate" | "convert"; operation?: "CREATE" | "UPDATE"; object: Typed; oldObject?: JsonObject; existing?: Typed[]; to?: string; gates?: Record<string, boolean> };
  /** Instead of `want`: any of them was seen. */
  wantAnyOf?: Recorded["want"][];
  want: { allowed?: boolean; code?: number; message?: string; messageStart?: string; fieldErrors?: string[]; object?: JsonObject };
}

/** OpenKruise kinds that will be added with their controllers. */
export const UNSUPPORTED_KINDS: readonly string[] = kruiseDefinitions.map(({ kind }) => kind).filter((kind) => !isServed(kind)).map(({ kind }) => kind);

const admissionOf = ({ input }: Recorded): AnyAdmission => {
  const gates = { isOn: (gate: string) => input.gates?.[gate] ?? DEFAULT_GATES.isOn(gate as never) };
  const found = kruiseAdmissions(gates).find(({ for: kind, webhook }) => webhook && kind.group === parseApiVersion(input.object.apiVersion).group && kind.kind === input.object.kind);
  if (!found) throw new Error(`no admission for ${input.object.kind}`);
  return found;
};

const metadataOf = (object: JsonObject): JsonObject => object["metadata"] as JsonObject;

function readerOf(existing: readonly Typed[]): ClusterReader {
  const plurals: Record<string, string> = { Pod: "pods", Node: "nodes", SidecarSet: "sidecarsets", ConfigMap: "configmaps", PodUnavailableBudget: "podunavailablebudgets", StorageClass: "storageclasses", ControllerRevision: "controllerrevisions", WorkloadSpread: "workloadspreads" };
  const objects = existing.map((object) => ({ object, group: parseApiVersion(object.apiVersion).group, resource: plurals[object.kind] ?? "" }));
  const list: ClusterReader["list"] = <T extends KubernetesObject>({ group, plural }: KindRef<T>, namespace?: string) =>
    objects.filter((entry) => entry.group === group && entry.resource === plural && (namespace === undefined || (metadataOf(entry.object)["namespace"] ?? "") === namespace)).map(({ object }) => object as unknown as DeepReadonly<T>);
  return { list, written: list, mentions: () => false, versions: () => [], kinds: () => [], get: (kind, namespace, name) => list(kind, namespace).find(({ metadata }) => metadata.name === name) };
}

function reviewOf({ input }: Recorded, object: JsonObject): Review<JsonObject> {
  return {
    operation: input.operation ?? "CREATE",
    cluster: "member1",
    kind: admissionOf({ input } as Recorded).for as Kind,
    version: parseApiVersion(input.object.apiVersion).version,
    user: { name: "user", groups: [] },
    object: deepFreeze(object),
    oldObject: input.oldObject ? deepFreeze(input.oldObject) : undefined,
    dryRun: false,
    newUid: () => "",
    nowMs: () => Date.parse("2024-05-01T12:00:00Z"),
    allows: () => true,
    decide: () => ({ allowed: true, reason: "" }),
    warn: () => {},
    read: readerOf(input.existing ?? []),
  };
}

/** Removes empty objects, lists and texts, nulls, and zero counts in a status. */
function plain(value: Json, inStatus = false): Json {
  if (Array.isArray(value)) return value.map((item) => plain(item, inStatus));
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .map(([key, item]): [string, Json] => [key, plain(item, inStatus || key === "status")])
    .filter(([, item]) => !(item === null || item === "" || (inStatus && item === 0) || (isObject(item) && Object.keys(item).length === 0) || (Array.isArray(item) && item.length === 0)));
  return Object.fromEntries(entries);
}

/** Flotilla's response. */
export function flotillaResponse(one: Recorded): Json {
  const { input } = one;
  const admission = admissionOf(one);
  if (input.kind === "default") return defaultedOf(one, admission);
  if (input.kind === "validate") return refusalOf(one, admission);
  const { toStorage, fromStorage } = (admission.for as Kind).versions["v1alpha1"] ?? {};
  return plain((input.to === "v1beta1" ? toStorage : fromStorage)?.(input.object) ?? null);
}

/** The message is compared, without rejected values, when it was recorded in full and prints no memory addresses. */
const hasMessage = ({ want }: Recorded): boolean => want.message !== undefined && !want.message.includes("{{PTR}}");

/** The webhook's responses: several where upstream looks at a map in random order, and reports the first problem. */
export const recordedAnswers = (one: Recorded): Json[] =>
  (one.wantAnyOf ?? [one.want]).map((want) => recordedAnswer({ ...one, want }));

function recordedAnswer(one: Recorded): Json {
  const { input, want } = one;
  if (input.kind === "default" && want.allowed === false) return { allowed: false, code: want.code ?? 0, message: want.message ?? "" };
  if (input.kind !== "validate") return plain(want.object ?? null);
  return want.allowed ? { allowed: true } : { allowed: false, code: want.code ?? 0, fields: want.fieldErrors ?? [], ...defined({ message: hasMessage(one) ? withoutRejectedValues(want.message ?? "") : undefined }) };
}

function defaultedOf(one: Recorded, admission: AnyAdmission): Json {
  try {
    return plain(admission.mutate?.(reviewOf(one, one.input.object)) as Json);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { allowed: false, code: error.status.code ?? 0, message: messageIn(error) };
  }
}

/** Without the name of the webhook. */
const messageIn = ({ status }: ApiError): string => (status.message ?? "").replace(/^admission webhook ".*?" denied the request: /, "");

function refusalOf(one: Recorded, admission: AnyAdmission): Json {
  let errors: readonly FieldError[];
  try {
    errors = admission.validate?.(reviewOf(one, one.input.object)) ?? [];
  } catch (error) {
    // A rejection with a sentence instead of errors of fields.
    if (!(error instanceof ApiError)) throw error;
    return { allowed: false, code: error.status.code ?? 0, fields: [], message: messageIn(error) };
  }
  if (errors.length === 0) return { allowed: true };
  return { allowed: false, code: admission.webhook?.code(one.input.operation ?? "CREATE") ?? 0, fields: fieldsOf(errors), ...defined({ message: hasMessage(one) ? withoutRejectedValues(fieldErrorText(errors)) : undefined }) };
}

const TYPES: Readonly<Record<string, string>> = { Required: "Required value", Invalid: "Invalid value", NotSupported: "Unsupported value", Duplicate: "Duplicate value", Forbidden: "Forbidden", NotFound: "Not found", TooLong: "Too long", TooMany: "Too many", Internal: "Internal error" };
/** The recording split texts at commas, which two field names contain. */
const fieldsOf = (errors: readonly FieldError[]): string[] => [...new Set(errors.map(({ field, type }) => `${field.replace(/^.*, /, "")}: ${TYPES[type]}`))].toSorted();

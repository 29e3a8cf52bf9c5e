/** What OpenKruise 1.9.1's webhooks answered, case by case: defaults, refusals, conversions. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { deepFreeze, isObject, type Json, type JsonObject } from "../../base/index.ts";
import { ApiError, fieldErrorText, type FieldError } from "../../machinery/index.ts";
import type { AnyAdmission, ClusterReader, Review } from "../admission.ts";
import type { Kind } from "../kind.ts";
import { parseApiVersion } from "../meta.ts";
import { kruiseAdmissions } from "./admissions.ts";
import { DEFAULT_KRUISE_GATES } from "./gates.ts";

interface Recorded {
  name: string;
  input: { kind: "default" | "validate" | "convert"; operation?: "CREATE" | "UPDATE"; object: JsonObject; oldObject?: JsonObject; existing?: JsonObject[]; to?: string; gates?: Record<string, boolean> };
  want: { allowed?: boolean; code?: number; message?: string; messageStart?: string; fieldErrors?: string[]; object?: JsonObject };
}

const text = gunzipSync(readFileSync(new URL("testdata/validation.jsonl.gz", import.meta.url))).toString();
const recorded = text
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Recorded);

const LATER = ["AdvancedCronJob", "ContainerRecreateRequest", "EphemeralJob", "ImageListPullJob", "ImagePullJob", "NodeImage", "PersistentPodState", "PodProbeMarker", "ResourceDistribution", "WorkloadSpread"];

/** Cases in which Flotilla answers something else, each with the reason. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  "validation/validate/0615": "a revision that is not there is named as on a real cluster (see the recorded scenarios); the recording's client names it `controllerrevisions.apps`",
};

const admissionOf = ({ input }: Recorded): AnyAdmission => {
  const gates = { isOn: (gate: string) => input.gates?.[gate] ?? DEFAULT_KRUISE_GATES.isOn(gate as never) };
  const found = kruiseAdmissions(gates).find(({ for: kind }) => kind.group === parseApiVersion(String(input.object["apiVersion"])).group && kind.kind === input.object["kind"]);
  if (!found) throw new Error(`no admission for ${String(input.object["kind"])}`);
  return found;
};

const metadataOf = (object: JsonObject): JsonObject => object["metadata"] as JsonObject;

function readerOf(existing: readonly JsonObject[]): ClusterReader {
  const plurals: Record<string, string> = { Pod: "pods", SidecarSet: "sidecarsets", ConfigMap: "configmaps", PodUnavailableBudget: "podunavailablebudgets", StorageClass: "storageclasses", ControllerRevision: "controllerrevisions" };
  const objects = existing.map((object) => ({ object, group: parseApiVersion(String(object["apiVersion"])).group, resource: plurals[String(object["kind"])] ?? "" }));
  const list: ClusterReader["list"] = (group, resource, namespace) =>
    objects.filter((entry) => entry.group === group && entry.resource === resource && (namespace === undefined || (metadataOf(entry.object)["namespace"] ?? "") === namespace)).map(({ object }) => object);
  return { list, written: list, mentions: () => false, get: (group, resource, namespace, name) => list(group, resource, namespace).find((object) => (object as JsonObject & { metadata: JsonObject }).metadata["name"] === name) };
}

function reviewOf({ input }: Recorded, object: JsonObject): Review<JsonObject> {
  return {
    operation: input.operation ?? "CREATE",
    cluster: "member1",
    version: parseApiVersion(String(input.object["apiVersion"])).version,
    user: { name: "somebody", groups: [] },
    object: deepFreeze(object),
    ...(input.oldObject && { oldObject: deepFreeze(input.oldObject) }),
    dryRun: false,
    newUid: () => "",
    warn: () => {},
    read: readerOf(input.existing ?? []),
  };
}

/** Without what says nothing: empty objects, lists and texts, nulls, and counts of zero in a status. */
function plain(value: Json, inStatus = false): Json {
  if (Array.isArray(value)) return value.map((item) => plain(item, inStatus));
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .map(([key, item]): [string, Json] => [key, plain(item, inStatus || key === "status")])
    .filter(([, item]) => !(item === null || item === "" || (inStatus && item === 0) || (isObject(item) && Object.keys(item).length === 0) || (Array.isArray(item) && item.length === 0)));
  return Object.fromEntries(entries);
}

const expectSame = (got: Json, want: Json): void => expect(plain(got)).toEqual(plain(want));

function check(one: Recorded): void {
  const { input, want } = one;
  const admission = admissionOf(one);
  if (input.kind === "convert") {
    const kind = admission.for as Kind;
    const { toStorage, fromStorage } = kind.versions["v1alpha1"] ?? {};
    expectSame((input.to === "v1beta1" ? toStorage : fromStorage)?.(input.object) ?? null, want.object ?? null);
  } else if (input.kind === "default") expectSame(admission.mutate?.(reviewOf(one, input.object)) as Json, want.object ?? null);
  else checkRefusal(one, admission);
}

function checkRefusal(one: Recorded, admission: AnyAdmission): void {
  const { want } = one;
  const { errors, message } = refusalOf(one, admission);

  expect({ allowed: errors === undefined, fields: fieldsOf(errors ?? []) }).toEqual({ allowed: want.allowed, fields: want.fieldErrors ?? [] });
  if (want.allowed) return;
  expect(admission.webhook?.code(one.input.operation ?? "CREATE")).toBe(want.code);
  if (want.message !== undefined && !want.message.includes("{{PTR}}")) expect(message).toBe(want.message);
}

function refusalOf(one: Recorded, admission: AnyAdmission): { errors: readonly FieldError[] | undefined; message: string } {
  try {
    const errors = admission.validate?.(reviewOf(one, one.input.object)) ?? [];
    return { errors: errors.length === 0 ? undefined : errors, message: fieldErrorText(errors) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { errors: [], message: (error.status.message ?? "").replace(/^.*? denied the request: /, "") };
  }
}

const TYPES: Readonly<Record<string, string>> = { Required: "Required value", Invalid: "Invalid value", NotSupported: "Unsupported value", Duplicate: "Duplicate value", Forbidden: "Forbidden", NotFound: "Not found", TooLong: "Too long", TooMany: "Too many", Internal: "Internal error" };
/** The recording split texts at commas, which two fields have in their names. */
const fieldsOf = (errors: readonly FieldError[]): string[] => [...new Set(errors.map(({ field, type }) => `${field.replace(/^.*, /, "")}: ${TYPES[type]}`))].toSorted();

describe.for(["default", "validate", "convert"] as const)("%s", (kind) => {
  const cases = recorded.filter(({ input }) => input.kind === kind && !LATER.includes(String(input.object["kind"])));

  test.for(cases.filter(({ name }) => !DIFFERENCES[name]).map((one) => [one.name, one] as const))("%s", ([, one]) => check(one));
});

test("every difference that is listed is one", () => {
  const same = recorded.filter(({ name }) => DIFFERENCES[name]).filter((one) => {
    try {
      check(one);
      return true;
    } catch {
      return false;
    }
  });

  expect(same.map(({ name }) => name)).toEqual([]);
});


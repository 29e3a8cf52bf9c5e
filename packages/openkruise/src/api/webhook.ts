/**
 * Emulates OpenKruise's webhooks: they decode an object as a Go struct, default it, and validate it. They do not
 * receive status and scale updates.
 */
import { decodedPart, deniedByWebhook, HUB, parseApiVersion } from "@flotilla/apimachinery";
import type { Admission, FieldError, Kind, KubernetesObject, Operation, Review } from "@flotilla/apimachinery";
import { equalJson, isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { knownFields } from "./known-fields.ts";
import { withoutNulls } from "./null-values.ts";

type Read<T> = DeepReadonly<T>;

export const isHub = ({ cluster }: { readonly cluster: string }): boolean => cluster === HUB;

interface KruiseRules<T> {
  /** `cloneset` for the webhooks `mcloneset.kb.io` and `vcloneset.kb.io`. */
  name: string;
  /** The status code of a rejection. */
  code: number | ((operation: Operation) => number);
  /** The fact tables of the published versions. */
  tables: Readonly<Record<string, string>>;
  /**
   * Spec fields that the CRD leaves open, and the type that the webhook decodes each, or each item of it, as:
   * `core-v1.Volume`.
   */
  open?: Readonly<Record<string, string>>;
  /** The kinds that `check` reads on a hub. */
  reads?: readonly Kind[];
  complete?(object: Read<T>, review: Review<T>): Read<T>;
  check(review: Review<T>): FieldError[];
  /** Prepares the object after the webhooks. */
  prepare?(review: Review<T>): Read<T>;
}

export function kruiseAdmission<T extends KubernetesObject>(kind: Kind<T>, rules: KruiseRules<T>): Admission<T> {
  const { name, code, tables, open = {}, reads, complete, check, prepare } = rules;
  const [someTable] = Object.values(tables);
  const decodedIn = (review: Review<T>): Read<T> => {
    const table = tables[versionOf(review.object)];
    if (table === undefined && someTable !== undefined)
      checkOpenFields(review, someTable, kind.kind, Object.keys(open), rejectionOf(name));
    return decoded(review, table, kind.kind, rejectionOf(name));
  };
  return {
    name: `Kruise${kind.kind}Rules`,
    for: kind,
    on: ["CREATE", "UPDATE"],
    reads,
    isReinvoked: true,
    webhook: { name: `v${name}.kb.io`, code: typeof code === "number" ? () => code : code },
    mutate(review) {
      if (review.subresource !== undefined || isSettled(review)) return review.object;
      const sent = nullFree(review.object, tables[versionOf(review.object)] ?? someTable, kind.kind);
      const object = withKnownFields(decodedIn({ ...review, object: sent }), open, review);
      const completed = complete ? complete(object, { ...review, object }) : object;
      // Upstream's webhook returns its own form of the object only when it defaulted something; otherwise zeros that
      // were sent stay. The hub always has that form, so that a manifest that was applied changes nothing the next time.
      return !isHub(review) && equalJson(completed, object) ? sent : completed;
    },
    prepare,
    validate: (review) => (review.subresource !== undefined || isSettled(review) ? [] : check(review)),
  };
}

const versionOf = (object: unknown): string => parseApiVersion((object as KubernetesObject).apiVersion).version;

/** A value of the wrong type ends the request at the first decoder. */
export const rejectionOf =
  (name: string) =>
  (problem: string): Error =>
    deniedByWebhook(`m${name}.kb.io`, 400, problem);

function decoded<T>(
  { object, settled }: Review<T>,
  table: string | undefined,
  kind: string,
  refusal: (problem: string) => Error,
): Read<T> {
  const { spec } = object as JsonObject;
  // An absent struct is a struct with absent fields.
  if (table === undefined) return spec === undefined || spec === null ? { ...object, spec: {} } : object;
  const known = (settled as JsonObject | undefined)?.["spec"];
  const read = decodedPart(
    table,
    kind,
    spec === undefined ? {} : { spec },
    refusal,
    known === undefined ? undefined : { spec: known },
  )["spec"];
  return read === spec ? object : { ...object, spec: read };
}

/**
 * A version without a fact table has the open fields of one that has: values of the wrong type end the request here.
 */
function checkOpenFields<T>(
  { object, settled }: Review<T>,
  table: string,
  kind: string,
  fields: readonly string[],
  refusal: (problem: string) => Error,
): void {
  const [spec, known] = [(object as JsonObject)["spec"], (settled as JsonObject | undefined)?.["spec"]];
  if (!isObject(spec)) return;
  for (const field of fields) {
    const value = spec[field];
    if (value !== undefined && value !== (isObject(known) ? known[field] : undefined))
      decodedPart(table, kind, { spec: { [field]: value } }, refusal);
  }
}

/** A version without a fact table has the open parts of one that has. */
function nullFree<T>(object: Read<T>, table: string | undefined, kind: string): Read<T> {
  const { spec } = object as JsonObject;
  if (!isObject(spec) || table === undefined) return object;
  const free = withoutNulls(table, kind, { spec })["spec"];
  return free === spec ? object : { ...object, spec: free };
}

/** Fields unknown to the Go struct are lost. Upstream drops them silently; here a warning is returned. */
function withKnownFields<T>(
  object: Read<T>,
  open: Readonly<Record<string, string>>,
  { settled, warn }: Review<T>,
): Read<T> {
  const { spec } = object as { spec?: Json };
  const known = (settled as { spec?: JsonObject } | undefined)?.spec;
  if (!isObject(spec)) return object;
  let result: JsonObject = spec;
  for (const [field, type] of Object.entries(open)) {
    const value = spec[field];
    if (value === undefined || value === known?.[field]) continue;
    const [table = "", name = ""] = type.split(".");
    const pruned = (part: Json, at: string): Json =>
      isObject(part)
        ? knownFields(table, name, part, at, (path) => warn(`unknown field ${JSON.stringify(path)}`))
        : part;
    const kept = Array.isArray(value)
      ? value.map((item, index) => pruned(item, `spec.${field}[${index}]`))
      : pruned(value, `spec.${field}`);
    if (!equalJson(kept, value)) result = { ...result, [field]: kept };
  }
  return result === spec ? object : { ...object, spec: result };
}

/** True when everything that validation reads has passed before. */
function isSettled<T>({ object, settled }: Review<T>): boolean {
  if (settled === undefined) return false;
  const [now, before] = [
    object as Read<KubernetesObject & { spec?: unknown }>,
    settled as Read<KubernetesObject & { spec?: unknown }>,
  ];
  return (
    now.spec === before.spec &&
    now.metadata.labels === before.metadata.labels &&
    now.metadata.annotations === before.metadata.annotations
  );
}

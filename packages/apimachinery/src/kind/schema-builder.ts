/**
 * Builds the structural schema and the TypeScript type of our own kinds from one declaration:
 *
 *     const spec = s.object({
 *       clusters: s.array("The clusters, in order.", s.string("The name of a Cluster."), { maxItems: 100 }),
 *       paused: s.boolean("Pauses the rollout.", { default: false }),
 *       reason: s.optional(s.string("Why it is paused.")),
 *     });
 *     type Spec = s.Infer<typeof spec>; // { clusters: string[]; paused: boolean; reason?: string }
 *
 * A field is required unless it is wrapped in `optional` or has a default. A field with a default is optional for
 * writers (`Input`) and present for readers (`Infer`), because the API server sets it before the object is stored. Every
 * field has a description, which is its first argument: `kubectl explain` and the reference pages print it.
 */
import { invariant, type Json, type JsonObject } from "@flotilla/base";
import type { Schema } from "../schema.ts";
import type { Condition, LabelSelector } from "./facts/meta-v1.ts";

type Presence = "required" | "optional" | "defaulted";

/** A value that an object may have. `Stored` is its type for readers, `Sent` for writers. */
export interface Field<Stored, P extends Presence = "required", Sent = Stored> {
  readonly schema: Schema;
  readonly presence: P;
  /** Never set: they carry the types. */
  readonly type?: Stored;
  readonly input?: Sent;
}
export type AnyField = Field<unknown, Presence>;
export type Fields = Readonly<Record<string, AnyField>>;

/** The type of a field, or of the objects of a kind, as clients read it: fields with a default are present. */
export type Infer<X extends { readonly type?: unknown }> = Exclude<X["type"], undefined>;
/** The same as clients may write it: fields with a default may be absent. */
export type Input<X extends { readonly input?: unknown }> = Exclude<X["input"], undefined>;

type KeysOf<F extends Fields, P extends Presence> = {
  [K in keyof F]: F[K]["presence"] extends P ? K : never;
}[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
export type Stored<F extends Fields> = Flat<
  { -readonly [K in KeysOf<F, "required" | "defaulted">]: Infer<F[K]> } & {
    -readonly [K in KeysOf<F, "optional">]?: Infer<F[K]>;
  }
>;
type Sent<F extends Fields> = Flat<
  { -readonly [K in KeysOf<F, "required">]: Input<F[K]> } & {
    -readonly [K in KeysOf<F, "optional" | "defaulted">]?: Input<F[K]>;
  }
>;

/** A CEL expression on `self`, and on `oldSelf` for transitions. Strings and lists that it reads need a maximum. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
}

interface Options<T> {
  readonly default?: T;
  readonly rules?: readonly Rule[];
}
type PresenceOf<O> = O extends { readonly default: unknown } ? "defaulted" : "required";

interface StringOptions extends Options<string> {
  readonly enum?: readonly string[];
  /** RE2. */
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}
type StringOf<O> = O extends { readonly enum: readonly (infer Value)[] } ? Value : string;

export function string<const O extends StringOptions = StringOptions>(
  description: string,
  options?: O,
): Field<StringOf<O>, PresenceOf<O>> {
  return leaf(description, { type: "string" }, options);
}

interface NumberOptions extends Options<number> {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** An integer of 32 bits, unless `format` is `int64`. */
export function integer<const O extends NumberOptions & { readonly format?: "int32" | "int64" }>(
  description: string,
  options?: O,
): Field<number, PresenceOf<O>> {
  return leaf(description, { type: "integer", format: "int32" }, options);
}

export function number<const O extends NumberOptions>(description: string, options?: O): Field<number, PresenceOf<O>> {
  return leaf(description, { type: "number" }, options);
}

export function boolean<const O extends Options<boolean>>(
  description: string,
  options?: O,
): Field<boolean, PresenceOf<O>> {
  return leaf(description, { type: "boolean" }, options);
}

const PERCENTAGE = "^[0-9]+%$";

/** A number, or a percentage such as `25%`; `scaledValue` reads it. */
export function intOrString<const O extends Options<number | string>>(
  description: string,
  options?: O,
): Field<number | string, PresenceOf<O>> {
  return leaf(description, { "x-kubernetes-int-or-string": true, pattern: PERCENTAGE }, options);
}

/** As in the Gateway API: whole units, so that every client reads the same duration. */
const DURATION = "^([0-9]{1,5}(h|m|s|ms)){1,4}$";

/** A duration such as `90s` or `1h30m`. */
export function duration<const O extends Options<string>>(
  description: string,
  options?: O,
): Field<string, PresenceOf<O>> {
  return leaf(description, { type: "string", format: "duration", pattern: DURATION, maxLength: 32 }, options);
}

/** A time such as `2026-01-31T12:00:00Z`. */
export function time(description: string): Field<string> {
  return leaf(description, { type: "string", format: "date-time" });
}

/** Any JSON value. `T` is the type that readers may rely on; the server does not check it. */
export function json(description: string): Field<Json>;
export function json<T>(description: string): Field<T>;
export function json(description: string): Field<unknown> {
  return leaf(description, { "x-kubernetes-preserve-unknown-fields": true });
}

interface ObjectOptions extends Options<JsonObject> {
  /** Server-side apply owns the object as a whole, not by field. */
  readonly isAtomic?: true;
}

/** An object with these fields. Only objects that are fields themselves need a description. */
export function object<const F extends Fields, const O extends ObjectOptions>(
  fields: F,
  options?: O,
): Field<Stored<F>, PresenceOf<O>, Sent<F>>;
export function object<const F extends Fields, const O extends ObjectOptions>(
  description: string,
  fields: F,
  options?: O,
): Field<Stored<F>, PresenceOf<O>, Sent<F>>;
export function object(first: string | Fields, second?: Fields | ObjectOptions, third?: ObjectOptions): AnyField {
  const isDescribed = typeof first === "string";
  const fields = (isDescribed ? second : first) as Fields;
  const { isAtomic, ...options } = ((isDescribed ? third : second) ?? {}) as ObjectOptions;
  const required = Object.keys(fields).filter((name) => fields[name]?.presence === "required");
  const schema: Schema = { type: "object", properties: {} };
  if (isDescribed) schema.description = first;
  if (required.length > 0) schema.required = required;
  if (isAtomic) schema["x-kubernetes-map-type"] = "atomic";
  for (const [name, field] of Object.entries(fields)) {
    invariant(field.schema.description, `the field ${name} of one of our own kinds needs a description`);
    (schema.properties ??= {})[name] = field.schema;
  }
  return complete(schema, options);
}

type Key<T> = T extends object ? keyof T & string : never;

interface ArrayOptions<T> {
  /** Server-side apply merges elements by these fields, which are required or have a default; they are unique. */
  readonly key?: Key<T> | readonly Key<T>[];
  /** The elements are unique scalars, each owned by its writer. Without `key` and `isSet` the list has one owner. */
  readonly isSet?: true;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: readonly T[];
  readonly rules?: readonly Rule[];
}

export function array<T, I, const O extends ArrayOptions<T>>(
  description: string,
  item: Field<T, Presence, I>,
  options?: O,
): Field<T[], PresenceOf<O>, I[]> {
  const { key, isSet, ...rest }: ArrayOptions<T> = options ?? {};
  const keys = key === undefined ? [] : typeof key === "string" ? [key] : [...(key as readonly string[])];
  for (const name of keys) {
    const { required = [], properties = {} } = item.schema;
    invariant(
      required.includes(name) || properties[name]?.default !== undefined,
      `the key ${name} of a list must be a field that is required or has a default`,
    );
  }
  const schema: Schema = { type: "array", description, items: item.schema };
  schema["x-kubernetes-list-type"] = keys.length > 0 ? "map" : isSet ? "set" : "atomic";
  if (keys.length > 0) schema["x-kubernetes-list-map-keys"] = keys;
  return complete(schema, rest);
}

interface MapOptions {
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly rules?: readonly Rule[];
}

export function map<T, I>(
  description: string,
  value: Field<T, Presence, I>,
  options: MapOptions = {},
): Field<Record<string, T>, "required", Record<string, I>> {
  return complete({ type: "object", description, additionalProperties: value.schema }, options);
}

/** The field may be absent. One with a default already may. */
export function optional<T, I>({ schema }: Field<T, "required", I>): Field<T, "optional", I> {
  return { schema, presence: "optional" };
}

const selectorRequirement = object({
  key: string("The label key that the requirement applies to."),
  operator: string("How the label relates to the values.", { enum: ["In", "NotIn", "Exists", "DoesNotExist"] }),
  values: optional(
    array("Required for In and NotIn, and empty for Exists and DoesNotExist.", string("A label value.")),
  ),
});

export function labelSelector(description: string): Field<LabelSelector> {
  const { schema } = object(
    description,
    {
      matchLabels: optional(map("Labels that must have these values.", string("A label value."))),
      matchExpressions: optional(array("Requirements that must all be met.", selectorRequirement)),
    },
    { isAtomic: true },
  );
  return { schema, presence: "required" };
}

const condition = object({
  type: string("The type of the condition.", {
    pattern:
      "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$",
    maxLength: 316,
  }),
  status: string("The status of the condition.", { enum: ["True", "False", "Unknown"] }),
  observedGeneration: optional(
    integer("The metadata.generation that the condition is based on.", { format: "int64", minimum: 0 }),
  ),
  lastTransitionTime: time("When the status last changed."),
  reason: string("Why the status last changed, in one CamelCase word.", {
    pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    minLength: 1,
    maxLength: 1024,
  }),
  message: string("What happened, as a sentence. It may be empty.", { maxLength: 32_768 }),
});

/** Conditions in the form of `metav1.Condition`, one of each type. */
export function conditions(description: string): Field<Condition[]> {
  return array(description, condition, { key: "type" });
}

function leaf<T, P extends Presence>(description: string, type: Schema, options: Options<unknown> = {}): Field<T, P> {
  return complete({ ...type, description }, options);
}

/** Adds the options, which have the names of schema keywords except for the rules. */
function complete<T, P extends Presence, I>(
  schema: Schema,
  { rules, ...keywords }: Options<unknown> & MapOptions,
): Field<T, P, I> {
  const whole = { ...schema, ...keywords } as Schema;
  if (rules) whole["x-kubernetes-validations"] = rules.map(({ rule, message }) => ({ rule, message }));
  return { schema: whole, presence: (keywords.default === undefined ? "required" : "defaulted") as P };
}

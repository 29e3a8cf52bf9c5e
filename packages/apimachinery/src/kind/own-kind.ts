/**
 * Declares one of our own kinds (`flotilla.dev`). Type, schema, defaults, validation, columns and reference page all
 * come from the declaration (docs/adr/0027).
 *
 * Most own kinds are served as CustomResourceDefinitions: the API server, ours or a foreign one, prunes, defaults,
 * validates and merges by the schema. Kinds that a CRD cannot express are `builtIn` (restricted verbs, subresources
 * served by code) or `computed` (their objects are not stored).
 */
import { invariant, required, type DeepReadonly, type JsonObject } from "@flotilla/base";
import type { FieldError } from "../field.ts";
import type { Schema } from "../schema.ts";
import { compileSchema, hasValidationRules } from "../schema/structural.ts";
import type { Review } from "./admission.ts";
import { ageColumn, nameColumn } from "./columns.ts";
import { AGE } from "./define.ts";
import type { Column, Kind, ScalePaths } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";
import type { AnyField, Field, Fields, Infer, Rule, Stored } from "./schema-builder.ts";
import { object, optional } from "./schema-builder.ts";

interface OwnColumn {
  /** `.spec.profile`; the type of the column is that of the field. */
  path: string;
  /** Shown only with `-o wide`. */
  isWide?: true;
  /** The description of the field by default. */
  description?: string;
}

/** The parts of an object besides metadata: spec and status, or other fields for a kind that has neither. */
interface Parts {
  readonly spec?: Field<unknown, "required" | "defaulted">;
  readonly status?: AnyField;
  readonly fields?: Fields;
}
type ObjectOf<P extends Parts> = KubernetesObject &
  (P["spec"] extends AnyField ? { spec: Infer<P["spec"]> } : unknown) &
  (P["status"] extends AnyField ? { status?: Infer<P["status"]> } : unknown) &
  (P["fields"] extends Fields ? Stored<P["fields"]> : unknown);

type OwnKind = Pick<
  Kind,
  "group" | "kind" | "plural" | "scope" | "shortNames" | "categories" | "verbs" | "source" | "traits"
> & {
  version: string;
  /** What an object of the kind is, in sentences. */
  description: string;
  /** `definition` by default: as a CustomResourceDefinition. */
  servedAs?: "definition" | "builtIn" | "computed";
  /** Between the name and the age, by title: a path, or a path with options. */
  columns?: Readonly<Record<string, string | OwnColumn>>;
  /** Fields that lists may be selected by, as paths: `.status.phase`. */
  selectableFields?: readonly string[];
  /** The status subresource follows from `status`. */
  subresources?: { readonly scale?: ScalePaths; readonly connect?: Kind["subresources"]["connect"] };
  /** CEL rules on the whole object. */
  rules?: readonly Rule[];
};

export function ownKind<const P extends Parts>(declared: OwnKind & P): Kind<ObjectOf<P>> {
  const { group, kind, plural, scope, shortNames, categories, verbs, source, traits } = declared;
  const { version, servedAs = "definition", columns = {}, subresources } = declared;
  const schema = schemaOf(declared);
  invariant(
    servedAs === "definition" || !hasValidationRules(schema),
    `${kind} has CEL rules, which are evaluated only for a kind that is served as a definition`,
  );
  const own = Object.entries(columns).map(([name, column]) => columnOf(kind, schema, name, column));
  return {
    group,
    kind,
    plural,
    scope,
    shortNames,
    categories,
    storageVersion: version,
    versions: {
      [version]: {
        schema,
        selectableFields: declared.selectableFields,
        columns:
          servedAs === "definition"
            ? [...own, { ...AGE, name: ageColumn.name }]
            : servedAs === "builtIn"
              ? [nameColumn, ...own, ageColumn]
              : [nameColumn, ...own],
      },
    },
    subresources: declared.status ? { status: true, ...subresources } : { ...subresources },
    verbs,
    source,
    traits,
    builtIn: servedAs !== "definition",
    hasGeneration: servedAs !== "computed" && declared.spec !== undefined,
  };
}

function schemaOf(given: OwnKind & Parts): Schema {
  const { description, spec, status, fields, rules } = given;
  const described = (part: AnyField, text: string): AnyField => ({
    ...part,
    schema: { description: text, ...part.schema },
  });
  const parts: Record<string, AnyField> = { ...fields };
  if (spec) parts["spec"] = described(spec, "The desired state.");
  if (status) parts["status"] = optional(described(status, "The observed state. Written by Flotilla.") as never);
  const { schema } = object(description, parts, { rules });
  return {
    ...schema,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...schema.properties,
    },
  };
}

function columnOf(kind: string, schema: Schema, name: string, declared: string | OwnColumn): Column {
  const { path, isWide, description }: OwnColumn = typeof declared === "string" ? { path: declared } : declared;
  const field = schemaAt(schema, path);
  invariant(field, `the column ${name} of ${kind} prints ${path}, which is not a field of the kind`);
  const column: Column = {
    name,
    type: columnType(field),
    description: description ?? field.description,
    jsonPath: path,
  };
  if (isWide) column.priority = 1;
  return column;
}

function columnType({ type, format }: Schema): Column["type"] {
  if (type === "integer" || type === "number" || type === "boolean") return type;
  return format === "date-time" ? "date" : "string";
}

/** `.status.conditions[?(@.type=="Ready")].status`: names, each with any number of brackets. */
const STEP = /\.([\w-]+)((?:\[[^\]]*\])*)/y;

function schemaAt(root: Schema, path: string): Schema | undefined {
  if (path.startsWith(".metadata.")) return { type: "string" };
  let schema: Schema | undefined = root;
  for (STEP.lastIndex = 0; schema && STEP.lastIndex < path.length;) {
    const step = STEP.exec(path);
    if (!step) return undefined;
    schema = schema.properties?.[step[1] ?? ""];
    for (let brackets = step[2]?.split("]").length ?? 1; brackets > 1; brackets--) schema = schema?.items;
  }
  return schema;
}

/** The errors of an object of an own kind that is `builtIn`. Of definitions the API server checks the schema itself. */
export function schemaErrors<T extends KubernetesObject>(
  kind: Kind<T>,
  { object: sent, oldObject }: Pick<Review<T>, "object" | "oldObject">,
): FieldError[] {
  const { schema } = required(kind.versions[kind.storageVersion], `the storage version of ${kind.kind}`);
  const json = (value: DeepReadonly<T>): JsonObject => value as unknown as JsonObject;
  const findings = compileSchema(schema).validate(json(sent), { oldObject: oldObject && json(oldObject) });
  return findings ? [...findings.values, ...findings.embedded, ...findings.duplicates] : [];
}

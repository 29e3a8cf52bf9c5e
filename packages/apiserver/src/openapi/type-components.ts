/**
 * The component schemas of Kubernetes' own types, generated from their fact tables under their upstream names. Every
 * type is a component and is referenced; a document contains only those reachable from its kinds.
 */
import { defined, omitZero } from "@flotilla/base";
import { structOf } from "@flotilla/apimachinery";
import type { FactField, FactStruct, FactType, Leaf, Schema } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { META_DESCRIPTIONS } from "./descriptions.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

export const PATCH = `${META}.Patch`;
export const STATUS = `${META}.Status`;
export const DELETE_OPTIONS = `${META}.DeleteOptions`;
export const OBJECT_META = `${META}.ObjectMeta`;
const FIELDS = `${META}.FieldsV1`;
const LIST_META = `${META}.ListMeta`;

export const refTo = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** `io.k8s.api.apps.v1` for the table `apps-v1`. */
function packageOf(table: string): string {
  if (table === "meta-v1") return META;
  if (table === "apiextensions-v1") return EXTENSIONS;
  return `io.k8s.api.${table.replace("-", ".")}`;
}

/**
 * The table of a group and version: named after the first part of the group, and after the project for groups outside
 * Kubernetes.
 */
function tableOfGroup(group: string, version: string): string {
  const [first, project] = group.split(".", 2);
  return project === undefined || group.endsWith(".k8s.io")
    ? `${first || "core"}-${version}`
    : `${first}-${project}-${version}`;
}

/** Leaves that are separate types upstream, with their own format. */
const LEAF_TYPES: Partial<Record<Leaf, { name: string; schema: JsonObject }>> = {
  Time: { name: `${META}.Time`, schema: { type: "string", format: "date-time" } },
  MicroTime: { name: `${META}.MicroTime`, schema: { type: "string", format: "date-time" } },
  Duration: { name: `${META}.Duration`, schema: { type: "string" } },
  Quantity: {
    name: "io.k8s.apimachinery.pkg.api.resource.Quantity",
    schema: {
      oneOf: [{ type: "string" }, { type: "number" }],
      description: "A quantity: a number with an optional suffix, such as 500m or 2Gi.",
    },
  },
  IntOrString: {
    name: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    schema: { format: "int-or-string", oneOf: [{ type: "integer" }, { type: "string" }] },
  },
  RawObject: { name: "io.k8s.apimachinery.pkg.runtime.RawExtension", schema: { type: "object" } },
  // Clients omit an empty schema from their output and then fail; a description is enough to keep it.
  Json: { name: `${EXTENSIONS}.JSON`, schema: { description: "Any JSON value." } },
  SchemaOrArray: {
    name: `${EXTENSIONS}.JSONSchemaPropsOrArray`,
    schema: { description: "A schema, or a list of schemas." },
  },
  SchemaOrBool: { name: `${EXTENSIONS}.JSONSchemaPropsOrBool`, schema: { description: "A schema, or true or false." } },
  SchemaOrStringArray: {
    name: `${EXTENSIONS}.JSONSchemaPropsOrStringArray`,
    schema: { description: "A schema, or a list of strings." },
  },
};

const PLAIN: Partial<Record<Leaf, { schema: JsonObject; zero: string | number | boolean }>> = {
  string: { schema: { type: "string" }, zero: "" },
  bool: { schema: { type: "boolean" }, zero: false },
  int32: { schema: { type: "integer", format: "int32" }, zero: 0 },
  int64: { schema: { type: "integer", format: "int64" }, zero: 0 },
  float64: { schema: { type: "number", format: "double" }, zero: 0 },
};

/** Exactly one of several fields is set; the fact tables do not record this. */
const UNIONS: Readonly<Record<string, JsonObject[]>> = {
  "core-v1.AppArmorProfile": [
    { discriminator: "type", "fields-to-discriminateBy": { localhostProfile: "LocalhostProfile" } },
  ],
  "core-v1.PodSchedulingGroup": [{ "fields-to-discriminateBy": { podGroupName: "PodGroupName" } }],
  "flowcontrol-v1.Subject": [
    {
      discriminator: "kind",
      "fields-to-discriminateBy": { group: "Group", serviceAccount: "ServiceAccount", user: "User" },
    },
  ],
  "core-v1.SeccompProfile": [
    { discriminator: "type", "fields-to-discriminateBy": { localhostProfile: "LocalhostProfile" } },
  ],
};

const TYPE_META: JsonObject = {
  apiVersion: {
    type: "string",
    description: "APIVersion defines the versioned schema of this representation of an object.",
  },
  kind: { type: "string", description: "Kind is the resource type that this object represents." },
};

export interface GroupVersionKind {
  [key: string]: string;
  group: string;
  kind: string;
  version: string;
}

/** A `$ref` allows no sibling keywords, so a described reference is wrapped. */
function described(schema: JsonObject, description: string | undefined): JsonObject {
  if (description === undefined) return schema;
  return "$ref" in schema ? { description, allOf: [schema] } : { description, ...schema };
}

/** The struct in lists and maps, with its schema. */
function elementOf(type: FactType, schema: Schema): [FactType, Schema] {
  if (type.shape === "list") return elementOf(type.of, schema.items ?? {});
  const { additionalProperties } = schema;
  if (type.shape === "map")
    return elementOf(type.of, typeof additionalProperties === "object" ? additionalProperties : {});
  return [type, schema];
}

/** Collects the components of one document. */
export class Components {
  readonly schemas: JsonObject = {};
  /** Of tables outside Kubernetes. */
  readonly #packages = new Map<string, string>();

  constructor() {
    this.schemas[PATCH] = {
      type: "object",
      description: "A patch; its format depends on the content type.",
    };
  }

  /** Adds a kind with a fact table and returns its component name. Descriptions come from the schema of the kind. */
  addKind({ group, version, kind }: GroupVersionKind, openApiPackage?: string, described?: Schema): string {
    const table = tableOfGroup(group, version);
    if (openApiPackage !== undefined) this.#packages.set(table, openApiPackage);
    const struct = structOf(table, kind);
    const name = this.#add(struct);
    const schema = this.schemas[name] as JsonObject;
    if (described) this.#describe(struct, described);
    if (schema["x-kubernetes-group-version-kind"] === undefined) {
      schema.properties = { ...(schema.properties as JsonObject | undefined), ...TYPE_META };
      schema["x-kubernetes-group-version-kind"] = [{ group, kind, version }];
    }
    return name;
  }

  /** A `meta.k8s.io` type that is sent on its own; it counts as part of each group that uses it. */
  addMeta(kind: "DeleteOptions" | "Status", groups: readonly { group: string; version: string }[]): void {
    const name = this.#add(structOf("meta-v1", kind));
    const schema = this.schemas[name] as JsonObject;
    Object.assign(schema.properties as JsonObject, TYPE_META);
    schema["x-kubernetes-group-version-kind"] = [
      { group: "", kind, version: "v1" },
      ...(kind === "Status"
        ? []
        : groups.filter(({ group }) => group !== "").map(({ group, version }) => ({ group, kind, version }))),
    ];
  }

  addObjectMeta(): void {
    this.#add(structOf("meta-v1", "ObjectMeta"));
  }

  addList(
    itemName: string,
    { group, version }: { group: string; version: string },
    listKind: string,
    isBuiltIn: boolean,
  ): string {
    const name = `${itemName.slice(0, itemName.lastIndexOf("."))}.${listKind}`;
    this.#add(structOf("meta-v1", "ListMeta"));
    this.schemas[name] = {
      type: "object",
      description: `${listKind} is a list of ${itemName.slice(itemName.lastIndexOf(".") + 1)}`,
      required: ["items"],
      properties: {
        ...TYPE_META,
        items: { type: "array", items: isBuiltIn ? { default: {}, allOf: [refTo(itemName)] } : refTo(itemName) },
        metadata: isBuiltIn ? { default: {}, allOf: [refTo(LIST_META)] } : { allOf: [refTo(LIST_META)] },
      },
      "x-kubernetes-group-version-kind": [{ group, kind: listKind, version }],
    };
    return name;
  }

  #add(struct: FactStruct): string {
    const name = `${this.#packages.get(struct.table) ?? packageOf(struct.table)}.${struct.name}`;
    if (this.schemas[name] !== undefined) return name;
    const properties: JsonObject = {};
    const required: string[] = [];
    const unions = UNIONS[`${struct.table}.${struct.name}`];
    const describe = struct.table === "meta-v1" ? META_DESCRIPTIONS[struct.name] : undefined;
    const mapType = struct.schema["x-kubernetes-map-type"];
    // An empty list of fields is lost when a client re-encodes the document.
    const schema: JsonObject = {
      type: "object",
      ...defined({ properties: struct.flat.size > 0 ? properties : undefined }),
      ...omitZero({ "x-kubernetes-map-type": mapType, "x-kubernetes-unions": unions }),
    };
    // Set before its fields are visited: a type may contain itself.
    this.schemas[name] = schema;
    for (const [key, field] of [...struct.flat].sort(([a], [b]) => (a < b ? -1 : 1)))
      properties[key] = described(this.#field(field), describe?.[key]);
    for (const [key, field] of struct.flat) if (!field.optional) required.push(key);
    if (required.length > 0) schema.required = required;
    return name;
  }

  /**
   * Copies descriptions to the components of the types. A type of Kubernetes has them only in this document: v2 keeps
   * the first definition, which is that of Kubernetes' own group.
   */
  #describe(struct: FactStruct, { description, properties = {} }: Schema): void {
    // Schemas without descriptions share their properties with the type.
    if (properties === struct.schema.properties) return;
    const schema = this.schemas[this.#add(struct)] as JsonObject;
    if (description !== undefined) schema.description = description;
    const fields = schema.properties as JsonObject;
    for (const [key, { type }] of struct.flat) {
      const field = properties[key];
      if (!field) continue;
      if (field.description !== undefined) fields[key] = described(fields[key] as JsonObject, field.description);
      const [inner, part] = elementOf(type, field);
      if (inner.shape === "struct") this.#describe(inner.struct, { properties: part.properties });
    }
  }

  #field(field: FactField): JsonObject {
    if (field.name === "fieldsV1") {
      this.schemas[FIELDS] ??= { type: "object", description: "A set of fields, as a tree of field names." };
      return refTo(FIELDS);
    }
    const schema = this.#type(field.type, field.always);
    const extras: JsonObject = {
      ...defined({
        default: field.default,
        enum: field.enum ? [...field.enum].sort() : undefined,
        "x-kubernetes-list-map-keys": field.listMapKeys ? [...field.listMapKeys] : undefined,
      }),
      ...omitZero({
        "x-kubernetes-list-type": field.listType,
        "x-kubernetes-map-type": field.mapType,
        "x-kubernetes-patch-merge-key": field.patchMergeKey,
        "x-kubernetes-patch-strategy": field.patchStrategy,
      }),
    };
    // A `$ref` allows no sibling keywords.
    return "$ref" in schema && Object.keys(extras).length > 0
      ? { allOf: [schema], ...extras }
      : { ...schema, ...extras };
  }

  /** `always` means that Go serializes the zero value, which then is the default. */
  #type(type: FactType, always: boolean): JsonObject {
    switch (type.shape) {
      case "list":
        return { type: "array", items: this.#type(type.of, true) };
      case "map":
        return { type: "object", additionalProperties: this.#type(type.of, true) };
      case "struct": {
        const reference = refTo(this.#add(type.struct));
        return type.pointer ? reference : { default: {}, allOf: [reference] };
      }
      default:
        return this.#leaf(type.leaf, always && !type.pointer);
    }
  }

  #leaf(leaf: Leaf, withZero: boolean): JsonObject {
    if (leaf === "bytes") return { type: "string", format: "byte" };
    const plain = PLAIN[leaf];
    if (plain) return withZero ? { ...plain.schema, default: plain.zero } : { ...plain.schema };
    const named = LEAF_TYPES[leaf];
    if (!named) return { type: "object" };
    this.schemas[named.name] ??= named.schema;
    return refTo(named.name);
  }
}

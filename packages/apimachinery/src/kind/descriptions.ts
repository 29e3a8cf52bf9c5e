/**
 * Descriptions of fields, in our own words: the fact tables have upstream's schemas without upstream's sentences.
 * `kubectl explain`, the CRDs of our kinds and the reference pages show them.
 *
 * A kind has one table from path to description. `[]` are the items of a list, `*` the values of a map, and the empty
 * path is the type itself: `spec.taints[].effect`. A type that several kinds use has its own table, which
 * `descriptionsAt` places under the path of each field that has the type.
 */
import { defined } from "@flotilla/base";
import { ITEMS, VALUES, schemaSteps } from "../schema/schema-path.ts";
import type { Schema } from "../schema.ts";
import type { Kind, KindVersion } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";
import type { FieldDescriptions } from "./field-descriptions.ts";

/** The descriptions of a type, for a field that has the type. */
export function descriptionsAt(path: string, ofType: FieldDescriptions): FieldDescriptions {
  return Object.fromEntries(Object.entries(ofType).map(([inner, description]) => [joined(path, inner), description]));
}

const joined = (path: string, inner: string): string =>
  inner === "" || path === "" || inner.startsWith(ITEMS) ? `${path}${inner}` : `${path}.${inner}`;

/**
 * The kind with its descriptions in the schemas of all versions. They are added when a schema is read. A path that a
 * version does not have is skipped there.
 */
export function describedKind<T extends KubernetesObject>(kind: Kind<T>): Kind<T> {
  const { descriptions, versions } = kind;
  if (!descriptions) return kind;
  return {
    ...kind,
    versions: Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [name, describedVersion(version, descriptions)]),
    ),
  };
}

/** Does not read the schema of the version, which may not be loaded yet. */
function describedVersion(version: KindVersion, descriptions: FieldDescriptions): KindVersion {
  let described: Schema | undefined;
  return Object.defineProperties({} as KindVersion, {
    ...Object.getOwnPropertyDescriptors(version),
    schema: { enumerable: true, get: () => (described ??= withTree(version.schema, treeOf(descriptions))) },
  });
}

/** The descriptions that a schema has. It must not be recursive. */
export function descriptionsOf({
  description,
  items,
  additionalProperties,
  properties = {},
}: Schema): FieldDescriptions {
  const steps = Object.entries(properties);
  if (typeof additionalProperties === "object") steps.unshift([VALUES, additionalProperties]);
  if (items) steps.unshift([ITEMS, items]);
  return {
    ...defined({ "": description !== undefined && description !== "" ? description : undefined }),
    ...Object.assign({}, ...steps.map(([step, schema]) => descriptionsAt(step, descriptionsOf(schema)))),
  };
}

/** The table by step. It is larger than the table, so it is not kept. */
interface Tree {
  description?: string;
  readonly inner: Map<string, Tree>;
}

function treeOf(descriptions: FieldDescriptions): Tree {
  const root: Tree = { inner: new Map() };
  for (const [path, description] of Object.entries(descriptions)) {
    let tree = root;
    for (const step of schemaSteps(path)) {
      let next = tree.inner.get(step);
      if (!next) tree.inner.set(step, (next = { inner: new Map() }));
      tree = next;
    }
    tree.description = description;
  }
  return root;
}

function withTree(schema: Schema, { description, inner }: Tree): Schema {
  const result = description === undefined ? { ...schema } : { ...schema, description };
  for (const [step, tree] of inner) {
    const { items, additionalProperties, properties } = schema;
    if (step === ITEMS && items) result.items = withTree(items, tree);
    else if (step === VALUES && typeof additionalProperties === "object")
      result.additionalProperties = withTree(additionalProperties, tree);
    else if (properties && Object.hasOwn(properties, step)) {
      if (result.properties === properties) result.properties = { ...properties };
      (result.properties as Record<string, Schema>)[step] = withTree(properties[step] as Schema, tree);
    }
  }
  return result;
}

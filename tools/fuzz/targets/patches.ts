/** Patches, server-side apply, managed fields. */
import { equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import {
  ApiError,
  applyConfiguration,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  asRoot,
  differenceOf,
  intersectionOf,
  isFieldSet,
  kindSchema,
  membersOf,
  recordUpdate,
  unionOf,
} from "@flotilla/apimachinery";
import type { FieldSet, Schema } from "@flotilla/apimachinery";
import type { Chance } from "../chance.ts";
import { deployment, objects, schemas, widget } from "../corpus.ts";
import { HOSTILE_NAMES } from "../hostile.ts";
import { mutateJson, mutateText, partOf } from "../mutate.ts";
import { defineTarget } from "../target.ts";

/** The real server answers some invalid patches with 500 too, so the code does not matter here. */
const isApiError = (error: unknown): boolean => error instanceof ApiError;
const asObject = (value: Json): JsonObject => (isObject(value) ? value : { value });
const snapshot = (value: Json): string => JSON.stringify(value);

const POINTERS = [
  "/spec/replicas",
  "/metadata/labels/a~1b",
  "/spec/template/spec/containers/0",
  "/spec/template/spec/containers/-",
  "/x~0y",
  "",
  "/metadata/finalizers/0",
  "/spec",
];

function operation(chance: Chance): Json {
  const path = chance.oneIn(3)
    ? mutateText(chance, chance.pick(POINTERS), ["/", "~0", "~1", "-1", ...HOSTILE_NAMES]).slice(0, 200)
    : chance.pick(POINTERS);
  const made: JsonObject = {
    op: chance.pick(["add", "remove", "replace", "move", "copy", "test"]),
    path,
    from: chance.pick(POINTERS),
    value: partOf(chance, chance.pick(objects)),
  };
  return chance.oneIn(8) ? mutateJson(chance, made) : made;
}

export const jsonPatch = defineTarget({
  name: "json-patch",
  generate: (chance) => ({ document: deployment, patch: chance.list(1 + chance.size(30), () => operation(chance)) }),
  declares: isApiError,
  run({ document, patch }) {
    const before = snapshot(document);
    const result = applyJsonPatch(document, patch);
    if (snapshot(document) !== before) return "the document was changed";
    return equalJson(JSON.parse(snapshot(result)), result) ? undefined : "the result is not JSON";
  },
});

export const mergePatch = defineTarget({
  name: "merge-patch",
  generate: (chance) => ({
    document: mutateJson(chance, chance.pick(objects), objects),
    patch: mutateJson(chance, chance.pick(objects), objects),
  }),
  declares: isApiError,
  run({ document, patch }) {
    const before = snapshot(document);
    const result = applyMergePatch(document, patch);
    if (snapshot(document) !== before) return "the document was changed";
    const again = applyMergePatch(result, patch);
    return equalJson(again, result) ? undefined : "applying it twice changes something";
  },
});

const deploymentSchema = kindSchema("apps-v1", "Deployment");
const DIRECTIVES: readonly Json[] = [
  { $patch: "delete" },
  { $patch: "replace" },
  { $patch: "merge" },
  { $retainKeys: ["name"] },
  { "$setElementOrder/containers": [{ name: "other" }, { name: "main" }] },
  { "$deleteFromPrimitiveList/finalizers": ["example.com/keep"] },
  { containers: [{ name: "main", $patch: "delete" }] },
  { env: [{ $patch: "replace" }] },
];

export const strategicPatch = defineTarget({
  name: "strategic-merge-patch",
  generate: (chance) => ({
    document: asObject(chance.oneIn(4) ? mutateJson(chance, deployment, objects) : deployment),
    patch: mutateJson(chance, deployment, [...DIRECTIVES, deployment]),
  }),
  declares: isApiError,
  run({ document, patch }) {
    const before = snapshot(document);
    const result = applyStrategicMergePatch(document, patch, deploymentSchema);
    if (snapshot(document) !== before) return "the document was changed";
    return equalJson(JSON.parse(snapshot(result)), result) ? undefined : "the result is not JSON";
  },
});

const FIELDS: readonly FieldSet[] = [
  {
    "f:spec": {
      ".": {},
      "f:replicas": {},
      "f:template": { "f:spec": { "f:containers": { 'k:{"name":"main"}': { ".": {}, "f:image": {} } } } },
    },
  },
  { "f:metadata": { "f:labels": { ".": {}, "f:app": {} }, "f:finalizers": { ".": {}, 'v:"example.com/keep"': {} } } },
  { "f:spec": { "f:parts": { "i:0": {}, 'k:{"id":"a"}': {} } } },
];

const fieldSetFrom = (chance: Chance): Json =>
  mutateJson(chance, chance.pick(FIELDS), [
    ...FIELDS,
    { "k:{}": {} },
    { "v:": {} },
    { "i:x": {} },
    { "f:__proto__": {} },
  ]);

export const fieldSets = defineTarget({
  name: "fields-v1",
  generate: (chance) => [fieldSetFrom(chance), fieldSetFrom(chance)],
  declares: () => false,
  run([first, second]) {
    if (!isFieldSet(first) || !isFieldSet(second)) return undefined;
    const [a, b] = [asRoot(first), asRoot(second)];
    const membersIn = (set: FieldSet | undefined): Set<string> => new Set(set ? membersOf(set) : []);
    const union = membersIn(unionOf(a, b));
    const [left, right] = [membersIn(a), membersIn(b)];
    if (!union.isSupersetOf(left) || union.size !== left.union(right).size) return "a union has other members";
    const common = membersIn(intersectionOf(a, b));
    if (!common.isSubsetOf(left) || !common.isSubsetOf(right))
      return "an intersection has a member that is not in both";
    const rest = membersIn(differenceOf(a, b));
    return rest.isSubsetOf(left) && rest.size + common.size === left.size
      ? undefined
      : "difference and intersection do not add up to the whole";
  },
});

function entries(chance: Chance, fields: (chance: Chance) => Json): Json[] {
  return chance.list(chance.size(12), (index) => ({
    manager: `m${index}`,
    operation: chance.pick(["Apply", "Update"]),
    apiVersion: "apps/v1",
    time: "2024-05-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: fields(chance),
  }));
}

/**
 * Stored entries were validated when they were written: their field sets are sets, with any content, and never empty.
 */
const storedEntries = (chance: Chance): Json[] =>
  entries(chance, () => {
    const fields = fieldSetFrom(chance);
    return isFieldSet(fields) && Object.keys(fields).length > 0 ? fields : chance.pick(FIELDS);
  });

/** A client may send anything. */
function sentEntries(chance: Chance): Json {
  const list = entries(chance, fieldSetFrom);
  return chance.oneIn(6) ? mutateJson(chance, list) : list;
}

const CASES: readonly { object: JsonObject; schema: Schema; builtIn: boolean; apiVersion: string }[] = [
  { object: deployment, schema: deploymentSchema, builtIn: true, apiVersion: "apps/v1" },
  { object: widget, schema: schemas[0] as Schema, builtIn: false, apiVersion: "fuzz.example/v1" },
];

export const apply = defineTarget({
  name: "apply",
  generate(chance) {
    const base = chance.pick(CASES);
    const live = { ...base.object, metadata: { name: "web", managedFields: storedEntries(chance) } };
    return {
      ...base,
      live: chance.oneIn(4) ? undefined : live,
      applied: asObject(mutateJson(chance, base.object, objects)),
      force: chance.oneIn(2),
    };
  },
  declares: isApiError,
  run({ live, applied, force, ...rest }) {
    const before = snapshot(live ?? null);
    const request = { ...rest, manager: "fuzz", force, time: "2024-05-02T00:00:00Z" };
    const result = applyConfiguration({ ...request, live, applied });
    if (snapshot(live ?? null) !== before) return "the live object was changed";
    // An element without its keys only has an index; the kind's validation rejects it before it is stored.
    if (snapshot(result).includes('"i:')) return undefined;
    const again = applyConfiguration({ ...request, live: result, applied, force: true });
    return equalJson(again, result)
      ? undefined
      : `applying it twice changes something: ${snapshot(result)} -> ${snapshot(again)}`;
  },
});

export const managedFields = defineTarget({
  name: "managed-fields",
  generate(chance) {
    const base = chance.pick(CASES);
    const before = { ...base.object, metadata: { name: "web", managedFields: storedEntries(chance) } };
    return {
      ...base,
      before,
      after: {
        ...asObject(mutateJson(chance, base.object, objects)),
        metadata: { name: "web", managedFields: sentEntries(chance) },
      },
    };
  },
  declares: isApiError,
  run({ before, after, schema, builtIn, apiVersion }) {
    const record = { schema, builtIn, apiVersion, manager: "fuzz", time: "2024-05-02T00:00:00Z" };
    const result = recordUpdate({ ...record, before, after });
    return equalJson(recordUpdate({ ...record, before: result, after: result }), result)
      ? undefined
      : "an unchanged write changes the field owners";
  },
});

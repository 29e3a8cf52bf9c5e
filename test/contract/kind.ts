/**
 * The contract of every kind, as tests: the server can serve it, the client can address it, and a CRD can describe it.
 * Run for each kind by `kind.test.ts`.
 */
import { describe, expect, test } from "vitest";
import { kindAdmissions } from "@flotilla/server";
import { customResourceDefinitionOf, kindOfCustomResourceDefinition } from "@flotilla/kubernetes";
import {
  compileJsonPath,
  compileSchema,
  dns1035LabelProblems,
  dnsSubdomainProblems,
  formatApiVersion,
  parseApiVersion,
} from "@flotilla/apimachinery";
import type { AnyKindStep, Kind, KindVersion, Operation, Review } from "@flotilla/apimachinery";
import { copy, deepFreeze, isObject, type JsonObject } from "@flotilla/base";
import { emptyCluster, SOME_KIND } from "../../packages/apimachinery/src/kind/test-review.ts";

const versionOf = ({ apiVersion }: JsonObject): string =>
  parseApiVersion(typeof apiVersion === "string" ? apiVersion : "").version;

/** A review as the server creates it, with ids that count from one. */
export function reviewOf(
  object: JsonObject,
  operation: Operation = "CREATE",
  oldObject?: JsonObject,
): Review<JsonObject> {
  let ids = 0;
  return {
    operation,
    cluster: "hub",
    kind: SOME_KIND,
    version: versionOf(object),
    user: { name: "alice", groups: [] },
    object: deepFreeze(object),
    oldObject: oldObject ? deepFreeze(oldObject) : undefined,
    dryRun: false,
    newUid: () => `0000000${++ids}-0000-4000-8000-000000000000`,
    nowMs: () => 0,
    allows: () => true,
    decide: () => ({ allowed: true, reason: "" }),
    warn() {},
    read: emptyCluster,
  };
}

function admissionsOf(kind: Kind): AnyKindStep[] {
  return kindAdmissions.filter((admission) => admission.for.group === kind.group && admission.for.kind === kind.kind);
}

/** Completes an object as the server does before validation: admissions first, then the schema. */
export async function complete(kind: Kind, object: JsonObject): Promise<JsonObject> {
  let result = object;
  for (const { mutate, on } of admissionsOf(kind))
    if (mutate && on.includes("CREATE")) result = (await mutate(reviewOf(result))) as JsonObject;
  const schema = kind.versions[versionOf(object)]?.schema;
  if (schema) result = compileSchema(schema).admit(copy(result));
  for (const { prepare, on } of admissionsOf(kind))
    if (prepare && on.includes("CREATE")) result = (await prepare(reviewOf(result))) as JsonObject;
  return result;
}

export function describeKind(kind: Kind, minimal: JsonObject): void {
  describe(`${kind.kind}.${kind.group || "core"}`, () => {
    const versions = Object.entries(kind.versions);

    test("has names that are valid in paths and in DNS", () => {
      expect(kind.group === "" ? [] : dnsSubdomainProblems(kind.group)).toEqual([]);
      const names = [
        kind.plural,
        kind.kind.toLowerCase(),
        ...(kind.shortNames ?? []),
        ...(kind.categories ?? []),
        ...Object.keys(kind.versions),
      ];
      expect(names.filter((name) => dns1035LabelProblems(name).length > 0)).toEqual([]);
    });

    test("serves its storage version", () => {
      expect(Object.keys(kind.versions)).toContain(kind.storageVersion);
    });

    test.for(versions)("describes an object in %s", ([, version]) => {
      expect(version.schema).toMatchObject({ type: "object" });
      expect(Object.keys(version.schema.properties ?? {})).toEqual(
        expect.arrayContaining(["apiVersion", "kind", "metadata"]),
      );
    });

    test.for(versions)("has columns in %s that print an empty object", async ([, version]) => {
      const object = deepFreeze(await complete(kind, minimal));

      const cells = version.columns.map(({ jsonPath, value }) =>
        jsonPath === undefined ? value?.(object, 0) : (compileJsonPath(jsonPath)(object)[0] ?? null),
      );

      expect(cells).not.toContain(undefined);
    });

    test("has readable scale paths", () => {
      for (const path of Object.values(kind.subresources.scale ?? {}))
        expect(compileJsonPath(String(path))(minimal)).toBeDefined();
    });

    test("completes an object idempotently", async () => {
      const once = await complete(kind, minimal);

      expect(await complete(kind, once)).toEqual(once);
    });

    for (const [name, version] of versions) if (version.toStorage) describeConversion(kind, name, version, minimal);
    if (!kind.builtIn) describeDefinition(kind);
  });
}

/** Versions that cannot represent a default of the storage version: they lose it once, and nothing after that. */
const SAY_LESS: ReadonlySet<string> = new Set([
  "statefulsets.apps.kruise.io/v1alpha1",
  "resourcebindings.work.karmada.io/v1alpha1",
  "clusterresourcebindings.work.karmada.io/v1alpha1",
]);

function describeConversion(
  kind: Kind,
  name: string,
  { toStorage, fromStorage, schema }: KindVersion,
  minimal: JsonObject,
): void {
  // A kind that is a view of another kind's store is declared in its own form.
  const storedForm = async (): Promise<JsonObject> => {
    const completed = await complete(kind, minimal);
    return kind.storedAs ? (toStorage?.(copy(completed)) ?? {}) : completed;
  };

  test(`is converted to ${name} and back without loss`, async () => {
    const stored = await storedForm();
    const converted = fromStorage?.(copy(stored)) ?? {};

    // The server writes the apiVersion, whatever the conversion leaves there.
    const back = {
      ...toStorage?.({ ...converted, apiVersion: formatApiVersion(kind.group, name) }),
      apiVersion: stored["apiVersion"],
    } as JsonObject;
    const saysLess = SAY_LESS.has(`${kind.plural}.${kind.group}/${name}`);
    expect(saysLess ? fromStorage?.(copy(back)) : back).toEqual(saysLess ? converted : stored);
  });

  test(`is valid in ${name} after conversion`, async () => {
    const stored = await storedForm();
    const converted = fromStorage?.(copy(stored)) ?? {};

    expect(compileSchema(schema).admit(copy(converted))).toEqual(converted);
    expect(compileSchema(schema).validate(converted) ?? []).toEqual([]);
  });

  test(`is not changed by conversion to ${name}`, async () => {
    const stored = await storedForm();
    const frozen = deepFreeze(copy(stored)) as JsonObject;

    expect(() => toStorage?.(fromStorage?.(frozen) ?? {})).not.toThrow();
    expect(frozen).toEqual(stored);
  });
}

function describeDefinition(kind: Kind): void {
  test("survives the round trip through its CRD with the same names, versions, schemas and columns", () => {
    const definition = JSON.parse(JSON.stringify(customResourceDefinitionOf(kind))) as ReturnType<
      typeof customResourceDefinitionOf
    >;

    const back = kindOfCustomResourceDefinition(definition);

    const { group, plural, scope, storageVersion, subresources } = kind;
    expect(back).toMatchObject({ group, kind: kind.kind, plural, scope, storageVersion, subresources });
    expect(Object.keys(back.versions)).toEqual(Object.keys(kind.versions));
    for (const [name, version] of Object.entries(kind.versions)) {
      expect(back.versions[name]?.schema).toEqual(version.schema);
      expect(back.versions[name]?.columns).toEqual(version.columns);
    }
  });

  test("has a CRD with exactly one storage version", () => {
    const { spec } = customResourceDefinitionOf(kind);

    expect(spec.versions.filter(({ storage }) => storage).map(({ name }) => name)).toEqual([kind.storageVersion]);
    expect(spec.versions.every(({ schema }) => isObject(schema?.openAPIV3Schema))).toBe(true);
  });
}

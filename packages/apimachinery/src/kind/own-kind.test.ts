import { expect, expectTypeOf, test } from "vitest";
import type { Kind } from "./kind.ts";
import type { KubernetesObject } from "./meta.ts";
import { ownKind, schemaErrors } from "./own-kind.ts";
import * as s from "./schema-builder.ts";

const names = {
  group: "example.flotilla.dev",
  version: "v1",
  kind: "Ferry",
  plural: "ferries",
  scope: "Namespaced",
  description: "A Ferry carries passengers.",
} as const;
const spec = s.object({ seats: s.integer("The number of seats.", { default: 10 }), port: s.string("The home port.") });
const status = s.object({
  departure: s.optional(s.time("The last departure.")),
  conditions: s.optional(s.conditions("Afloat.")),
});

test("a kind has the type of its spec and status", () => {
  const Ferry = ownKind({ ...names, spec, status });

  expectTypeOf<s.Infer<typeof Ferry>["spec"]>().toEqualTypeOf<{ seats: number; port: string }>();
  expectTypeOf<s.Infer<typeof Ferry>["metadata"]>().toEqualTypeOf<KubernetesObject["metadata"]>();
  expect([Ferry.subresources, Ferry.hasGeneration, Ferry.builtIn]).toEqual([{ status: true }, true, false]);
});

test("columns have the type and the description of the fields that they print", () => {
  const Ferry = ownKind({
    ...names,
    spec,
    status,
    columns: {
      Seats: ".spec.seats",
      Afloat: '.status.conditions[?(@.type=="Afloat")].status',
      Departure: { path: ".status.departure", isWide: true },
    },
  });

  expect(Ferry.versions["v1"]?.columns).toEqual([
    { name: "Seats", type: "integer", description: "The number of seats.", jsonPath: ".spec.seats" },
    {
      name: "Afloat",
      type: "string",
      description: "The status of the condition.",
      jsonPath: '.status.conditions[?(@.type=="Afloat")].status',
    },
    {
      name: "Departure",
      type: "date",
      description: "The last departure.",
      jsonPath: ".status.departure",
      priority: 1,
    },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ]);
});

test("rejects a column of a field that the kind does not have", () => {
  expect(() => ownKind({ ...names, spec, columns: { Crew: ".spec.crew" } })).toThrow(
    "the column Crew of Ferry prints .spec.crew, which is not a field of the kind",
  );
});

const columnTitles = (kind: Kind): string[] => kind.versions["v1"]?.columns.map(({ name }) => name) ?? [];

test("a built-in kind also lists its name, and a computed one has no age", () => {
  const columns = { Port: ".spec.port" };

  expect(columnTitles(ownKind({ ...names, spec, columns, servedAs: "builtIn" }))).toEqual(["Name", "Port", "Age"]);
  expect(columnTitles(ownKind({ ...names, spec, columns, servedAs: "computed" }))).toEqual(["Name", "Port"]);
});

test("a built-in kind cannot have CEL rules, which nothing would evaluate", () => {
  const rules = [{ rule: "self.spec.seats > 0", message: "a ferry has seats" }];

  expect(() => ownKind({ ...names, spec, rules, servedAs: "builtIn" })).toThrow("Ferry has CEL rules");
});

test("the schema of a built-in kind reports errors in Kubernetes' words", () => {
  const Ferry = ownKind({ ...names, spec, servedAs: "builtIn" });
  const object = {
    apiVersion: "example.flotilla.dev/v1",
    kind: "Ferry",
    metadata: { name: "a" },
    spec: { seats: "many" },
  } as unknown as s.Infer<typeof Ferry>;

  expect(schemaErrors(Ferry, { object }).map(({ field, message }) => [field, message])).toEqual([
    ["spec.seats", 'Invalid value: "string": spec.seats in body must be of type integer: "string"'],
    ["spec.port", "Required value"],
  ]);
});

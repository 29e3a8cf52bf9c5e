import { expect, test } from "vitest";
import type { JsonObject } from "@flotilla/base";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from "@flotilla/apimachinery/facts/apiextensions-v1.ts";
import { validateDefinition } from "./definition-rules.ts";

const schema = (field: JsonObject): JsonObject => ({
  type: "object",
  properties: { spec: { type: "object", properties: { a: field } } },
});
const version = (
  name: string,
  more: Partial<CustomResourceDefinitionVersion> = {},
): CustomResourceDefinitionVersion => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: schema({ type: "string" }) },
  ...more,
});
const definition = (
  versions: CustomResourceDefinitionVersion[],
  spec: JsonObject = {},
  status: JsonObject = {},
): CustomResourceDefinition => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "teapots.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "teapots", singular: "teapot", kind: "Teapot", listKind: "TeapotList" },
    scope: "Namespaced",
    versions,
    conversion: { strategy: "None" },
    ...spec,
  },
  status: { storedVersions: ["v1"], ...status },
});
const problems = (given: CustomResourceDefinition, old?: CustomResourceDefinition): string[] =>
  validateDefinition(given, old).map(({ field, message }) => `${field}: ${message}`);
const established = { conditions: [{ type: "Established", status: "True" }] };

test("accepts a CRD with one version, or with several versions that differ", () => {
  expect(problems(definition([version("v1")]))).toEqual([]);
  expect(
    problems(definition([version("v1"), version("v2", { schema: { openAPIV3Schema: schema({ type: "integer" }) } })])),
  ).toEqual([]);
});

const refused: Record<string, [definition: CustomResourceDefinition, want: string[]]> = {
  "a schema error shared by all versions is reported once": [
    definition(["v1", "v2"].map((name) => version(name, { schema: { openAPIV3Schema: schema({}) } }))),
    [
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields",
    ],
  ],
  "a schema error in one version is reported for that version": [
    definition([version("v1"), version("v2", { schema: { openAPIV3Schema: schema({}) } })]),
    [
      "spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type: Required value: must not be empty for specified object fields",
    ],
  ],
  "error messages show versions as JSON": [
    definition([version("v1"), version("v1")]),
    [
      "spec.versions: Invalid value: " +
        '[{"name":"v1","served":true,"storage":true},{"name":"v1","served":true,"storage":true}]: must contain ' +
        "unique version names",
    ].flatMap((text) => [
      text,
      text.replace("must contain unique version names", "must have exactly one version marked as storage version"),
    ]),
  ],
  "a version in status.storedVersions cannot be removed from spec.versions": [
    definition([version("v1")], {}, { storedVersions: ["v0", "v1"] }),
    [
      'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was previously a storage ' +
        "version, and must remain in spec.versions until a storage migration ensures no data remains persisted " +
        "in v0 and removes v0 from status.storedVersions",
    ],
  ],
  "a default must not have unknown fields": [
    definition([version("v1", { schema: { openAPIV3Schema: schema({ type: "object", default: { x: 1 } }) } })]),
    [
      'spec.validation.openAPIV3Schema.properties[spec].properties[a].default: Invalid value: {"x":1}: must not have unknown fields',
    ],
  ],
  "a default must satisfy the validation rules of its own schema": [
    definition([
      version("v1", {
        schema: {
          openAPIV3Schema: schema({
            type: "integer",
            default: 3,
            "x-kubernetes-validations": [{ rule: "self > 5", message: "too small" }],
          }),
        },
      }),
    ]),
    ["spec.validation.openAPIV3Schema.properties[spec].properties[a].default: Invalid value: 3: too small"],
  ],
  "selectable fields must exist and be scalars": [
    definition([
      version("v1", { selectableFields: [{ jsonPath: ".spec.b" }, { jsonPath: ".spec" }, { jsonPath: ".spec.a[0]" }] }),
    ]),
    [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type string, ' +
        "boolean or integer. Enum string fields and strings with formats are allowed.",
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec.a[0]": is an invalid path: array notation is not allowed',
    ],
  ],
  "CEL rules must compile": [
    definition([
      version("v1", {
        schema: { openAPIV3Schema: schema({ type: "string", "x-kubernetes-validations": [{ rule: " " }] }) },
      }),
    ]),
    [
      "spec.validation.openAPIV3Schema.properties[spec].properties[a].x-kubernetes-validations[0].rule: Required value: rule is not specified",
    ],
  ],
};
for (const [behaviour, [given, want]] of Object.entries(refused)) {
  test(behaviour, () => {
    expect(problems(given)).toEqual(want);
  });
}

test("the scope is immutable once the CRD is established", () => {
  const old = definition([version("v1")], {}, established);

  expect(problems(definition([version("v1")], { scope: "Cluster" }, established), old)).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
  ]);
  expect(problems(definition([version("v1")], { scope: "Cluster" }), definition([version("v1")]))).toEqual([]);
});

test("rejects a CRD with an empty spec without crashing", () => {
  const empty = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "x" },
    spec: {},
  } as unknown as CustomResourceDefinition;

  expect(problems(empty)).toContain("spec.names.plural: Required value");
});

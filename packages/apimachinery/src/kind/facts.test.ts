import { expect, test } from "vitest";
import { definitionSchema, kindSchema, structOf } from "./facts.ts";

test("lists have a merge type and a patch merge key", () => {
  const containers = kindSchema("core-v1", "Pod").properties?.["spec"]?.properties?.["containers"];

  expect(containers).toMatchObject({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": "name",
  });
});

test("fields have upstream's defaults and enumerations", () => {
  const port = structOf("core-v1", "ContainerPort").schema.properties?.["protocol"];

  expect(port).toEqual({ type: "string", default: "TCP", enum: ["TCP", "UDP", "SCTP"] });
});

test("fields that are neither optional nor omitempty are required", () => {
  expect(kindSchema("apps-v1", "Deployment").properties?.["spec"]?.required).toEqual(["selector", "template"]);
});

test("flattens embedded structs as JSON does", () => {
  const volume = structOf("core-v1", "Volume");

  expect(volume.flat.has("configMap")).toBe(true);
  expect(volume.fields.map(({ name }) => name)).toEqual(["name", ""]);
});

test("an atomic type is atomic wherever it is used", () => {
  const secrets = kindSchema("core-v1", "Pod").properties?.["spec"]?.properties?.["imagePullSecrets"];

  expect(secrets?.items).toMatchObject({ "x-kubernetes-map-type": "atomic" });
  expect(structOf("core-v1", "LocalObjectReference").flat.has("")).toBe(false);
});

test("a recursive type is a cycle of one object", () => {
  const { schema } = structOf("apiextensions-v1", "JSONSchemaProps");

  expect(schema.properties?.["properties"]?.additionalProperties).toBe(schema);
});

test("reads a table once", () => {
  expect(kindSchema("core-v1", "Pod")).toBe(kindSchema("core-v1", "Pod"));
  expect(definitionSchema("works.work.karmada.io", "v1alpha1")).toBe(
    definitionSchema("works.work.karmada.io", "v1alpha1"),
  );
});

test("drops descriptions but keeps fields named description", () => {
  const texts = JSON.stringify(definitionSchema("resourcebindings.work.karmada.io", "v1alpha2"));

  expect(texts).not.toContain('"description":"');
});

test("errors name the missing type of a table", () => {
  expect(() => structOf("core-v1", "Teapot")).toThrow("the type core-v1.Teapot in the fact tables is missing");
});

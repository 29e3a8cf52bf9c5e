/** Reads a CustomResourceDefinition and keeps its facts: names, scope, versions, schemas without their descriptions. */
import { loadYaml } from "@flotilla/apimachinery";

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

interface Definition {
  spec: {
    group: string;
    scope: string;
    names: Record<string, Value>;
    versions: {
      name: string;
      storage: boolean;
      schema: { openAPIV3Schema: Value };
      additionalPrinterColumns?: Value;
      subresources?: Value;
    }[];
  };
}

export function readDefinition(yaml: string): Record<string, Value> {
  const { spec } = loadYaml(yaml, { dialect: "1.2" }) as Definition;
  const versions: Record<string, Value> = {};
  for (const { name, schema, additionalPrinterColumns = [], subresources = {} } of spec.versions) {
    versions[name] = {
      columns: (additionalPrinterColumns as { [key: string]: Value }[]).map(
        ({ description: _dropped, ...column }) => column,
      ),
      subresources,
      schema: withoutDescriptions(schema.openAPIV3Schema, true),
    };
  }
  return {
    group: spec.group,
    scope: spec.scope,
    names: spec.names,
    storageVersion: spec.versions.find(({ storage }) => storage)?.name ?? "",
    versions,
  };
}

/** `description` is a sentence where a schema stands, but may be a field's name among properties. */
function withoutDescriptions(value: Value, isSchema: boolean): Value {
  if (Array.isArray(value)) return value.map((item) => withoutDescriptions(item, isSchema));
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, Value> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (isSchema && (key === "description" || key === "externalDocs" || key === "title" || key === "example")) continue;
    const isData = key === "default" || key === "enum" || key === "x-kubernetes-validations";
    result[key] = isSchema && isData ? inner : withoutDescriptions(inner, isSchema ? key !== "properties" : true);
  }
  return result;
}

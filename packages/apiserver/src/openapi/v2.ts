/**
 * Converts the v3 documents to OpenAPI v2. v2 can express less: defaults, alternatives and null are omitted, and a
 * schema that a client would then misread loses its type, as in Kubernetes.
 */
import { isObject, defined, omitZero, omitEmpty } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { textOf } from "../codec/text.ts";

export interface V3Document extends JsonObject {
  paths: JsonObject;
  components: { schemas: JsonObject; securitySchemes: JsonObject };
}

export function swaggerOf(documents: readonly V3Document[], version: string): JsonObject {
  const definitions: JsonObject = {};
  const paths: JsonObject = {};
  for (const document of documents) {
    for (const [name, schema] of Object.entries(document.components.schemas))
      definitions[name] = merged(definitions[name], definitionOf(name, schema as JsonObject));
    for (const [path, item] of Object.entries(document.paths)) paths[path] = pathItem(item as JsonObject);
  }
  return {
    swagger: "2.0",
    info: { title: "Kubernetes", version },
    paths: sorted(paths),
    definitions: sorted(definitions),
    securityDefinitions: {
      BearerToken: { type: "apiKey", name: "authorization", in: "header", description: "Bearer Token authentication" },
    },
    security: [{ BearerToken: [] }],
  };
}

const sorted = (map: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));

/** A type that occurs in several documents is the same in each; only its group-version-kind lists are merged. */
function merged(known: Json | undefined, schema: JsonObject): JsonObject {
  if (!isObject(known)) return schema;
  const groups = new Map<string, Json>();
  for (const kind of [...listOf(known[GROUP_KIND]), ...listOf(schema[GROUP_KIND])])
    groups.set(JSON.stringify(kind), kind);
  return groups.size === 0 ? known : { ...known, [GROUP_KIND]: [...groups.values()] };
}

const GROUP_KIND = "x-kubernetes-group-version-kind";
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

function definitionOf(name: string, schema: JsonObject): JsonObject {
  if (name.endsWith(".intstr.IntOrString")) return { type: "string", format: "int-or-string" };
  if (name.endsWith(".resource.Quantity")) return { type: "string", ...defined({ description: schema.description }) };
  // An object that preserves unknown fields at its root has no describable schema.
  if (schema["x-kubernetes-preserve-unknown-fields"] === true)
    return { type: "object", [GROUP_KIND]: schema[GROUP_KIND] ?? [] };
  return schemaOf(schema);
}

const SCHEMAS = "#/components/schemas/";
const reference = (text: string): string => `#/definitions/${text.slice(SCHEMAS.length)}`;

function schemaOf(schema: JsonObject): JsonObject {
  const {
    $ref,
    allOf,
    anyOf: _any,
    oneOf: _one,
    not: _not,
    default: _default,
    nullable,
    properties,
    items,
    additionalProperties,
    required,
    type,
    ...rest
  } = schema;
  const [first] = listOf(allOf);
  const target =
    typeof $ref === "string" ? $ref : isObject(first) && typeof first.$ref === "string" ? first.$ref : undefined;
  if (target !== undefined) return { ...rest, $ref: reference(target) };
  const isOpen = rest["x-kubernetes-preserve-unknown-fields"] === true;
  // Old clients fail on fields inside a value without a type.
  const isBare = nullable === true || isOpen;
  const keepsType = !isBare || (isOpen && nullable !== true && type !== "object" && type !== "array");
  const mandatory = isObject(properties)
    ? listOf(required).filter((name) => !isNullable(properties[textOf(name)]))
    : listOf(required);
  return {
    ...rest,
    ...defined({
      type: type !== undefined && keepsType ? type : undefined,
      required: mandatory.length > 0 && !isBare ? mandatory : undefined,
      properties:
        isObject(properties) && !isBare
          ? Object.fromEntries(
              Object.entries(properties).map(([name, property]) => [name, schemaOf(property as JsonObject)]),
            )
          : undefined,
      items: isObject(items) && !isBare ? schemaOf(items) : undefined,
      additionalProperties:
        additionalProperties === undefined
          ? undefined
          : isObject(additionalProperties)
            ? schemaOf(additionalProperties)
            : additionalProperties,
    }),
  };
}

const isNullable = (schema: Json | undefined): boolean => isObject(schema) && schema.nullable === true;

function pathItem(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      key === "parameters"
        ? listOf(value).map((parameter) => parameterOf(parameter as JsonObject))
        : operationOf(value as JsonObject),
    ]),
  );
}

function parameterOf({ schema, ...rest }: JsonObject): JsonObject {
  return { ...(schema as JsonObject), ...rest };
}

function operationOf({ requestBody, responses, parameters, ...rest }: JsonObject): JsonObject {
  const consumes = isObject(requestBody) ? Object.keys(requestBody.content as JsonObject) : ["*/*"];
  const answers = Object.entries(responses as JsonObject).map(([code, answer]): [string, JsonObject] => [
    code,
    answerOf(answer as JsonObject),
  ]);
  const body: JsonObject[] = isObject(requestBody)
    ? [
        {
          name: "body",
          in: "body",
          ...defined({ required: requestBody.required === true ? true : undefined }),
          schema: contentSchema(requestBody) ?? {},
        },
      ]
    : [];
  const all = [...body, ...listOf(parameters).map((parameter) => parameterOf(parameter as JsonObject))];
  return {
    ...rest,
    consumes,
    produces: ["application/json", "application/yaml"],
    schemes: ["https"],
    ...omitEmpty({ parameters: all }),
    responses: Object.fromEntries(answers),
  };
}

function answerOf(answer: JsonObject): JsonObject {
  const schema = contentSchema(answer);
  return { description: answer.description ?? "", ...omitZero({ schema }) };
}

/** All content types of a body have the same schema. */
function contentSchema({ content }: JsonObject): JsonObject | undefined {
  if (!isObject(content)) return undefined;
  const [first] = Object.values(content);
  return isObject(first) && isObject(first.schema) ? schemaOf(first.schema) : undefined;
}

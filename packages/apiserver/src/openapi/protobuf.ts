/**
 * Encodes an OpenAPI v2 document in gnostic's protobuf form. Argo CD cannot synchronize a cluster without it, and kubectl
 * asks for it before it patches a custom resource (ADR 0025). The form mirrors the document
 * with field numbers instead of names, so encoding only needs a table of them.
 */
import { isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { each, encodeShape, entries, message } from "../codec/message-shapes.ts";
import type { Messages, Shape } from "../codec/message-shapes.ts";

const SCHEMA = message("Schema");
const parameter: Shape = {
  choose: (value) => [
    1,
    {
      choose: () =>
        value.in === "body"
          ? [1, message("BodyParameter")]
          : [
              2,
              { choose: () => (value.in === "path" ? [4, message("PathParameter")] : [3, message("QueryParameter")]) },
            ],
    },
  ],
};

const MESSAGES: Messages = {
  Document: {
    extensions: 16,
    fields: {
      swagger: [1, "string"],
      info: [2, message("Info")],
      paths: [8, entries(message("PathItem"), 2)],
      definitions: [9, entries(SCHEMA)],
      security: [12, each(entries({ choose: () => [0, "string"] }))],
      securityDefinitions: [13, entries({ choose: () => [2, message("ApiKey")] })],
    },
  },
  Info: { extensions: 7, fields: { title: [1, "string"], version: [2, "string"] } },
  ApiKey: {
    extensions: 5,
    fields: { type: [1, "string"], name: [2, "string"], in: [3, "string"], description: [4, "string"] },
  },
  PathItem: {
    extensions: 10,
    fields: {
      get: [2, message("Operation")],
      put: [3, message("Operation")],
      post: [4, message("Operation")],
      delete: [5, message("Operation")],
      options: [6, message("Operation")],
      head: [7, message("Operation")],
      patch: [8, message("Operation")],
      parameters: [9, each(parameter)],
    },
  },
  Operation: {
    extensions: 13,
    fields: {
      tags: [1, each("string")],
      description: [3, "string"],
      operationId: [5, "string"],
      produces: [6, each("string")],
      consumes: [7, each("string")],
      parameters: [8, each(parameter)],
      responses: [9, entries({ choose: () => [1, message("Response")] })],
      schemes: [10, each("string")],
    },
  },
  Response: { extensions: 5, fields: { description: [1, "string"], schema: [2, { choose: () => [1, SCHEMA] }] } },
  BodyParameter: {
    extensions: 6,
    fields: {
      description: [1, "string"],
      name: [2, "string"],
      in: [3, "string"],
      required: [4, "bool"],
      schema: [5, SCHEMA],
    },
  },
  QueryParameter: {
    extensions: 23,
    fields: {
      required: [1, "bool"],
      in: [2, "string"],
      description: [3, "string"],
      name: [4, "string"],
      type: [6, "string"],
      uniqueItems: [20, "bool"],
    },
  },
  PathParameter: {
    extensions: 22,
    fields: {
      required: [1, "bool"],
      in: [2, "string"],
      description: [3, "string"],
      name: [4, "string"],
      type: [5, "string"],
      uniqueItems: [19, "bool"],
    },
  },
  Schema: {
    extensions: 31,
    fields: {
      $ref: [1, "string"],
      format: [2, "string"],
      title: [3, "string"],
      description: [4, "string"],
      multipleOf: [6, "double"],
      maximum: [7, "double"],
      exclusiveMaximum: [8, "bool"],
      minimum: [9, "double"],
      exclusiveMinimum: [10, "bool"],
      maxLength: [11, "int"],
      minLength: [12, "int"],
      pattern: [13, "string"],
      maxItems: [14, "int"],
      minItems: [15, "int"],
      uniqueItems: [16, "bool"],
      maxProperties: [17, "int"],
      minProperties: [18, "int"],
      required: [19, each("string")],
      enum: [20, each("any")],
      additionalProperties: [21, { choose: (value) => (isObject(value) ? [1, SCHEMA] : [2, "bool"]) }],
      type: [22, "texts"],
      items: [23, { choose: () => [1, SCHEMA] }],
      properties: [25, entries(SCHEMA)],
    },
  },
};

/** Fields that this form lacks are omitted; they are in v3. */
export const encodeSwagger = (document: JsonObject): Uint8Array => encodeShape(MESSAGES, "Document", document);

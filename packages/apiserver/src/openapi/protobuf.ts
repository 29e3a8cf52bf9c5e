/**
 * Encodes an OpenAPI v2 document in gnostic's protobuf form. Argo CD cannot synchronize a cluster without it, and kubectl
 * asks for it before it patches a custom resource (ADR 0025). The form mirrors the document
 * with field numbers instead of names, so encoding only needs a table of them.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { textOf } from "../codec/text.ts";

type Shape =
  | "string"
  | "bool"
  | "double"
  | "int"
  /** A value as YAML text; JSON is YAML. */
  | "any"
  /** `{ value: [text, …] }`: there may be several types. */
  | "type"
  | { readonly message: string }
  /** A message that wraps one of several alternatives, chosen by its content. */
  | { readonly choose: (value: JsonObject) => readonly [number, Shape] }
  | { readonly each: Shape }
  /** `{ entries: [{ name, value }, …] }`, where `entries` has this field number. */
  | { readonly map: Shape; readonly number: number };

const each = (shape: Shape): Shape => ({ each: shape });
const message = (name: string): Shape => ({ message: name });
const entries = (shape: Shape, number = 1): Shape => ({ map: shape, number });

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

/** Numbers and shapes of the fields, and the number for `x-` extensions. */
const MESSAGES: Readonly<
  Record<string, { fields: Readonly<Record<string, readonly [number, Shape]>>; extensions: number }>
> = {
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
      type: [22, "type"],
      items: [23, { choose: () => [1, SCHEMA] }],
      properties: [25, entries(SCHEMA)],
    },
  },
};

export function encodeSwagger(document: JsonObject): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, "Document", document);
  return writer.finish();
}

function writeMessage(writer: Writer, name: string, value: JsonObject): void {
  const { fields, extensions } = MESSAGES[name] ?? { fields: {}, extensions: 0 };
  for (const [key, inner] of Object.entries(value)) {
    if (key.startsWith("x-"))
      writer.nested(extensions, () => writeNamed(writer, key, () => writeField(writer, 2, "any", inner)));
    else {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      // Fields that this form lacks are omitted; they are in v3.
      if (field) writeField(writer, field[0], field[1], inner);
    }
  }
}

function writeNamed(writer: Writer, name: string, writeValue: () => void): void {
  writer.text(1, name);
  writeValue();
}

function writeField(writer: Writer, number: number, shape: Shape, value: Json): void {
  switch (shape) {
    case "string":
      return writer.text(number, textOf(value));
    case "bool":
      return writer.integer(number, value === true ? 1 : 0);
    case "int":
      return writer.integer(number, Number(value));
    case "double":
      return writer.double(number, Number(value));
    case "any":
      return writer.nested(number, () => writer.text(2, JSON.stringify(value)));
    case "type":
      return writer.nested(number, () => writer.text(1, textOf(value)));
    default:
  }
  if ("message" in shape) writer.nested(number, () => writeMessage(writer, shape.message, value as JsonObject));
  else if ("each" in shape) for (const item of value as Json[]) writeField(writer, number, shape.each, item);
  else if ("choose" in shape) {
    const [inner, chosen] = shape.choose(value as JsonObject);
    writer.nested(number, () => {
      if (inner > 0) writeField(writer, inner, chosen, value);
    });
  } else {
    writer.nested(number, () => {
      for (const [name, inner] of Object.entries(value as JsonObject))
        writer.nested(shape.number, () => writeNamed(writer, name, () => writeField(writer, 2, shape.map, inner)));
    });
  }
}

const FIRST_SIZE = 1 << 20;

/** Writes protobuf fields sequentially. A nested message is written first; its length is then inserted in front. */
class Writer {
  #bytes = Buffer.allocUnsafe(FIRST_SIZE);
  #length = 0;

  text(number: number, text: string): void {
    const length = Buffer.byteLength(text);
    this.#tag(number, 2);
    this.#varint(length);
    this.#reserve(length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  integer(number: number, value: number): void {
    this.#tag(number, 0);
    this.#varint(value);
  }

  double(number: number, value: number): void {
    this.#tag(number, 1);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  nested(number: number, write: () => void): void {
    this.#tag(number, 2);
    const start = this.#length;
    write();
    const size = this.#length - start;
    const head = varintSize(size);
    this.#reserve(head);
    this.#bytes.copyWithin(start + head, start, this.#length);
    this.#length = start;
    this.#varint(size);
    this.#length += size;
  }

  finish(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, 0, this.#length);
  }

  #tag(number: number, wire: number): void {
    this.#varint(number * 8 + wire);
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = Math.max(0, Math.trunc(value));
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.byteLength) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.byteLength * 2, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}

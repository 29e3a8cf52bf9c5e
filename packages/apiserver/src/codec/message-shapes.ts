/**
 * Encodes JSON documents as protobuf by a table of shapes: which number and form a field has. For documents that are
 * encoded once and cached, such as OpenAPI and discovery; objects have the fact tables.
 */
import type { Json, JsonObject } from "@flotilla/base";
import { textOf } from "./text.ts";

export type Shape =
  | "string"
  | "bool"
  | "double"
  | "int"
  /** A value as YAML text; JSON is YAML. */
  | "any"
  /** `{ value: [text, …] }`. */
  | "texts"
  | { readonly message: string }
  /** A message that wraps one of several alternatives, chosen by its content. */
  | { readonly choose: (value: JsonObject) => readonly [number, Shape] }
  | { readonly each: Shape }
  /** `{ entries: [{ name, value }, …] }`, where `entries` has this field number. */
  | { readonly map: Shape; readonly number: number };

export const each = (shape: Shape): Shape => ({ each: shape });
export const message = (name: string): Shape => ({ message: name });
export const entries = (shape: Shape, number = 1): Shape => ({ map: shape, number });

/** Numbers and shapes of the fields, and the number for `x-` extensions, where a message has them. */
export type Messages = Readonly<
  Record<string, { fields: Readonly<Record<string, readonly [number, Shape]>>; extensions?: number }>
>;

/** The document as the message `name` of a table. Fields that the table lacks are omitted. */
export function encodeShape(messages: Messages, name: string, document: JsonObject): Uint8Array {
  const writer = new Writer();
  new ShapeEncoder(messages, writer).message(name, document);
  return writer.finish();
}

class ShapeEncoder {
  readonly #messages: Messages;
  readonly #writer: Writer;

  constructor(messages: Messages, writer: Writer) {
    this.#messages = messages;
    this.#writer = writer;
  }

  message(name: string, value: JsonObject): void {
    const { fields, extensions } = this.#messages[name] ?? { fields: {} };
    for (const [key, inner] of Object.entries(value)) {
      if (extensions !== undefined && key.startsWith("x-"))
        this.#writer.nested(extensions, () => this.#named(key, "any", inner));
      else {
        const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
        if (field && inner !== undefined) this.#field(field[0], field[1], inner);
      }
    }
  }

  #named(name: string, shape: Shape, value: Json): void {
    this.#writer.text(1, name);
    this.#field(2, shape, value);
  }

  #field(number: number, shape: Shape, value: Json): void {
    const writer = this.#writer;
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
      case "texts":
        return writer.nested(number, () => {
          for (const text of Array.isArray(value) ? value : [value]) writer.text(1, textOf(text));
        });
      default:
    }
    if ("message" in shape) writer.nested(number, () => this.message(shape.message, value as JsonObject));
    else if ("each" in shape) for (const item of value as Json[]) this.#field(number, shape.each, item);
    else if ("choose" in shape) {
      const [inner, chosen] = shape.choose(value as JsonObject);
      writer.nested(number, () => {
        if (inner > 0) this.#field(inner, chosen, value);
      });
    } else {
      writer.nested(number, () => {
        for (const [name, inner] of Object.entries(value as JsonObject))
          writer.nested(shape.number, () => this.#named(name, shape.map, inner));
      });
    }
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

/**
 * Encodes an object for the store. A write usually changes a small part of an object, so the positions of its large
 * parts in the bytes are remembered, and a part that the next write shares is copied as bytes instead of being encoded
 * again.
 */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";

/** The positions of an object's parts in its bytes. */
export interface Layout {
  /** The top-level field of a part, or the index of a field manager. */
  readonly keys: readonly (string | number)[];
  /** Start and end of each part, alternating. */
  readonly bounds: readonly number[];
}

export interface Encoded {
  value: Uint8Array;
  layout: Layout;
}

/** A former version of the object and its stored bytes. A shared part is recognized by identity. */
export interface Former {
  readonly object: JsonObject;
  readonly value: Uint8Array;
  readonly layout: Layout;
}

const encoder = new TextEncoder();
/** Stored values begin with these fields, because the resourceVersion is inserted after them. */
export const FIRST_FIELDS: readonly string[] = ["apiVersion", "kind", "metadata"];
const FIRST_SIZE = 64 * 1024;
/** A larger buffer, needed once for a huge object, is not kept. */
const KEPT_SIZE = 1024 * 1024;
/** Copying less than this costs more than it saves, and remembering it costs more memory than it is worth. */
const MIN_PART = 96;
/** Top-level fields and field managers of usual objects; further ones are encoded each time. */
const MAX_PARTS = 12;

/** The value to store. `object` has no resourceVersion, and its first keys are apiVersion, kind and metadata. */
export function encodeSharing(object: JsonObject, former?: Former): Encoded {
  const writer = new Writer(former);
  writer.fields(
    object,
    (key, value) =>
      key === "metadata" && isObject(value) ? writer.fields(value, writeMetadata) : writer.part(key, value),
    FIRST_FIELDS,
  );
  return writer.finish();

  function writeMetadata(key: string, value: Json): void {
    if (key === "managedFields" && Array.isArray(value)) writer.items(value);
    else writer.text(JSON.stringify(value));
  }
}

let scratch = new Uint8Array(FIRST_SIZE);

class Writer {
  readonly #former: Former | undefined;
  readonly #keys: (string | number)[] = [];
  readonly #bounds: number[] = [];
  #length = 0;
  /** Text that is not encoded yet: few long strings are encoded faster than many short ones. */
  #pending = "";

  constructor(former: Former | undefined) {
    this.#former = former;
  }

  text(text: string): void {
    this.#pending += text;
  }

  /** `first` are written before the others: JavaScript lists integer-like keys before all others. */
  fields(map: JsonObject, write: (key: string, value: Json) => void, first: readonly string[] = []): void {
    let before = "{";
    const field = (key: string): void => {
      const value = map[key];
      // JSON cannot represent undefined; the field is omitted.
      if (value === undefined) return;
      this.text(`${before}${JSON.stringify(key)}:`);
      write(key, value);
      before = ",";
    };
    for (const key of first) if (Object.hasOwn(map, key)) field(key);
    for (const key in map) if (!first.includes(key)) field(key);
    this.text(before === "{" ? "{}" : "}");
  }

  items(list: readonly Json[]): void {
    this.text("[");
    for (let index = 0; index < list.length; index++) {
      if (index > 0) this.text(",");
      this.part(index, list[index] ?? null);
    }
    this.text("]");
  }

  /** A value whose bytes are copied from the former ones if present. */
  part(key: string | number, value: Json): void {
    if (typeof value !== "object" || value === null) return this.text(JSON.stringify(value));
    const at = this.#former ? placeOf(value, key, this.#former) : -1;
    if (this.#former && at >= 0) {
      const { value: bytes, layout } = this.#former;
      this.#flush();
      const start = layout.bounds[at * 2] ?? 0;
      const end = layout.bounds[at * 2 + 1] ?? 0;
      this.#reserve(end - start);
      scratch.set(bytes.subarray(start, end), this.#length);
      this.#remember(key, end - start);
      return;
    }
    const text = JSON.stringify(value);
    if (text.length < MIN_PART || this.#keys.length >= MAX_PARTS) return this.text(text);
    this.#flush();
    this.#remember(key, this.#encode(text));
  }

  finish(): Encoded {
    this.#flush();
    const value = scratch.slice(0, this.#length);
    if (scratch.byteLength > KEPT_SIZE) scratch = new Uint8Array(FIRST_SIZE);
    // Kept as long as the object: a grown array has room for sixteen more items, a copy has none.
    return { value, layout: { keys: this.#keys.slice(), bounds: this.#bounds.slice() } };
  }

  #remember(key: string | number, length: number): void {
    this.#keys.push(key);
    this.#bounds.push(this.#length, this.#length + length);
    this.#length += length;
  }

  #flush(): void {
    if (this.#pending === "") return;
    this.#length += this.#encode(this.#pending);
    this.#pending = "";
  }

  /** Encodes at the end and returns the number of bytes. */
  #encode(text: string): number {
    // A UTF-16 code unit takes at most three bytes.
    this.#reserve(text.length * 3);
    return encoder.encodeInto(text, scratch.subarray(this.#length)).written;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= scratch.byteLength) return;
    const larger = new Uint8Array(Math.max(scratch.byteLength * 2, this.#length + bytes));
    larger.set(scratch.subarray(0, this.#length));
    scratch = larger;
  }
}

/**
 * The index of the former object's part that equals a value; -1 when there is none. Field managers may have changed
 * places.
 */
function placeOf(value: Json, key: string | number, { object, layout }: Former): number {
  if (typeof key === "string") return object[key] === value ? layout.keys.indexOf(key) : -1;
  const { managedFields } = object.metadata as JsonObject;
  const index = Array.isArray(managedFields) ? managedFields.indexOf(value) : -1;
  return index < 0 ? -1 : layout.keys.indexOf(index);
}

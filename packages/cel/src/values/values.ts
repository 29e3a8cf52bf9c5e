/**
 * Values of expressions. JSON's scalars are used directly, so that reading a field costs nothing:
 *
 *   bool, string, null   as in JavaScript
 *   int                  a number while it is a safe integer, else a bigint; never both for one value
 *   bytes                Uint8Array
 *   everything else      one of the classes below; a double is boxed, because in JavaScript 1.0 is 1
 *
 * An error is a value too: it propagates through operators until `||`, `&&` or a macro absorbs it.
 */
export type CelInt = number | bigint;

export type CelValue =
  | null
  | boolean
  | CelInt
  | string
  | Uint8Array
  | CelDouble
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelTypeValue
  | CelOpaque
  | CelError;

export class CelError {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export class CelDouble {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export class CelUint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelDuration {
  readonly typeName = "google.protobuf.Duration";
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class CelTimestamp {
  readonly typeName = "google.protobuf.Timestamp";
  readonly seconds: number;
  readonly nanos: number;
  /** The UTC offset, in seconds east, in which the text was written; only the string form shows it. */
  readonly zone: number;
  constructor(seconds: number, nanos: number, zone = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.zone = zone;
  }

  /** Nanoseconds since 1970. */
  get total(): bigint {
    return BigInt(this.seconds) * 1_000_000_000n + BigInt(this.nanos);
  }
}

/** The result of `type(x)` and the meaning of names such as `int`. */
export class CelTypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class CelOptional {
  static readonly none = new CelOptional(undefined);
  readonly value: CelValue | undefined;
  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** Library values: addresses, quantities, versions. */
export abstract class CelOpaque {
  abstract readonly typeName: string;
  abstract equals(other: CelValue): boolean | CelError;
  /** For cost, where such a value has a size. */
  get size(): number {
    return 1;
  }
}

export abstract class CelList {
  abstract readonly size: number;
  /** The element at an index that is in range. */
  abstract at(index: number): CelValue;
  /** Lists of schemas may be sets or maps, which have their own equality and concatenation. */
  abstract equals(other: CelValue): boolean | CelError;
  abstract add(other: CelList): CelList;
}

export abstract class CelMap {
  abstract readonly size: number;
  /** The value of a key; undefined when there is none. */
  abstract find(key: CelValue): CelValue | undefined;
  abstract keys(): readonly CelValue[];
  abstract equals(other: CelValue): boolean | CelError;
}

export const NO_SUCH_OVERLOAD = new CelError("no such overload");

export const isInt = (value: CelValue): value is CelInt => typeof value === "number" || typeof value === "bigint";

/** The name of a value's run-time type. Objects of a schema are maps at run time. */
export function typeNameOf(value: CelValue): string {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
    case "bigint":
      return "int";
    case "string":
      return "string";
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<CelValue, boolean | CelInt | string>): string {
  if (value === null) return "null_type";
  if (value instanceof CelMap) return "map";
  if (value instanceof CelList) return "list";
  if (value instanceof CelDouble) return "double";
  if (value instanceof CelUint) return "uint";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof CelTypeValue) return "type";
  if (value instanceof CelOptional) return "optional_type";
  if (value instanceof CelError) return "error";
  return value.typeName;
}

/** The number of characters, bytes, elements or entries of a value; 1 for values without a size. */
export function sizeOf(value: CelValue): number {
  if (typeof value === "string") return lengthOf(value);
  if (value instanceof CelList || value instanceof CelMap || value instanceof CelOpaque) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return 1;
}

/** The number of code points. Most strings have no surrogates, and then it is the length. */
export function lengthOf(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

/**
 * Types as the checker uses them. A type is shared and immutable. Types that were declared from a schema also carry the
 * bounds for the static cost of an expression.
 */
type TypeKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null"
  | "timestamp"
  | "duration"
  | "dyn"
  | "error"
  | "list"
  | "map"
  /** An object with named fields, or a library type without fields, such as a quantity. */
  | "struct"
  | "type"
  | "parameter"
  | "opaque";

export interface CelType {
  readonly kind: TypeKind;
  /** The name in expressions and messages. */
  readonly name: string;
  /** Elements of a list, keys and values of a map, the value of an optional or a type. */
  readonly parameters: readonly CelType[];
  /** Fields of an object by their escaped CEL name. Absent for library types. */
  readonly fields?: ReadonlyMap<string, CelType>;
  /** Every name is a field of any type: objects that expressions create without a schema. */
  readonly hasAnyField?: true;
  /** The maximum number of characters, elements or entries of a value; 0 where the schema does not define it. */
  readonly maxElements?: number;
  /** The minimum number of JSON bytes of a value. */
  readonly minSerializedSize?: number;
}

const NONE: readonly CelType[] = [];
const simple = (kind: TypeKind, name: string = kind): CelType => ({ kind, name, parameters: NONE });

export const BOOL = simple("bool");
export const INT = simple("int");
export const UINT = simple("uint");
export const DOUBLE = simple("double");
export const STRING = simple("string");
export const BYTES = simple("bytes");
export const NULL = simple("null", "null_type");
export const TIMESTAMP = simple("timestamp", "google.protobuf.Timestamp");
export const DURATION = simple("duration", "google.protobuf.Duration");
export const DYN = simple("dyn");
export const ERROR = simple("error", "!error!");

export const listOf = (element: CelType): CelType => ({ kind: "list", name: "list", parameters: [element] });
export const mapOf = (key: CelType, value: CelType): CelType => ({
  kind: "map",
  name: "map",
  parameters: [key, value],
});
export const typeOf = (type?: CelType): CelType => ({ kind: "type", name: "type", parameters: type ? [type] : NONE });
export const parameter = (name: string): CelType => simple("parameter", name);
export const structOf = (name: string, fields?: ReadonlyMap<string, CelType>): CelType => ({
  kind: "struct",
  name,
  parameters: NONE,
  fields,
});
export const opaque = (name: string, ...parameters: CelType[]): CelType => ({ kind: "opaque", name, parameters });

const OPTIONAL = "optional_type";
export const optionalOf = (type: CelType): CelType => opaque(OPTIONAL, type);
export const isOptional = (type: CelType): boolean => type.kind === "opaque" && type.name === OPTIONAL;

/** The type inside an optional, or the type itself. */
export const unwrapOptional = (type: CelType): CelType => (isOptional(type) ? (type.parameters[0] ?? DYN) : type);

export const isDyn = (type: CelType): boolean => type.kind === "dyn";
export const isDynOrError = (type: CelType): boolean => type.kind === "dyn" || type.kind === "error";

/** `list(map(string, int))`, as messages show a type. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "timestamp":
    case "duration":
    case "null":
      return type.kind;
    default:
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
  }
}

/** Reports whether two types are identical, parameters included. */
export function isExactly(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.parameters.length !== b.parameters.length) return false;
  return a.parameters.every((part, index) => isExactly(part, b.parameters[index] as CelType));
}

/** Like `isExactly`, but a type parameter equals every type parameter. */
export function isEquivalent(a: CelType, b: CelType): boolean {
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if (a.kind === "parameter") return true;
  if (a.name !== b.name) return false;
  return a.parameters.every((part, index) => isEquivalent(part, b.parameters[index] as CelType));
}

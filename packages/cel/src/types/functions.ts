/**
 * Function declarations of libraries: a name, and overloads with a signature such as `list(T).(int) -> T` and an
 * implementation. A call whose argument types are known at compile time is dispatched statically; others are checked at
 * run time.
 */
import {
  type CelType,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  opaque,
  optionalOf,
  parameter,
  STRING,
  structOf,
  TIMESTAMP,
  typeOf,
  UINT,
} from "./types.ts";
import { CelError, CelList, CelMap, CelOptional, type CelValue, typeNameOf } from "../values/values.ts";

type Implementation = (...args: never[]) => CelValue;
type AnyImplementation = (...args: CelValue[]) => CelValue;

export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  /** For a member function, the target comes first. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly parameters: readonly string[];
  readonly run: AnyImplementation;
  /** The implementation accepts any values and returns an error for unsupported ones. */
  readonly checksItself: boolean;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
}

export const QUANTITY = structOf("kubernetes.Quantity");
const URL_TYPE = structOf("kubernetes.URL");
const SEMVER = structOf("kubernetes.Semver");
const FORMAT = structOf("kubernetes.NamedFormat");
/** A type of the authorizer library. */
export const authorizationType = (name: string): CelType => structOf(`kubernetes.authorization.${name}`);
export const IP = opaque("net.IP");
export const CIDR = opaque("net.CIDR");

const NAMED: ReadonlyMap<string, CelType> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["timestamp", TIMESTAMP],
  ["duration", DURATION],
  ["dyn", DYN],
  ["Quantity", QUANTITY],
  ["URL", URL_TYPE],
  ["Semver", SEMVER],
  ["Format", FORMAT],
  ["IP", IP],
  ["CIDR", CIDR],
  ...["Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision"].map((name): [string, CelType] => [
    name,
    authorizationType(name),
  ]),
]);

/**
 * A row of a library: the function, the overload, its signature, and its implementation, which may check its arguments'
 * types itself.
 */
export type Row = readonly [name: string, id: string, signature: string, run: Implementation, checks?: "checks itself"];

/** Collects rows into functions; several libraries may add overloads to one function. */
export function declare(libraries: readonly (readonly Row[])[]): ReadonlyMap<string, FunctionDeclaration> {
  const functions = new Map<string, { name: string; overloads: Overload[] }>();
  for (const [name, id, signature, run, checks] of libraries.flat()) {
    let found = functions.get(name);
    if (!found) functions.set(name, (found = { name, overloads: [] }));
    found.overloads.push({
      id,
      ...parseSignature(signature),
      run: run as AnyImplementation,
      checksItself: checks !== undefined,
    });
  }
  return functions;
}

const SIGNATURE = /^(?:(.+)\.)?\((.*)\) -> (.+)$/;

function parseSignature(signature: string): Pick<Overload, "isMember" | "args" | "result" | "parameters"> {
  const [, target, args = "", result = ""] = SIGNATURE.exec(signature) ?? [];
  const types = [...(target === undefined ? [] : [target]), ...splitTypes(args)].map(parseType);
  const resultType = parseType(result);
  return {
    isMember: target !== undefined,
    args: types,
    result: resultType,
    parameters: [...new Set([...types, resultType].flatMap(parametersOf))],
  };
}

function splitTypes(text: string): string[] {
  const types: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const character = text[index];
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if ((character === "," && depth === 0) || character === undefined) {
      const part = text.slice(start, index).trim();
      if (part !== "") types.push(part);
      start = index + 1;
    }
  }
  return types;
}

function parseType(text: string): CelType {
  const named = NAMED.get(text);
  if (named) return named;
  const open = text.indexOf("(");
  if (open < 0) return parameter(text);
  const [first = DYN, second = DYN] = splitTypes(text.slice(open + 1, -1)).map(parseType);
  switch (text.slice(0, open)) {
    case "list":
      return listOf(first);
    case "map":
      return mapOf(first, second);
    case "optional":
      return optionalOf(first);
    default:
      return typeOf(first);
  }
}

function parametersOf(type: CelType): string[] {
  return type.kind === "parameter" ? [type.name] : type.parameters.flatMap(parametersOf);
}

/** Reports whether a value can be passed for the type. Only the first element of a list or map is checked. */
export function accepts(type: CelType, value: CelValue): boolean {
  switch (type.kind) {
    case "dyn":
    case "parameter":
      return true;
    case "list":
      return value instanceof CelList && (value.size === 0 || accepts(type.parameters[0] as CelType, value.at(0)));
    case "map":
      return value instanceof CelMap && acceptsEntry(type, value);
    case "opaque":
      if (value instanceof CelOptional)
        return (
          type.name === "optional_type" &&
          (value.value === undefined || accepts(type.parameters[0] as CelType, value.value))
        );
      return typeNameOf(value) === type.name;
    default:
      return typeNameOf(value) === type.name;
  }
}

function acceptsEntry(type: CelType, map: CelMap): boolean {
  const [key] = map.keys();
  if (key === undefined) return true;
  const value = map.find(key);
  return (
    accepts(type.parameters[0] as CelType, key) &&
    (value === undefined || accepts(type.parameters[1] as CelType, value))
  );
}

/** No overload of the function accepts values of these types. */
export function noSuchOverload(name: string, args: readonly CelValue[]): CelError {
  return new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(", ")})`);
}

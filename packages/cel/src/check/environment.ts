/** The CEL environment of Kubernetes 1.36: functions and type names. */
import { type Environment, typeName } from "./checker.ts";
import type { CompileCelOptions } from "../types/contract.ts";
import { CIDR, declare, IP, type Row } from "../types/functions.ts";
import { addresses } from "../library/addresses.ts";
import { authorizer } from "../library/authorizer.ts";
import { formats } from "../library/formats.ts";
import { lists } from "../library/lists.ts";
import { optionals } from "../library/optionals.ts";
import { patterns } from "../library/patterns.ts";
import { quantities } from "../library/quantities.ts";
import { basics, conversions, operators } from "../library/standard.ts";
import { strings } from "../library/strings.ts";
import { times } from "../library/times.ts";
import { urls } from "../library/urls.ts";
import { versions } from "../library/versions.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeOf,
  UINT,
} from "../types/types.ts";

const LIBRARIES: readonly (readonly Row[])[] = [
  operators,
  conversions,
  basics,
  times,
  lists,
  strings,
  patterns,
  urls,
  authorizer,
  optionals,
  quantities,
  addresses,
  formats,
  versions,
];

type Functions = Environment["functions"];

let functions: Functions | undefined;
/** With a caller's library; callers that compile often reuse one library object. */
const extended = new WeakMap<readonly Row[], Functions>();
const typeNames = new Map([
  typeName("bool", BOOL),
  typeName("bytes", BYTES),
  typeName("double", DOUBLE),
  typeName("google.protobuf.Duration", DURATION),
  typeName("int", INT),
  typeName("list", listOf(DYN)),
  typeName("map", mapOf(DYN, DYN)),
  typeName("null_type", NULL),
  typeName("string", STRING),
  typeName("google.protobuf.Timestamp", TIMESTAMP),
  typeName("type", typeOf()),
  typeName("uint", UINT),
  typeName("optional_type", optionalOf(DYN)),
  typeName("net.IP", IP),
  typeName("net.CIDR", CIDR),
]);

export function environmentFor({ variables, library, messages }: CompileCelOptions): Environment {
  return { functions: library ? withLibrary(library) : knownFunctions(), typeNames, variables, messages };
}

/** Created when the first expression is compiled, so that a server without rules does not wait for it. */
function knownFunctions(): Functions {
  return (functions ??= declare(LIBRARIES));
}

function withLibrary(library: readonly Row[]): Functions {
  let found = extended.get(library);
  if (!found) extended.set(library, (found = new Map([...knownFunctions(), ...declare([library])])));
  return found;
}

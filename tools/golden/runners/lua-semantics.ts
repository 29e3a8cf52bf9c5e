/** `lua-semantics.jsonl`: the behaviour of scripts and their functions, from single expressions to whole operations. */
import { equalJson, type Json, type JsonObject } from "@flotilla/base";
import {
  aggregateStatus,
  compileKubeScript,
  getComponents,
  getDependencies,
  getReplicas,
  interpretHealth,
  LuaResultError,
  reflectStatus,
  retain,
  reviseReplica,
  withoutEmpties,
  withoutNulls,
} from "@flotilla/flotilla";
import {
  EncodeError,
  LuaLimitError,
  LuaRuntimeError,
  LuaSyntaxError,
  type CompiledScript,
  type LuaResult,
} from "@flotilla/lua";
import { pick } from "../compare-results.ts";
import type { CaseRunner } from "../golden.ts";

/** One call; a sequence has several that the original ran on one state. */
interface Call {
  operation?: string;
  script: string;
  function: string;
  args?: Json[];
  results?: number;
  steps?: Call[];
  object: JsonObject;
  desired: JsonObject;
  observed: JsonObject;
  replicas: number;
  items?: JsonObject[];
}

/** Cases that the recording marks as a pitfall of the original and that Flotilla does not have. */
const FIXED: readonly { quirk: string; reason: string }[] = [
  {
    quirk: "scripts that use the same pooled state",
    reason:
      "Every call has fresh globals and libraries; with upstream's pool one script changes another, or runs another's function.",
  },
  {
    quirk: "a table that is referenced twice",
    reason: "A table may be referenced twice in a result; only a cycle cannot be represented in JSON.",
  },
];

export const luaSemantics: CaseRunner = {
  check({ input, want, wantAnyOf = want ? [want] : [] }) {
    const got = run(input as unknown as Call);
    if (wantAnyOf.some((accepted) => isAccepted(got, accepted))) return undefined;
    return `got ${JSON.stringify(got)}, want ${wantAnyOf.map((accepted) => JSON.stringify(accepted)).join(" or ")}`;
  },
  reasonFor: ({ quirk = "" }) => FIXED.find((fixed) => quirk.startsWith(fixed.quirk))?.reason,
};

function run(input: Call): JsonObject {
  if (input.operation === "Sequence") return { steps: (input.steps ?? []).map((step) => attempt(() => call(step))) };
  return attempt(() =>
    input.operation === "Call"
      ? call(input)
      : pick(operations, input.operation)(compileKubeScript(input.script), input),
  );
}

/** Any error that is not a script failure is a bug of the runner, and stops it. */
function attempt(act: () => JsonObject): JsonObject {
  try {
    return act();
  } catch (error) {
    const isFailure =
      error instanceof LuaSyntaxError ||
      error instanceof LuaRuntimeError ||
      error instanceof LuaLimitError ||
      error instanceof LuaResultError;
    if (isFailure) return { error: error.message };
    throw error;
  }
}

function call({ script, function: name, args = [], results = 1 }: Call): JsonObject {
  const returned = compileKubeScript(script).call(name, args.map(withoutNulls));
  return { results: Array.from({ length: results }, (_, index) => typedValue(returned[index])) };
}

function typedValue(result: LuaResult | undefined): JsonObject {
  if (result === undefined) return { type: "nil" };
  switch (result.type) {
    case "boolean":
      return { type: "boolean", value: result.json() ?? null };
    case "number":
      return { type: "number", text: result.text };
    case "string":
      return result.text.isWellFormed()
        ? { type: "string", value: result.text }
        : { type: "string", hex: result.bytes.toString("hex") };
    case "table":
      return typedTable(result);
    default:
      return { type: result.type };
  }
}

/** The recorder requested an untyped value, so an empty table was always an empty list. */
function typedTable(result: LuaResult): JsonObject {
  try {
    const raw = result.json() ?? [];
    const json = withoutEmpties(raw);
    return { type: "table", json: json === raw && Object.keys(json as JsonObject).length === 0 ? [] : json };
  } catch (error) {
    if (error instanceof EncodeError) return { type: "table", error: error.message };
    throw error;
  }
}

const plain = (object: JsonObject): JsonObject => withoutNulls(object) as JsonObject;

const operations: Readonly<Record<string, (script: CompiledScript, input: Call) => JsonObject>> = {
  InterpretReplica(script, { object }) {
    const { replicas, requirements } = getReplicas(script, plain(object));
    return { replicas, requirements: requirements ?? null };
  },
  InterpretComponent: (script, { object }) => ({ components: getComponents(script, plain(object)) ?? null }),
  ReviseReplica: (script, { object, replicas }) => ({ object: reviseReplica(script, plain(object), replicas) }),
  Retain: (script, { desired, observed }) => ({ object: retain(script, plain(desired), plain(observed)) }),
  AggregateStatus: (script, { object, items }) => ({
    object: aggregateStatus(script, plain(object), items?.map(shownItem)),
  }),
  InterpretHealth: (script, { object }) => ({ healthy: interpretHealth(script, plain(object)) }),
  InterpretStatus: (script, { object }) => ({ status: reflectStatus(script, plain(object)) }),
  InterpretDependency: (script, { object }) => ({ dependencies: getDependencies(script, plain(object)) }),
};

/** Fields with their zero value are absent for a script. */
function shownItem(item: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(plain(item)).filter(([key, value]) => key === "clusterName" || (value !== false && value !== "")),
  );
}

function isAccepted(got: JsonObject, want: JsonObject): boolean {
  if (typeof want["error"] === "string" && typeof got["error"] === "string")
    return isSameText(got["error"], want["error"]);
  return equalJson(comparable(got), comparable(want));
}

/**
 * Some of the original's messages print the internals of a Go value, which are useless; the text around it is compared.
 */
const GO_VALUE = /(?:&lua\.LTable|resource\.Quantity)\{.*\}(?=,$| to )/s;

function isSameText(got: string, want: string): boolean {
  const dump = GO_VALUE.exec(want);
  if (!dump) return withoutAddresses(got) === withoutAddresses(want);
  return got.startsWith(want.slice(0, dump.index)) && got.endsWith(want.slice(dump.index + dump[0].length));
}

/** A trace is additional information. */
function comparable(json: JsonObject): Json {
  return JSON.parse(
    withoutAddresses(JSON.stringify(json, (key, value: Json) => (key === "traceback" ? undefined : value))),
  ) as Json;
}

/** Addresses differ between runs. */
const withoutAddresses = (text: string): string => text.replaceAll(/0x[0-9a-f]+|\{\{PTR\}\}/g, "{{PTR}}");

/**
 * `interpreters-native.jsonl` and `interpreters-thirdparty.jsonl`: the results of the built-in rules, one operation at
 * a time.
 */
import { equalJson, isObject, type Json, type JsonObject } from "@flotilla/base";
import { createInterpreter, prune, thirdPartyKinds, withoutTimeToLive } from "@flotilla/flotilla";
import type { AnyObject, Interpreter } from "@flotilla/flotilla";
import { createLevel, nativeKinds, OPERATIONS } from "@flotilla/kubernetes";
import type { Operation, StatusItem } from "@flotilla/kubernetes";
import { scaledQuantity, tryParseQuantity } from "@flotilla/apimachinery";
import { equalGolden, pick } from "../compare-results.ts";
import type { CaseRunner, GoldenCase } from "../golden.ts";

type Run = (interpreter: Interpreter, input: JsonObject) => JsonObject | Promise<JsonObject>;

const objectIn = (input: JsonObject, field = "object"): AnyObject => input[field] as unknown as AnyObject;
const json = (value: unknown): Json => (value ?? null) as Json;

const operations: Readonly<Record<Operation | "Prune", Run>> = {
  async InterpretReplica(interpreter, input) {
    const { replicas, requirements } = (await interpreter.replicas(objectIn(input))) ?? {};
    return { replicas: json(replicas), requirements: json(requirements) };
  },
  InterpretComponent: async (interpreter, input) => ({
    components: json(
      (await interpreter.components(objectIn(input))).map(({ requirements, ...component }) => ({
        ...component,
        replicaRequirements: requirements,
      })),
    ),
  }),
  ReviseReplica: async (interpreter, input) => ({
    object: json(await interpreter.reviseReplicas(objectIn(input), Number(input["replicas"]))),
  }),
  Retain: async (interpreter, input) => ({
    object: json(await interpreter.retain(objectIn(input, "desired"), objectIn(input, "observed"))),
  }),
  AggregateStatus: async (interpreter, input) => ({
    object: json(await interpreter.aggregateStatus(objectIn(input), (input["items"] ?? []) as unknown as StatusItem[])),
  }),
  InterpretStatus: async (interpreter, input) => ({ status: json(await interpreter.reflectStatus(objectIn(input))) }),
  InterpretHealth: async (interpreter, input) => ({
    healthy: (await interpreter.health(objectIn(input))) === "Healthy",
  }),
  InterpretDependency: async (interpreter, input) => ({
    dependencies: json((await interpreter.dependencies(objectIn(input))).toSorted(byReference)),
  }),
  Prune(_interpreter, input) {
    const pruned = prune(objectIn(input));
    return { object: json(input["removeJobTTL"] ? withoutTimeToLive(pruned) : pruned) };
  },
};

function byReference(a: object, b: object): number {
  const [left, right] = [a, b].map((each) =>
    ["apiVersion", "kind", "namespace", "name"]
      .map((field) => (each as Record<string, string>)[field] ?? "")
      .join("\0"),
  );
  if (left === right) return 0;
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

function createRunner(interpreter: Interpreter): CaseRunner {
  return {
    async check({ input = {}, want, wantAnyOf = want ? [want] : [] }: GoldenCase) {
      const got = await attempt(interpreter, input);
      if (wantAnyOf.some((accepted) => isAccepted(input, got, accepted))) return undefined;
      return `got ${JSON.stringify(relevant(input, got))}, want ${wantAnyOf.map((accepted) => JSON.stringify(relevant(input, accepted))).join(" or ")}`;
    },
  };
}

/**
 * A kind without a rule for the operation is an error in the original; reflecting the whole status is a rule for all
 * kinds.
 */
async function attempt(interpreter: Interpreter, input: JsonObject): Promise<JsonObject> {
  const operation = input["operation"] as Operation | "Prune";
  const object = objectIn(input, operation === "Retain" ? "desired" : "object");
  if (operation !== "Prune" && operation !== "InterpretStatus" && !interpreter.levelOf(OPERATIONS[operation], object))
    return { error: "no rule" };
  try {
    return await pick(operations, operation)(interpreter, input);
  } catch (error) {
    if (error instanceof Error && error.name === "InterpretError") return { error: error.message };
    throw error;
  }
}

function isAccepted(input: JsonObject, got: JsonObject, want: JsonObject): boolean {
  if (want["error"] !== undefined || want["panic"] !== undefined) return got["error"] !== undefined;
  if (got["error"] !== undefined) return false;
  if (input["operation"] === "AggregateStatus" && !keepsRest(input["object"], got["object"])) return false;
  return equalGolden(normal(relevant(input, got), want), normal(relevant(input, want), want));
}

/** An aggregation only writes back the status. */
function relevant({ operation }: JsonObject, result: JsonObject): JsonObject {
  return operation === "AggregateStatus" && isObject(result["object"])
    ? { status: result["object"]["status"] ?? null }
    : result;
}

function keepsRest(before: Json | undefined, after: Json | undefined): boolean {
  return isObject(before) && isObject(after) && equalJson({ ...before, status: null }, { ...after, status: null });
}

/**
 * Normalizes quantities by value, an empty string to absent because the original's typed form drops it, and times from
 * the original's clock to absent: Flotilla uses the members' times instead, so that the same aggregation gives the same
 * text.
 */
function normal(value: Json | undefined, want: JsonObject): Json {
  const usesClock = JSON.stringify(want).includes("{{NOW}}");
  const visit = (each: Json | undefined, key: string): Json => {
    if (Array.isArray(each)) return each.map((item) => visit(item, ""));
    if (isObject(each))
      return Object.fromEntries(
        Object.entries(each).map(([name, item]) => [name, AMOUNTS.has(key) ? amount(item) : visit(item, name)]),
      );
    if (usesClock && (key === "lastProbeTime" || key === "lastTransitionTime" || key === "lastUpdateTime")) return null;
    return each === "" ? null : (each ?? null);
  };
  return visit(value, "");
}

const AMOUNTS = new Set(["resourceRequest", "requests", "limits", "overhead"]);
function amount(item: Json): Json {
  const quantity = typeof item === "string" || typeof item === "number" ? tryParseQuantity(item) : undefined;
  return quantity ? String(scaledQuantity(quantity, -9)) : item;
}

export const nativeInterpreters = createRunner(createInterpreter([createLevel("native", nativeKinds)]));
export const thirdPartyInterpreters = createRunner(createInterpreter([createLevel("thirdparty", thirdPartyKinds)]));

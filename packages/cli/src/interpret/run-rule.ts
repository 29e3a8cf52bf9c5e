/** Runs one operation on given objects, and names its results as karmadactl and its test files do. */
import { isObject, UsageError } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { InterpretError, OPERATIONS } from "@flotilla/kubernetes";
import type { AnyObject, Interpreter } from "@flotilla/flotilla";
import type { LevelName, Share, StatusItem } from "@flotilla/kubernetes";
import type { RunOperation } from "./interpreter-rules.ts";

export interface RuleInput {
  desired?: JsonObject | undefined;
  observed?: JsonObject | undefined;
  statusItems?: readonly StatusItem[] | undefined;
  replicas: number;
  /** For Divide. */
  shares?: readonly Share[] | undefined;
}

interface NamedResult {
  name: string;
  value: Json;
}

export interface Answer {
  /** Undefined when the default for all kinds was used. */
  level: LevelName | undefined;
  results: readonly NamedResult[];
}

/** The rules to run: built-in ones, or only those of customizations. */
export interface AskedRules {
  readonly interpreter: Interpreter;
  readonly isBuiltIn: boolean;
}

type Run = (interpreter: Interpreter, object: AnyObject, input: RuleInput) => Promise<NamedResult[]>;

const json = (value: unknown): Json => (value ?? null) as Json;

/** A script gets nil for missing statuses, which is not an empty list. The hub always passes a list. */
const NIL = undefined as unknown as readonly StatusItem[];

const runs: Readonly<Record<RunOperation, Run>> = {
  Retain: async (interpreter, object, { observed }) => [
    { name: "retained", value: json(await interpreter.retain(object, observed as unknown as AnyObject)) },
  ],
  async InterpretReplica(interpreter, object) {
    const { replicas, requirements } = (await interpreter.replicas(object)) ?? {};
    return [
      { name: "replica", value: json(replicas) },
      { name: "requires", value: json(requirements) },
    ];
  },
  async InterpretComponent(interpreter, object) {
    const components = await interpreter.components(object);
    return [
      {
        name: "components",
        value: json(
          components.map(({ requirements, ...component }) => ({ ...component, replicaRequirements: requirements })),
        ),
      },
    ];
  },
  ReviseReplica: async (interpreter, object, { replicas }) => [
    { name: "revised", value: json(await interpreter.reviseReplicas(object, replicas)) },
  ],
  InterpretStatus: async (interpreter, object) => [
    { name: "status", value: json(await interpreter.reflectStatus(object)) },
  ],
  async AggregateStatus(interpreter, object, { statusItems }) {
    const items = statusItems ?? (interpreter.levelOf("aggregateStatus", object) === "customization" ? NIL : []);
    return [{ name: "aggregatedStatus", value: json(await interpreter.aggregateStatus(object, items)) }];
  },
  InterpretHealth: async (interpreter, object) => [
    { name: "healthy", value: (await interpreter.health(object)) === "Healthy" },
  ],
  async Divide(interpreter, object, { shares = [] }) {
    const copies = await interpreter.divide(object, shares);
    return shares.map(({ cluster }) => ({ name: cluster, value: json(copies.get(cluster)) }));
  },
  InterpretDependency: async (interpreter, object) => [
    { name: "dependencies", value: json(await interpreter.dependencies(object)) },
  ],
};

/**
 * Throws `InterpretError` when the rule fails or does not exist, and `UsageError` when an object is missing or
 * superfluous.
 */
export async function runRule(
  { interpreter, isBuiltIn }: AskedRules,
  operation: RunOperation,
  input: RuleInput,
): Promise<Answer> {
  const object = objectOf(operation, input);
  if (operation === "Divide" && (input.shares ?? []).length === 0)
    throw new UsageError("Divide needs the members and the replicas of each");
  const level =
    operation === "Divide"
      ? (interpreter.levelOf("divide", object) ?? interpreter.levelOf("reviseReplicas", object))
      : interpreter.levelOf(OPERATIONS[operation], object);
  // Returning the whole status is the built-in rule for all kinds without one; customizations have no such default.
  if (level === undefined && !(isBuiltIn && operation === "InterpretStatus")) throw new NoRuleError(operation, object);
  const results = await runs[operation](interpreter, object, input);
  return {
    level,
    results:
      (input.desired?.["metadata"] ?? input.observed?.["metadata"]) ? results : results.map(withoutAddedMetadata),
  };
}

/** See `checked`. */
function withoutAddedMetadata({ name, value }: NamedResult): NamedResult {
  if (!isObject(value) || !isObject(value["metadata"]) || Object.keys(value["metadata"]).length > 0)
    return { name, value };
  const { metadata: _metadata, ...rest } = value;
  return { name, value: rest };
}

/** No rule exists for this operation on this kind. */
export class NoRuleError extends InterpretError {
  readonly operation: RunOperation;
  readonly object: AnyObject;
  constructor(operation: RunOperation, object: AnyObject) {
    super(`no rule ${operation} for ${object.apiVersion} ${object.kind}`);
    this.operation = operation;
    this.object = object;
  }
}

/** The object of the rule. Only Retain takes two. */
export function objectOf(operation: RunOperation, { desired, observed }: RuleInput): AnyObject {
  if (operation === "Retain") {
    if (!desired || !observed)
      throw new UsageError(
        `Retain needs both the desired and the observed object; the ${desired ? "observed" : "desired"} one is missing`,
      );
    return checked(desired);
  }
  if (desired && observed)
    throw new UsageError(`${operation} takes one object, but a desired and an observed one were given`);
  const object = desired ?? observed;
  if (!object) throw new UsageError(`${operation} needs a desired or an observed object`);
  return checked(object);
}

function checked(object: JsonObject): AnyObject {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || kind === "")
    throw new UsageError("the object has no apiVersion and kind, so no rule can be found for it");
  // Rules read metadata without checking that it exists.
  return (object["metadata"] ? object : { ...object, metadata: {} }) as unknown as AnyObject;
}

/** Karmada's `kube` library: quantities and pod templates, with the same code that the native interpreters use. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import {
  addQuantities,
  formatQuantity,
  parseQuantity,
  quantityProblem,
  tryParseQuantity,
} from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import { podDependencies, podRequirements } from "@flotilla/kubernetes";
import type { Dependency, ReplicaRequirements } from "@flotilla/kubernetes";
import { bind, encode, EncodeError, LuaThrow, Table } from "@flotilla/lua";
import type { Arguments, LibraryFunction, LuaModule, LuaValue } from "@flotilla/lua";
import { withoutEmpties } from "./result-rules.ts";
import { templateProblem } from "./pod-template.ts";

/** Quantities are big numbers; the longest take some tens of microseconds. */
const QUANTITY_TICKS = 500;
const TEMPLATE_TICKS = 500;
/** A script's table is encoded, checked field by field and summed. */
const TABLE_TICKS = 100;
const ENTRY_TICKS = 20;
const ZERO = parseQuantity("0");

function quantity(args: Arguments, n: number): Quantity {
  const value = args.get(n);
  if (value === undefined) return ZERO;
  if (typeof value !== "string") throw args.wrongType(n, "string");
  args.machine.charge(QUANTITY_TICKS);
  const parsed = tryParseQuantity(value);
  // Upstream's parser panics, so the message has no location.
  if (parsed === undefined) throw new LuaThrow(`cannot parse '${value}': ${quantityProblem(value)}`);
  return parsed;
}

function resourceAdd(args: Arguments): string {
  let sum = ZERO;
  for (let n = 1; n <= args.count; n++) sum = addQuantities(sum, quantity(args, n));
  // Upstream's empty sum has no format of its own; a sum keeps the decimal format unless the added quantity is binary.
  return args.machine.made(formatQuantity(sum.format === "DecimalExponent" ? { ...sum, format: "DecimalSI" } : sum));
}

function getResourceQuantity(args: Arguments): number {
  if (args.count !== 1) throw args.machine.failure("getResourceQuantity only accepts one argument");
  const { mantissa, exponent } = quantity(args, 1);
  const value = exponent < 0 ? Number(mantissa) / 10 ** -exponent : Number(mantissa) * 10 ** exponent;
  if (value < 0)
    throw args.machine.failure(`int approximation unexpectedly returned a negative value: ${args.string(1)},`);
  if (value === Infinity)
    throw args.machine.failure(`int approximation unexpectedly returned an infinite value: ${args.string(1)},`);
  return value;
}

/** A template as plain JSON, in the form that Kubernetes accepts. */
function template(args: Arguments, typeName: string): Json {
  const table = args.table(1);
  args.machine.charge(TEMPLATE_TICKS);
  try {
    const json = withoutEmpties(
      encode(table, (entries) => {
        args.machine.wrote(entries);
        args.machine.charge(TABLE_TICKS + entries * ENTRY_TICKS);
      }),
    );
    const problem = templateProblem(json);
    if (problem === undefined) return json;
    throw args.machine.failure(
      `fail to convert lua value ${args.machine.text(table)} to ${typeName}: json unmarshal obj failed: ${problem}`,
    );
  } catch (error) {
    if (error instanceof EncodeError)
      throw args.machine.failure(
        `fail to convert lua value ${args.machine.text(table)} to ${typeName}: ${error.message}`,
      );
    throw error;
  }
}

/** JSON created here, which the script may change. */
function toTable(args: Arguments, json: object): LuaValue {
  args.machine.allocate(1024);
  return Table.over(json);
}

function accuratePodRequirements(args: Arguments): LuaValue {
  if (args.count !== 1) throw args.machine.failure("getPodRequirements only accepts one argument");
  const pod = template(args, "PodTemplateSpec");
  const requirements = requirementsOf(isObject(pod) ? pod : {});
  return requirements ? toTable(args, requirements) : undefined;
}

/** Templates are parts of immutable inputs and are used more than once. */
const knownRequirements = new WeakMap<object, { requirements: ReplicaRequirements | undefined }>();

function requirementsOf(pod: JsonObject): ReplicaRequirements | undefined {
  let known = knownRequirements.get(pod);
  if (known === undefined) {
    known = { requirements: podRequirements(pod) };
    knownRequirements.set(pod, known);
  }
  return known.requirements;
}

const knownDependencies = new WeakMap<object, { namespace: string; dependencies: Dependency[] }>();

function dependenciesOf(pod: JsonObject, namespace: string): Dependency[] {
  let known = knownDependencies.get(pod);
  if (known?.namespace !== namespace) {
    known = { namespace, dependencies: podDependencies(pod, namespace) };
    knownDependencies.set(pod, known);
  }
  return known.dependencies;
}

function getPodDependencies(args: Arguments): LuaValue {
  if (args.count !== 2) throw args.machine.failure("getPodDependencies only accepts two argument");
  args.table(1);
  const given = args.get(2);
  const namespace = given === undefined ? "default" : args.string(2);
  const pod = template(args, "corev1.PodTemplateSpec");
  const dependencies = dependenciesOf(isObject(pod) ? pod : {}, namespace);
  return dependencies.length > 0 ? toTable(args, dependencies) : undefined;
}

const kubeFunctions = {
  accuratePodRequirements,
  getPodDependencies,
  getResourceQuantity,
  resourceAdd,
} as const satisfies Record<string, LibraryFunction>;

/** The module `kube` that Karmada gives to scripts. */
export const kubeModule: LuaModule = (machine) =>
  // Written out, because it is created in many calls and an object literal of one shape is fast.
  Table.ofFields({
    accuratePodRequirements: bind(machine, kubeFunctions.accuratePodRequirements),
    getPodDependencies: bind(machine, kubeFunctions.getPodDependencies),
    getResourceQuantity: bind(machine, kubeFunctions.getResourceQuantity),
    resourceAdd: bind(machine, kubeFunctions.resourceAdd),
  });

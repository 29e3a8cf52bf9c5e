/**
 * `resourcesPolicy`: derives the resources of a sidecar from those of the application's containers. Pure.
 *
 * A limit is set only if every matched container has one, because a sum with "unlimited" is unlimited.
 */
import { omitZero } from "@flotilla/base";
import { evaluateExpression, expressionQuantity } from "./resource-expression.ts";
import type { ExpressionValue } from "./resource-expression.ts";
import type { ResourceRequirements } from "@flotilla/apimachinery/facts/core-v1.ts";
import type { DeepReadonly } from "@flotilla/base";
import {
  addQuantities,
  compareQuantities,
  compilePattern,
  formatQuantity,
  parseQuantity,
  PatternError,
  PatternWork,
  PatternWorkError,
  quantityOfMilli,
} from "@flotilla/apimachinery";
import type { Quantity } from "@flotilla/apimachinery";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { SidecarError } from "./sidecarset-names.ts";
import type { ReadonlyContainer, ReadonlySidecarSet, SidecarContainer } from "./sidecarset-names.ts";
import { isSidecar } from "@flotilla/kubernetes";

type Policy = NonNullable<SidecarContainer["resourcesPolicy"]>;
type ResourceName = "cpu" | "memory";
type Part = "limits" | "requests";

const ZERO: Quantity = quantityOfMilli(0n);

/**
 * The resources of a sidecar with this policy in the pod. `sets` are all sets of the pod: their containers are not
 * counted. Throws `SidecarError`.
 */
export function resourcesFor(
  pod: ReadonlyPod,
  policy: Policy,
  sets: readonly ReadonlySidecarSet[],
): DeepReadonly<ResourceRequirements> {
  const targets = targetContainers(pod, policy.targetContainersNameRegex ?? "", sets);
  if (targets.length === 0)
    throw new SidecarError(
      `no containers match the regex pattern ${JSON.stringify(policy.targetContainersNameRegex ?? "")}`,
    );
  const { limits, requests } = policy.resourcesExpr ?? {};
  const evaluated = (part: Part, expressions: Policy["resourcesExpr"][Part]): Record<string, string> | undefined => {
    const entries = (["cpu", "memory"] as const).flatMap((name) => {
      const expression = expressions?.[name];
      const amount = expression ? aggregate(targets, part, name, policy.targetContainersMode) : undefined;
      if (!expression || amount === undefined) return [];
      const value = resourceValue(expression, amount);
      if (typeof value === "string")
        throw new SidecarError(
          `failed to evaluate ${name === "cpu" ? "CPU" : "memory"} ${part} expression: failed to parse expression ${JSON.stringify(expression)}: ${value}`,
        );
      return [[name, formatQuantity(value)]];
    });
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  };
  const [allowed, asked] = [evaluated("limits", limits), evaluated("requests", requests)];
  return { ...omitZero({ limits: allowed, requests: asked }) };
}

function targetContainers(
  { spec }: ReadonlyPod,
  names: string,
  sets: readonly ReadonlySidecarSet[],
): ReadonlyContainer[] {
  const sidecars = new Set(
    sets.flatMap((set) => [...(set.spec.initContainers ?? []), ...(set.spec.containers ?? [])].map(({ name }) => name)),
  );
  const running = [...(spec.initContainers ?? []).filter(isSidecar), ...(spec.containers ?? [])];
  try {
    const pattern = compilePattern(names);
    // The pod is not validated yet: all its names together may take no more work than one text.
    const work = new PatternWork();
    return running.filter(({ name }) => !sidecars.has(name) && pattern.test(name, work));
  } catch (error) {
    if (error instanceof PatternError)
      throw new SidecarError(
        `failed to get target containers: invalid regex pattern ${JSON.stringify(names)}: ${error.message}`,
      );
    if (error instanceof PatternWorkError) throw new SidecarError(`failed to get target containers: ${error.message}`);
    throw error;
  }
}

/** Undefined if there is no limit. */
function aggregate(
  containers: readonly ReadonlyContainer[],
  part: Part,
  name: ResourceName,
  mode: Policy["targetContainersMode"],
): Quantity | undefined {
  let result: Quantity | undefined;
  for (const { resources } of containers) {
    const text = resources?.[part]?.[name];
    if (text === undefined && part === "limits") return undefined;
    if (text === undefined) continue;
    const amount = parseQuantity(text);
    if (result === undefined) result = mode === "sum" ? addQuantities(ZERO, amount) : amount;
    else if (mode === "sum") result = addQuantities(result, amount);
    else if (compareQuantities(amount, result) > 0) result = amount;
  }
  return result ?? ZERO;
}

/** The value of an expression over a quantity named `cpu` or `memory`; a string is the error. */
export function resourceValue(expression: string, amount: Quantity): Quantity | string {
  const variable: ResourceName = /\bmemory\b/.test(expression) ? "memory" : "cpu";
  const result = evaluateExpression(expression, { [variable]: amount });
  return "problem" in result ? result.problem : quantityOf(result.value, variable);
}

/** A number means cores, or whole bytes. One that is not a quantity becomes one that validation rejects. */
function quantityOf(value: ExpressionValue, variable: ResourceName): Quantity {
  const isBytes = variable === "memory" && typeof value === "number" && Math.abs(value) < 2 ** 63;
  return isBytes ? quantityOfMilli(BigInt(Math.trunc(value)) * 1000n) : expressionQuantity(value);
}

/**
 * `{{…}}` in Workflows: variables that are known when a step starts. Expressions (`{{=…}}`) are not supported, and
 * simulated containers have no outputs; both are reported instead of left in the text.
 */
import { isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";

export type Scope = ReadonlyMap<string, string>;

/** A problem in a Workflow. Its message becomes the message of the node or of the Workflow. */
export class WorkflowProblem extends Error {}

/** How much text variables may still insert. */
export interface Budget {
  left: number;
}

/**
 * More than programs accept as arguments. Templates pass values on, and each value may reference another twice: without
 * a limit, a text would double with every level, and a few lines would exhaust the memory of the process.
 */
const MAX_REPLACED = 256 * 1024;
export const fullBudget = (): Budget => ({ left: MAX_REPLACED });

export function substitute(text: string, scope: Scope, budget = fullBudget()): string {
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, inner: string) => {
    const name = inner.trim();
    const value = scope.get(name);
    if (value !== undefined) {
      budget.left -= value.length;
      if (budget.left < 0) throw new WorkflowProblem(`variables insert more than ${MAX_REPLACED} characters`);
      return value;
    }
    if (name.startsWith("=")) throw new WorkflowProblem(`expressions are not supported: {{${inner}}}`);
    if (/^(steps|tasks)\..+\.outputs\./.test(name))
      throw new WorkflowProblem(`{{${name}}} has no value: containers are simulated and have no outputs`);
    throw new WorkflowProblem(`failed to resolve {{${name}}}`);
  });
}

/** Substitutes every string within a value. */
export function substituteAll<T>(value: T, scope: Scope): T {
  return replaced(value as DeepReadonly<Json>, scope, fullBudget()) as unknown as T;
}

function replaced(value: DeepReadonly<Json>, scope: Scope, budget: Budget): DeepReadonly<Json> {
  if (typeof value === "string") return substitute(value, scope, budget);
  if (Array.isArray(value)) return value.map((item: DeepReadonly<Json>) => replaced(item, scope, budget));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [substitute(key, scope, budget), replaced(item, scope, budget)]),
  );
}

/** Checks a value against the enum of its parameter. */
export function checkChoice(where: string, value: string, choices: readonly DeepReadonly<Json>[] | undefined): void {
  if (choices && !choices.some((choice) => asText(choice) === value))
    throw new WorkflowProblem(`${where} '${value.slice(0, 100)}' is not in its enum`);
}

export const asText = (value: DeepReadonly<Json>): string =>
  typeof value === "string" ? value : JSON.stringify(value);

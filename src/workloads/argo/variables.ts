/**
 * `{{…}}` in Workflows: names of values that are known when a step starts. Expressions (`{{=…}}`) are not understood,
 * and outputs of containers do not exist, because the containers are simulated; both are said rather than left in the
 * text.
 */
import { isObject } from "../../base/index.ts";
import type { DeepReadonly, Json } from "../../base/index.ts";

export type Scope = ReadonlyMap<string, string>;

/** What a Workflow asks for and cannot have. Its message becomes the message of the node or of the Workflow. */
export class WorkflowProblem extends Error {}

/** How much text variables may yet bring in. */
export interface Budget {
  left: number;
}

/**
 * More than programs take as arguments. Templates hand values on, each of which may name another twice: without an end
 * to it, a text would double with every level, and a few lines would fill the memory of the process.
 */
const MAX_REPLACED = 256 * 1024;
export const fullBudget = (): Budget => ({ left: MAX_REPLACED });

export function substitute(text: string, scope: Scope, budget = fullBudget()): string {
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, inner: string) => {
    const name = inner.trim();
    const value = scope.get(name);
    if (value !== undefined) {
      budget.left -= value.length;
      if (budget.left < 0) throw new WorkflowProblem(`variables bring in more than ${MAX_REPLACED} characters`);
      return value;
    }
    if (name.startsWith("=")) throw new WorkflowProblem(`expressions are not supported: {{${inner}}}`);
    if (/^(steps|tasks)\..+\.outputs\./.test(name))
      throw new WorkflowProblem(`{{${name}}} has no value: containers are simulated and have no outputs`);
    throw new WorkflowProblem(`failed to resolve {{${name}}}`);
  });
}

/** Every text within a value. */
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

/** A parameter may say which values it takes. */
export function checkChoice(where: string, value: string, choices: readonly DeepReadonly<Json>[] | undefined): void {
  if (choices && !choices.some((choice) => asText(choice) === value))
    throw new WorkflowProblem(`${where} '${value.slice(0, 100)}' is none of its enum`);
}

export const asText = (value: DeepReadonly<Json>): string =>
  typeof value === "string" ? value : JSON.stringify(value);

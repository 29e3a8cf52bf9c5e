/**
 * `{{…}}` in Workflows: names of values that are known when a step starts. Expressions (`{{=…}}`) are not understood, and outputs of
 * containers do not exist, because the containers are simulated; both are said rather than left in the text.
 */
import { isObject } from "../../base/index.ts";
import type { DeepReadonly, Json } from "../../base/index.ts";

export type Scope = ReadonlyMap<string, string>;

/** What a Workflow asks for and cannot have. Its message becomes the message of the node or of the Workflow. */
export class WorkflowProblem extends Error {}

export function substitute(text: string, scope: Scope): string {
  return text.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, inner: string) => {
    const name = inner.trim();
    const value = scope.get(name);
    if (value !== undefined) return value;
    if (name.startsWith("=")) throw new WorkflowProblem(`expressions are not supported: {{${inner}}}`);
    if (/^(steps|tasks)\..+\.outputs\./.test(name)) throw new WorkflowProblem(`{{${name}}} has no value: containers are simulated and have no outputs`);
    throw new WorkflowProblem(`failed to resolve {{${name}}}`);
  });
}

/** Every text within a value. */
export function substituteAll<T>(value: T, scope: Scope): T {
  return replaced(value as DeepReadonly<Json>, scope) as unknown as T;
}

function replaced(value: DeepReadonly<Json>, scope: Scope): DeepReadonly<Json> {
  if (typeof value === "string") return substitute(value, scope);
  if (Array.isArray(value)) return value.map((item: DeepReadonly<Json>) => replaced(item, scope));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [substitute(key, scope), replaced(item, scope)]));
}

export const asText = (value: DeepReadonly<Json>): string => (typeof value === "string" ? value : JSON.stringify(value));

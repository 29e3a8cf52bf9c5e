/** Expands a step into one per item of a list, and resolves the arguments of a step. Pure. */
import { compareText, isObject, jsonOrUndefined } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import type { WorkflowArguments, WorkflowStep } from "./workflow-types.ts";
import { WorkflowProblem, asText, fullBudget, substitute } from "./variables.ts";
import type { Scope } from "./variables.ts";

type Items = DeepReadonly<WorkflowStep & { withParam?: string }>;

/** More than a simulated member should run at once. */
const MAX_ITEMS = 500;

export interface Expanded {
  name: string;
  /** Computed lazily: most items are visited again only to find that they already run. */
  scope(): Scope;
}

export const isExpanded = (step: DeepReadonly<object>): boolean => "withItems" in step || "withParam" in step;

export function expand(name: string, step: Items, scope: Scope): Expanded[] {
  if (!isExpanded(step)) return [{ name, scope: () => scope }];
  const items = itemsOf(step, scope);
  if (items.length > MAX_ITEMS)
    throw new WorkflowProblem(`${name} has ${items.length} items, but at most ${MAX_ITEMS} are supported`);
  return items.map((item, index) => ({
    name: `${name}(${index}:${describe(item)})`,
    scope: () => withItem(scope, item),
  }));
}

function withItem(scope: Scope, item: DeepReadonly<Json>): Scope {
  const own = new Map(scope);
  own.set("item", asText(item));
  if (isObject(item)) for (const [key, value] of Object.entries(item)) own.set(`item.${key}`, asText(value));
  return own;
}

function itemsOf({ withItems, withParam }: Items, scope: Scope): readonly DeepReadonly<Json>[] {
  const budget = fullBudget();
  if (withItems) return withItems.map((item) => (typeof item === "string" ? substitute(item, scope, budget) : item));
  const text = substitute(withParam ?? "", scope);
  const list = jsonOrUndefined(text);
  if (!Array.isArray(list))
    throw new WorkflowProblem(`withParam value could not be jsonOrUndefined as a JSON list: ${text.slice(0, 100)}`);
  return list;
}

/** The item as it appears in the name of its node. */
function describe(item: DeepReadonly<Json>): string {
  if (!isObject(item)) return asText(item);
  return Object.entries(item)
    .map(([key, value]) => `${key}:${asText(value)}`)
    .toSorted(compareText)
    .join(",");
}

export function argumentsOf(
  given: DeepReadonly<WorkflowArguments> | undefined,
  scope: Scope,
): ReadonlyMap<string, string> {
  const budget = fullBudget();
  return new Map(
    (given?.parameters ?? []).flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, substitute(asText(value), scope, budget)] as const],
    ),
  );
}

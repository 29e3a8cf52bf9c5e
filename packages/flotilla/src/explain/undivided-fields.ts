/**
 * Finds numbers of a template that count in every cluster, because a user's ReviseReplica takes the place of the kind's
 * own division: a partition, a budget or ordinals. The two divisions are compared.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly, Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { Interpreter } from "../interpreter/interpreter.ts";
import { planDivision } from "../propagation/dispatch/plan-works.ts";
import type { Template } from "../propagation/templates/templates.ts";
import { isBookkeeping } from "./explain-bookkeeping.ts";
import { compareFields } from "../fields/field-changes.ts";

const MAX_NAMED = 3;

/** As a message that names the user's object; undefined if every number counts over the fleet. */
export async function findUndivided(
  interpreter: Pick<Interpreter, "divide" | "replacedDivision" | "ownerOf">,
  binding: DeepReadonly<ResourceBinding>,
  template: Template,
): Promise<string | undefined> {
  const owner = interpreter.ownerOf("reviseReplicas", template);
  if (owner === undefined) return undefined;
  const { bare, shares: all } = planDivision(binding, template, { works: [] });
  // As for new copies: the state of a rollout is not compared.
  const shares = all.map(({ cluster, replicas, isWhole }) => ({ cluster, replicas, isWhole }));
  try {
    const byKind = await interpreter.replacedDivision(bare, shares);
    if (!byKind) return undefined;
    const fields = differencesOf(bare, await interpreter.divide(bare, shares), byKind);
    const shown = [...fields].slice(0, MAX_NAMED).map(([path, values]) => `${path} is ${values}`);
    if (shown.length === 0) return undefined;
    const more = fields.size > MAX_NAMED ? ` and ${fields.size - MAX_NAMED} more fields` : "";
    return `ReviseReplica of ${owner} takes the place of the division over the fleet, so that numbers count in every cluster: ${shown.join("; ")}${more}`;
  } catch (error) {
    // A rule that fails is reported where the copies are made.
    if (error instanceof InterpretError) return undefined;
    throw error;
  }
}

/**
 * By path: `7 on member1 instead of 4`, for the first member that differs. Only numbers that the kind divides: a
 * percentage means the same in every cluster.
 */
function differencesOf(
  bare: Template,
  copies: ReadonlyMap<string, Template>,
  byKind: ReadonlyMap<string, Template>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const text = (value: Json | undefined): string => (value === undefined ? "unset" : JSON.stringify(value));
  for (const [cluster, copy] of copies) {
    const divided = byKind.get(cluster);
    if (!divided) continue;
    const own = new Set(compareFields(bare, divided, isBookkeeping).fields.map(({ path }) => path));
    for (const { path, before, after } of compareFields(divided, copy, isBookkeeping).fields)
      if (own.has(path) && typeof after === "number" && !found.has(path))
        found.set(path, `${text(after)} on ${cluster} instead of ${text(before)}`);
  }
  return found;
}

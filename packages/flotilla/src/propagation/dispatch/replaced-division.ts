/**
 * Finds numbers of a template that are not divided as their kind divides them, because a user's rule takes the place of the
 * kind's own: replicas that GetReplicas counts differently, and a partition, a budget or ordinals that count in every cluster
 * after ReviseReplica. The results of the two rules are compared.
 */
import type { ResourceBinding } from "@flotilla/karmada";
import type { DeepReadonly, Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import { isUndivided } from "./plan-dispatch.ts";
import { planDivision } from "./plan-works.ts";
import type { Template } from "../templates/templates.ts";
import { compareFields } from "../../fields/field-changes.ts";

const MAX_NAMED = 3;

type DividingInterpreter = Pick<
  Interpreter,
  "divide" | "replacedDivision" | "replacedReplicas" | "replicas" | "ownerOf"
>;

/** As messages that name the user's object; empty if every number counts over the fleet. */
export async function findReplaced(
  interpreter: DividingInterpreter,
  binding: DeepReadonly<ResourceBinding>,
  template: Template,
): Promise<string[]> {
  const found = await Promise.all([
    findMiscounted(interpreter, template),
    findUndivided(interpreter, binding, template),
  ]);
  return found.filter((message) => message !== undefined);
}

/** For dispatch, which must not cost a webhook more calls than a division does. */
export async function replacedIn(
  binding: DeepReadonly<ResourceBinding>,
  template: Template,
  interpreter: DividingInterpreter & Pick<Interpreter, "levelOf">,
): Promise<string[]> {
  const isAsked = (["replicas", "reviseReplicas"] as const).some(
    (rule) => interpreter.levelOf(rule, template) === "webhook",
  );
  return isAsked || isUndivided(binding) ? [] : findReplaced(interpreter, binding, template);
}

async function findMiscounted(interpreter: DividingInterpreter, template: Template): Promise<string | undefined> {
  const owner = interpreter.ownerOf("replicas", template);
  if (owner === undefined) return undefined;
  try {
    const byKind = await interpreter.replacedReplicas(template);
    if (byKind === undefined) return undefined;
    const counted = (await interpreter.replicas(template))?.replicas ?? 0;
    return counted === byKind
      ? undefined
      : `GetReplicas of ${owner} counts ${counted} replicas where the ${template.kind} asks for ${byKind}: members get ${counted} together`;
  } catch (error) {
    // A rule that fails is reported where the replicas are counted.
    if (error instanceof InterpretError) return undefined;
    throw error;
  }
}

async function findUndivided(
  interpreter: DividingInterpreter,
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
    const own = new Set(compareFields(bare, divided).fields.map(({ path }) => path));
    for (const { path, before, after } of compareFields(divided, copy).fields)
      if (own.has(path) && typeof after === "number" && !found.has(path))
        found.set(path, `${text(after)} on ${cluster} instead of ${text(before)}`);
  }
  return found;
}

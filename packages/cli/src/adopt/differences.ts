/**
 * Compares a member's object with its desired state field by field, and converts the differences to overriders. Pure.
 */
import type { PlaintextOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import { equalJson, isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";

export interface Difference {
  /** Keys and positions: `["spec", "template", "spec", "containers", "0", "image"]`. */
  steps: readonly string[];
  /** The member's value; unset where it lacks the field. */
  before?: Json;
  after?: Json;
}

/** Manifests that an API server accepts are less deep; deeper values are compared as a whole. */
const MAX_DEPTH = 64;

/** A null field equals a missing one. */
export function findDifferences(before: DeepReadonly<unknown>, after: DeepReadonly<unknown>): Difference[] {
  const found: Difference[] = [];
  walk([], before, after);
  return found;

  function walk(steps: readonly string[], left: unknown, right: unknown): void {
    if (equalJson(left ?? undefined, right ?? undefined)) return;
    if (steps.length < MAX_DEPTH && isObject(left) && isObject(right)) {
      for (const key of new Set([...Object.keys(left), ...Object.keys(right)]))
        walk([...steps, key], own(left, key), own(right, key));
    } else if (
      steps.length < MAX_DEPTH &&
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length
    ) {
      left.forEach((item: unknown, index) => walk([...steps, String(index)], item, right[index]));
    } else
      found.push({
        steps,
        before: left !== undefined && left !== null ? (left as Json) : undefined,
        after: right !== undefined && right !== null ? (right as Json) : undefined,
      });
  }
}

const own = (object: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The value at a path; undefined where there is none. */
export function valueAt(object: unknown, steps: readonly string[]): unknown {
  let value = object;
  for (const step of steps) {
    if (!isObject(value)) return undefined;
    value = own(value, step);
  }
  return value;
}

/** `spec.template.spec.containers[0].image`; a key that contains dots is quoted. */
export function formatSteps(steps: readonly string[]): string {
  return steps.reduce(
    (path, step) =>
      /^\d+$/.test(step) || !/^[A-Za-z0-9_-]+$/.test(step) ? `${path}[${step}]` : `${path}${path && "."}${step}`,
    "",
  );
}

/** The overrider that keeps the member's value. */
export function keepingOverrider({ steps, before, after }: Difference): PlaintextOverrider {
  const path = steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  if (before === undefined) return { path, operator: "remove" };
  return { path, operator: after === undefined ? "add" : "replace", value: before };
}

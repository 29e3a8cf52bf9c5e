/** What differs between what a member has and what it would have, field by field; and the same as overriders. Pure. */
import type { PlaintextOverrider } from "../../api/index.ts";
import { equalJson, isObject } from "../../base/index.ts";
import type { DeepReadonly, Json } from "../../base/index.ts";

export interface Difference {
  /** Keys and positions: `["spec", "template", "spec", "containers", "0", "image"]`. */
  steps: readonly string[];
  /** What the member has; unset where the field is not there. */
  before?: Json;
  after?: Json;
}

/** Manifests that a server takes are less deep; what lies below is compared as a whole. */
const MAX_DEPTH = 64;

/** A field without a value is the same as none. */
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

/** The value at a place; undefined where there is none. */
export function valueAt(object: unknown, steps: readonly string[]): unknown {
  let value = object;
  for (const step of steps) {
    if (!isObject(value)) return undefined;
    value = own(value, step);
  }
  return value;
}

/** `spec.template.spec.containers[0].image`; a key with dots in it is set apart. */
export function formatSteps(steps: readonly string[]): string {
  return steps.reduce(
    (path, step) =>
      /^\d+$/.test(step) || !/^[A-Za-z0-9_-]+$/.test(step) ? `${path}[${step}]` : `${path}${path && "."}${step}`,
    "",
  );
}

/** The overrider that leaves the member what it has. */
export function keepingOverrider({ steps, before, after }: Difference): PlaintextOverrider {
  const path = steps.map((step) => `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  if (before === undefined) return { path, operator: "remove" };
  return { path, operator: after === undefined ? "add" : "replace", value: before };
}

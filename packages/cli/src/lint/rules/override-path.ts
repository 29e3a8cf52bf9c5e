/** Finds overrides of fields that the object lacks. */
import { isObject } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { itemsAt, pointerSteps, textAt } from "../fields.ts";
import type { FieldPath } from "../fields.ts";
import type { LintManifest } from "../lint-manifest.ts";
import { defineRule } from "../rule.ts";

interface Change {
  path: FieldPath;
  pointer: string;
  operator: string;
}

export const overridePath = defineRule({
  id: "override-path",
  severity: "error",
  summary: "an override changes a field that the object does not have",
  why:
    "Overrides are JSON patches: replacing or removing a missing field fails, and so does adding below a missing " +
    "one. The member's copy is then not created (`RenderFailed`).",
  fix: "Fix the path, use `operator: add` for a missing field, or add its parent field first.",
  *check({ overrides, selectedBy }) {
    for (const policy of overrides) {
      for (const { manifest: object } of selectedBy(policy)) {
        // A change may build on the one before it, so each rule works on its own copy.
        for (const changes of changesOf(policy)) {
          const added = new Set<string>();
          for (const { path, pointer, operator } of changes) {
            const problem = problemOf(object.object, pointer, operator, added);
            if (problem !== undefined)
              yield {
                manifest: policy,
                path,
                message: `${object.title} has nothing at ${problem}, so ${operator} ${pointer} fails`,
              };
            else if (operator === "add") added.add(pointer);
          }
        }
      }
    }
  },
});

function changesOf({ object }: LintManifest): Change[][] {
  const places: FieldPath[] = [
    ["spec", "overriders"],
    ...itemsAt(object, "spec", "overrideRules").map(({ path }) => [...path, "overriders"]),
  ];
  return places.map((place) => [
    ...itemsAt(object, ...place, "imageOverrider").flatMap(({ item, path }) =>
      textAt(item, "predicate", "path")
        ? [{ path: [...path, "predicate", "path"], pointer: textAt(item, "predicate", "path"), operator: "replace" }]
        : [],
    ),
    ...itemsAt(object, ...place, "fieldOverrider").map(({ item, path }) => ({
      path: [...path, "fieldPath"],
      pointer: textAt(item, "fieldPath"),
      operator: "replace",
    })),
    ...itemsAt(object, ...place, "plaintext").map(({ item, path }) => ({
      path: [...path, "path"],
      pointer: textAt(item, "path"),
      operator: textAt(item, "operator"),
    })),
  ]);
}

/**
 * The part of the pointer that does not exist; undefined when the change is possible. `__proto__` is a key like any
 * other.
 */
function problemOf(
  object: JsonObject,
  pointer: string,
  operator: string,
  added: ReadonlySet<string>,
): string | undefined {
  if (!pointer.startsWith("/")) return undefined; // The hub rejects it.
  const steps = pointerSteps(pointer);
  let value: Json | undefined = object;
  let walked = "";
  for (const [index, step] of steps.entries()) {
    const isLast = index === steps.length - 1;
    walked += `/${step}`;
    if (added.has(walked)) return undefined;
    if (Array.isArray(value)) {
      if (isLast && operator === "add" && (step === "-" || Number(step) <= value.length)) return undefined;
      value = /^\d+$/.test(step) ? value[Number(step)] : undefined;
    } else if (isObject(value)) {
      if (isLast && operator === "add") return undefined;
      value = Object.hasOwn(value, step) ? value[step] : undefined;
    } else return walked;
    if (value === undefined) return walked;
  }
  return undefined;
}

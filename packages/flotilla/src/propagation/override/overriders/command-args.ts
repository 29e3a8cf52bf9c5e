/** Adds and removes command elements or arguments of a container that is found by its name. */
import type { CommandArgsOverrider } from "@flotilla/apimachinery/facts/policy-karmada-v1alpha1.ts";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { patchAt } from "../json-pointer.ts";
import { containersOf } from "./containers.ts";

type Overrider = DeepReadonly<CommandArgsOverrider>;

export function overrideCommand(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overrideList(object, "command", overriders);
}

export function overrideArgs(object: JsonObject, overriders: readonly Overrider[]): JsonObject {
  return overrideList(object, "args", overriders);
}

function overrideList(object: JsonObject, field: "command" | "args", overriders: readonly Overrider[]): JsonObject {
  return overriders.reduce<JsonObject>((result, overrider) => {
    const target = containersOf(result).find(({ container }) => container["name"] === overrider.containerName);
    if (!target) return result;
    const present = target.container[field];
    const revised = revise(Array.isArray(present) ? present : [], overrider);
    // An empty list is omitted where there was none.
    if (present === undefined && revised.length === 0) return result;
    return patchAt(result, "add", `${target.path}/${field}`, revised) as JsonObject;
  }, object);
}

function revise(list: readonly Json[], { operator, value = [] }: Overrider): Json[] {
  if (operator === "add") return [...list, ...value];
  return list.filter((item) => typeof item !== "string" || !value.includes(item));
}

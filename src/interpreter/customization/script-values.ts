/** What goes into scripts and what comes out of them, on the way from and to the types of the interpreter. */
import { equalJson } from "../../base/index.ts";
import type { DeepReadonly, Json, JsonObject } from "../../base/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { AnyObject } from "../interpreter.ts";
import type { Component, ReplicaRequirements, Replicas, StatusItem } from "../kind-interpreter.ts";
import { withoutNulls } from "../lua/index.ts";
import type { LuaInput, LuaReplicas } from "../lua/index.ts";

/** Objects are shared and immutable, so one that was looked through once needs no second look. */
const shown = new WeakMap<object, LuaInput>();

/** An object as scripts see it: without nulls. */
export function asInput(object: AnyObject | DeepReadonly<JsonObject>): LuaInput {
  let input = shown.get(object);
  if (!input) {
    input = withoutNulls(object as unknown as Json) as JsonObject;
    shown.set(object, input);
  }
  return input;
}

/** A member's status as scripts see it: a field with its zero value is not there. */
export function asItem(item: StatusItem): LuaInput {
  const { clusterName, status, applied, appliedMessage, health } = item;
  const seen =
    typeof status === "object" && status !== null ? (asInput(status as JsonObject) as Json) : (status ?? undefined);
  if (seen === status && applied !== false && appliedMessage !== "") return item as unknown as LuaInput;
  return {
    clusterName,
    ...(seen !== undefined && { status: seen }),
    ...(applied && { applied }),
    ...(appliedMessage && { appliedMessage }),
    ...(health && { health }),
  };
}

export function replicasOf({ replicas, requirements }: LuaReplicas): Replicas {
  if (replicas < 0) throw new InterpretError(`the script counts ${replicas} replicas`);
  return { replicas, ...(requirements !== undefined && { requirements: requirements as ReplicaRequirements }) };
}

/** The engine has seen to the types; Karmada calls requirements by a longer name. */
export function componentsOf(json: Json | undefined): Component[] {
  return ((json ?? []) as unknown as (Component & { replicaRequirements?: ReplicaRequirements })[]).map(
    ({ name, replicas, replicaRequirements }) => {
      if (replicas < 0)
        throw new InterpretError(`the script counts ${replicas} replicas of component ${JSON.stringify(name)}`);
      return { name, replicas, ...(replicaRequirements && { requirements: replicaRequirements }) };
    },
  );
}

/** Of an aggregation only the status counts, whatever else the script did to the object. */
export function withStatusOf(object: AnyObject, result: JsonObject): AnyObject {
  const { status: before, ...rest } = object as AnyObject & { readonly status?: DeepReadonly<Json> };
  const { status } = result;
  if (status === undefined ? before === undefined : equalJson(status, before)) return object;
  return (status === undefined ? rest : { ...rest, status }) as AnyObject;
}

/** A script may change what it likes of an object, except which object it is. */
export function stillThe(object: AnyObject, result: JsonObject): AnyObject {
  const changed = result as unknown as AnyObject;
  const field =
    (["apiVersion", "kind"] as const).find((each) => changed[each] !== object[each]) ??
    (["name", "namespace"] as const).find((each) => changed.metadata?.[each] !== object.metadata[each]);
  if (field !== undefined) throw new InterpretError(`the script returns another object: its ${field} is not the same`);
  return changed;
}

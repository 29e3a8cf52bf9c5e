/** Converts between the interpreter's types and script inputs and results. */
import { equalJson, defined, omitZero } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";
import type { AnyObject } from "../interpreter.ts";
import type { Component, ReplicaRequirements, Replicas, StatusItem } from "@flotilla/kubernetes";
import { withoutNulls } from "../scripts/index.ts";
import type { LuaInput, LuaReplicas } from "../scripts/index.ts";

/** Objects are shared and immutable, so each is converted only once. */
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

/** A member's status as scripts see it: fields with zero values are omitted. */
export function asItem(item: StatusItem): LuaInput {
  const { clusterName, status, applied, appliedMessage, health } = item;
  const seen =
    typeof status === "object" && status !== null ? (asInput(status as JsonObject) as Json) : (status ?? undefined);
  if (seen === status && applied !== false && appliedMessage !== "") return item as unknown as LuaInput;
  return {
    clusterName,
    ...defined({ status: seen }),
    ...omitZero({ applied, appliedMessage, health }),
  };
}

export function replicasOf({ replicas, requirements }: LuaReplicas): Replicas {
  if (replicas < 0) throw new InterpretError(`the script returned ${replicas} replicas`);
  return { replicas, requirements: requirements !== undefined ? (requirements as ReplicaRequirements) : undefined };
}

/** The engine has checked the types; Karmada uses a longer name for the requirements. */
export function componentsOf(json: Json | undefined): Component[] {
  return ((json ?? []) as unknown as (Component & { replicaRequirements?: ReplicaRequirements })[]).map(
    ({ name, replicas, replicaRequirements }) => {
      if (replicas < 0)
        throw new InterpretError(`the script returned ${replicas} replicas for component ${JSON.stringify(name)}`);
      return { name, replicas, requirements: replicaRequirements };
    },
  );
}

/** Only the status of an aggregation result is used; other changes to the object are discarded. */
export function withStatusOf(object: AnyObject, result: JsonObject): AnyObject {
  const { status: before, ...rest } = object as AnyObject & { readonly status?: DeepReadonly<Json> };
  const { status } = result;
  if (status === undefined ? before === undefined : equalJson(status, before)) return object;
  return (status === undefined ? rest : { ...rest, status }) as AnyObject;
}

/** A script may change anything in an object except its identity. */
export function requireSameIdentity(object: AnyObject, result: JsonObject): AnyObject {
  const changed = result as unknown as AnyObject;
  const field =
    (["apiVersion", "kind"] as const).find((each) => changed[each] !== object[each]) ??
    (["name", "namespace"] as const).find((each) => changed.metadata?.[each] !== object.metadata[each]);
  if (field !== undefined) throw new InterpretError(`the script returned a different object: its ${field} changed`);
  return changed;
}

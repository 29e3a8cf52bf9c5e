import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { viewOf } from "./state-family.ts";

export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The conditions of a member's object, which is not validated: anything without a type is skipped. */
export function conditionsOf(object: DeepReadonly<KubernetesObject>): readonly ObjectCondition[] {
  const { conditions } = viewOf(object).status;
  return Array.isArray(conditions)
    ? conditions.filter(
        (condition): condition is ObjectCondition => isObject(condition) && typeof condition["type"] === "string",
      )
    : [];
}

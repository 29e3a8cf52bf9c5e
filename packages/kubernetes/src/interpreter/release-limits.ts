/** Where kinds have the fields that limit how their controllers update pods. */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { defined, objectOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import type { ReleaseLimits } from "./kind-interpreter.ts";

type WithSpec = DeepReadonly<KubernetesObject & { spec?: unknown }>;

const specOf = ({ spec }: WithSpec): JsonObject => objectOf(spec);
const withSpec = <T extends WithSpec>(object: T, spec: JsonObject): T => ({ ...object, spec });

/** In `spec.strategy`; the workload itself is paused. A workload that stops all pods first has no budget. */
export function limitStrategy<T extends WithSpec>(object: T, { maxUnavailable, isPaused }: ReleaseLimits): T {
  const spec = specOf(object);
  const strategy = objectOf(spec["strategy"]);
  const next: JsonObject = { ...spec };
  if (isPaused) next["paused"] = true;
  if (maxUnavailable !== undefined && !replacesAll(object))
    next["strategy"] = {
      ...strategy,
      type: "RollingUpdate",
      rollingUpdate: { ...objectOf(strategy["rollingUpdate"]), maxUnavailable },
    };
  return withSpec(object, next);
}

/** Whether all pods stop before the first new one starts. */
export const replacesAll = (object: WithSpec): boolean => objectOf(specOf(object)["strategy"])["type"] === "Recreate";

/** In `spec.updateStrategy.rollingUpdate`, those that the kind has. With OnDelete, users update the pods. */
export function limitRollingUpdate<T extends WithSpec>(
  object: T,
  { partition, maxUnavailable, isPaused }: Partial<ReleaseLimits>,
): T {
  const spec = specOf(object);
  const strategy = objectOf(spec["updateStrategy"]);
  if (strategy["type"] === "OnDelete") return object;
  const limits = defined({ maxUnavailable, paused: isPaused || undefined, partition }) as Record<string, Json>;
  return withSpec(object, {
    ...spec,
    updateStrategy: {
      ...strategy,
      type: "RollingUpdate",
      rollingUpdate: { ...objectOf(strategy["rollingUpdate"]), ...limits },
    },
  });
}

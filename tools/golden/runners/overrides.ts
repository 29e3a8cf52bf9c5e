/** `overrides.jsonl`: an object, a cluster and policies to the member's copy and the record of applied overrides. */
import { omitZero } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { planOverrides, type AppliedOverride, type OverrideInput } from "@flotilla/flotilla";
import { compareResults } from "../compare-results.ts";

export const overrides = compareResults({
  run(input: JsonObject) {
    const plan = planOverrides({
      clusterOverridePolicies: [],
      overridePolicies: [],
      ...(input as unknown as Pick<OverrideInput, "object" | "cluster">),
    });
    return {
      object: plan.object as unknown as Json,
      appliedClusterOverrides: plan.appliedClusterOverrides.map(recorded),
      appliedOverrides: plan.appliedOverrides.map(recorded),
    };
  },
});

/** Go omits an empty `value` of an image overrider; ours is recorded as the user wrote it. */
function recorded({ policyName, overriders }: AppliedOverride): JsonObject {
  const imageOverrider = overriders.imageOverrider?.map(({ value, ...rest }) => ({
    ...rest,
    value: value || undefined,
  }));
  return { policyName, overriders: { ...overriders, ...omitZero({ imageOverrider }) } as unknown as Json };
}

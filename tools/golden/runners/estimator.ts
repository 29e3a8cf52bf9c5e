/** `estimator.jsonl`: how many replicas or sets of components fit a member, and how its nodes are counted by grade. */
import type { JsonObject } from "../../../src/base/index.ts";
import { estimateReplicas, estimateSets, readCapacity, readComponentSet, readRequest, type MeasuredCluster } from "../../../src/propagation/estimate/index.ts";
import { compareResults, pick } from "../compare.ts";

const capacityOf = (input: JsonObject): ReturnType<typeof readCapacity> => readCapacity(input["cluster"] as unknown as MeasuredCluster);

const kinds: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  replicas: (input) => ({ replicas: estimateReplicas(capacityOf(input), readRequest((input["replicaRequirements"] ?? undefined) as Parameters<typeof readRequest>[0])) }),
  componentSets: (input) => ({ sets: estimateSets(capacityOf(input), readComponentSet((input["components"] ?? []) as unknown as Parameters<typeof readComponentSet>[0])) }),
};

export const estimator = compareResults({
  run: (input) => pick(kinds, input["kind"])(input),
});

/** `division.jsonl`: replicas over candidates, the plain division method, and the completions of Jobs. */
import type { Json, JsonObject } from "@flotilla/base";
import { assignReplicas, divideByWeight, divideCompletions } from "@flotilla/flotilla";
import type {
  AssignedCluster,
  BindingSpecView,
  BindingStatusView,
  Candidate,
  ClusterReplicas,
  JobToDivide,
  WeightedCluster,
} from "@flotilla/flotilla";
import { compareResults, pick } from "../compare-results.ts";

interface RecordedCandidate extends Pick<Candidate, "allocatableReplicas" | "availableReplicas" | "overflowOrder"> {
  name: string;
  labels: Record<string, string>;
}

const kinds: Readonly<Record<string, (input: JsonObject) => JsonObject>> = {
  assign(input) {
    const candidates = ((input["candidates"] ?? []) as unknown as RecordedCandidate[]).map(
      ({ name, labels, ...capacity }): Candidate => ({ cluster: { metadata: { name, labels } }, ...capacity }),
    );
    const assignment = assignReplicas({
      candidates,
      spec: input["spec"] as unknown as BindingSpecView,
      status: input["status"] as BindingStatusView,
      enableEmptyWorkloadPropagation: input["enableEmptyWorkloadPropagation"] === true,
    });
    if (!assignment.ok) throw new Error(assignment.message);
    return { clusters: recorded(assignment.clusters) };
  },
  webster(input) {
    const weights = (input["weights"] ?? []) as unknown as WeightedCluster[];
    const previous = (input["init"] ?? []) as unknown as ClusterReplicas[];
    return {
      clusters: recorded(divideByWeight(Number(input["replicas"]), weights, { uid: input["uid"] as string, previous })),
    };
  },
  jobCompletions(input) {
    const clusters = divideCompletions(
      input["job"] as unknown as JobToDivide,
      (input["targetClusters"] ?? []) as unknown as ClusterReplicas[],
    );
    return { clusters: clusters ? recorded(clusters) : null };
  },
};

/** Sorted by name, and without zeros, which Go omits. */
function recorded(clusters: readonly AssignedCluster[]): Json {
  const sorted = [...clusters].sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.map(({ name, replicas = 0 }) => ({ name, replicas }));
}

export const division = compareResults({
  errorTextMatters: true,
  run: (input) => pick(kinds, input["kind"])(input),
});

/** The metrics that kruise-state-metrics exports for a WorkloadSpread. */
import type { Sample, StateKind, StateView } from "@flotilla/kubernetes";
import { WorkloadSpread } from "./workloadspread-kind.ts";
import { familiesOf, textOf, generationOf } from "../metrics/state-families.ts";
import { objectOf, numberOf, listOf } from "@flotilla/base";

const workloadSpread = familiesOf("workloadspread");
/** The subset label, which upstream omits: without it the subsets of one object could not be distinguished. */
const ofSubsets =
  (field: string) =>
  ({ status }: StateView): readonly Sample[] =>
    listOf(status["subsetStatuses"]).map((each): Sample => [
      [textOf(objectOf(each)["name"])],
      numberOf(objectOf(each)[field]),
    ]);
export const workloadSpreadStates: StateKind = {
  kind: WorkloadSpread,
  label: "workloadspread",
  families: [
    workloadSpread.created,
    workloadSpread.family("status_subset_replicas", "Pods of each subset.", ofSubsets("replicas"), "subset"),
    workloadSpread.family(
      "status_subset_replicas_missing",
      "Missing pods of each subset.",
      ofSubsets("missingReplicas"),
      "subset",
    ),
    workloadSpread.figure("metadata_generation", "The generation of the desired state.", generationOf),
    workloadSpread.annotations,
    workloadSpread.labels,
    workloadSpread.family(
      "spec_strategy_type",
      "The schedule strategy, as a label; the value is 0.",
      ({ spec }) => [[[textOf(objectOf(spec["scheduleStrategy"])["type"])], 0]],
      "strategy_type",
    ),
  ],
};

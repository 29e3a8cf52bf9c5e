/** The metrics that kruise-state-metrics exports for a BroadcastJob. */
import type { Fields, StateKind, StateView } from "@flotilla/kubernetes";
import { BroadcastJob } from "./broadcastjob-kind.ts";
import { familiesOf, textOf, generationOf, count } from "../metrics/state-families.ts";
import { objectOf, numberOf } from "@flotilla/base";

const broadcastJob = familiesOf("broadcastjob");
const completionOf = ({ spec }: StateView): Fields => objectOf(spec["completionPolicy"]);
export const broadcastJobStates: StateKind = {
  kind: BroadcastJob,
  label: "broadcastjob",
  families: [
    broadcastJob.created,
    broadcastJob.figure("status_active", "Running pods.", count("active")),
    broadcastJob.figure("status_succeeded", "Succeeded pods.", count("succeeded")),
    broadcastJob.figure("status_failed", "Failed pods.", count("failed")),
    broadcastJob.figure("status_desired", "Desired pods: one on each matching node.", count("desired")),
    broadcastJob.conditions(),
    broadcastJob.figure(
      "spec_parallelism",
      "Maximum number of pods running at the same time; 0 if it is a percentage or not set.",
      ({ spec }) => numberOf(spec["parallelism"]),
    ),
    broadcastJob.figure("metadata_generation", "The generation of the desired state.", generationOf),
    broadcastJob.annotations,
    broadcastJob.labels,
    broadcastJob.figure(
      "spec_strategy_activedeadline_seconds",
      "Maximum duration of the job in seconds; 0 if it is not set.",
      (view) => numberOf(completionOf(view)["activeDeadlineSeconds"]),
    ),
    broadcastJob.figure(
      "spec_strategy_ttl_seconds",
      "Time to live after the job finished in seconds; 0 if it is not set.",
      (view) => numberOf(completionOf(view)["ttlSecondsAfterFinished"]),
    ),
    broadcastJob.family(
      "spec_strategy_type",
      "The completion policy, as a label; the value is 0.",
      (view) => [[[textOf(completionOf(view)["type"])], 0]],
      "strategy_type",
    ),
  ],
};

/** BroadcastJob: everything that Flotilla knows about the kind. */
import { exampleJobTemplate, exampleOf } from "@flotilla/kubernetes";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Progress } from "@flotilla/kubernetes";
import { defineKruiseKind } from "../api/kruise-definition.ts";
import { createBroadcastJobController } from "./broadcastjob-controller.ts";
import { broadcastJobInterpreter } from "./broadcastjob-interpreter.ts";
import { BroadcastJob } from "./broadcastjob-kind.ts";
import { broadcastJobStates } from "./broadcastjob-metrics.ts";
import { broadcastJobRules } from "./broadcastjob-rules.ts";

export const broadcastJob = defineKruiseKind({
  kind: BroadcastJob,
  example: exampleOf(BroadcastJob, { spec: { template: exampleJobTemplate } }),
  rules: broadcastJobRules,
  interpreter: broadcastJobInterpreter,
  controllers: (deps) => [createBroadcastJobController(deps)],
  states: broadcastJobStates,
  progress: progressOf,
  feedback: {
    values: [
      ["Desired", ".status.desired"],
      ["Active", ".status.active"],
      ["Succeeded", ".status.succeeded"],
      ["Failed", ".status.failed"],
      ["Phase", ".status.phase"],
    ],
  },
});

function progressOf(job: DeepReadonly<KubernetesObject>): Progress {
  const phase = (job as { readonly status?: { readonly phase?: unknown } }).status?.phase;
  if (phase === "failed") return { isProgressing: true, failure: "failed" };
  return { isProgressing: phase !== "completed" && phase !== "paused" };
}

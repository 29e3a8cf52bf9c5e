/** A pod of a BroadcastJob, for one node. */
import type { Random } from "@flotilla/base";
import { generatedPod } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { ReadonlyBroadcastJob } from "./plan-broadcastjob.ts";

export function broadcastPod(job: ReadonlyBroadcastJob, node: string, random: Random): ReadonlyPod {
  const pod = generatedPod(job, job.spec.template, random);
  const nodeSelectorTerms = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: [node] }] }];
  const { affinity } = pod.spec;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        "broadcastjob-name": job.metadata.name,
        "broadcastjob-controller-uid": job.metadata.uid ?? "",
      },
    },
    // The node was already selected by the template's node constraints; the scheduler needs only its name.
    spec: {
      ...pod.spec,
      affinity: {
        ...affinity,
        nodeAffinity: {
          ...affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
        },
      },
    },
  };
}

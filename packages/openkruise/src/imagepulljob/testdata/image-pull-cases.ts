/**
 * Runs ImagePullJobs on recorded inputs and returns results in the format of the recordings
 * (`openkruise-selection.jsonl`). Only for tests and `npm run golden`.
 */
import { createSeededRandom } from "@flotilla/base";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import { RECORDED_AT } from "../../testdata/read-cases.ts";
import { selectNodeImages } from "../job-nodes.ts";
import { planImagePullJob } from "../plan-imagepulljob.ts";
import type { ReadonlyImagePullJob, ReadonlyNodeImage } from "../plan-imagepulljob.ts";

interface Input {
  imagePullJob: ReadonlyImagePullJob;
  nodeImages?: ReadonlyNodeImage[];
  pods?: ReadonlyPod[];
}

/** More than any recording has nodes: all that may be asked are. */
const ALL = 1000;

export function imagePullCase({ imagePullJob: job, nodeImages = [], pods = [] }: Input): unknown {
  const selected = selectNodeImages(job, {
    named: (name) => nodeImages.find(({ metadata }) => metadata.name === name),
    all: () => nodeImages,
    pods: () => pods.filter(({ metadata }) => metadata.namespace === job.metadata.namespace),
  });
  const observed = { nodeImages: selected, secrets: [], nowMs: RECORDED_AT, random: createSeededRandom(1) };
  const { status } = planImagePullJob(job, observed);
  const { update } = planImagePullJob({ ...job, spec: { ...job.spec, parallelism: ALL } }, observed);
  const isLate = status.message === "job exceeds activeDeadlineSeconds";
  return {
    nodes: selected.map(({ metadata }) => metadata.name),
    status: { ...status, active: status.active ?? 0, succeeded: status.succeeded ?? 0, failed: status.failed ?? 0 },
    notSyncedNodes: isLate ? null : update.map(({ metadata }) => metadata.name),
  };
}

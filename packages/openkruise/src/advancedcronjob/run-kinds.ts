/** The kinds that a run of an AdvancedCronJob creates on a simulated member, and their differences. */
import type { Kind, KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { Job } from "@flotilla/kubernetes";
import { BroadcastJob } from "../broadcastjob/broadcastjob-kind.ts";
import { ImageListPullJob } from "../imagelistpulljob/imagelistpulljob-kind.ts";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";

/** The common fields of the three kinds. ImageListPullJobs have a completion time instead of conditions. */
interface Run extends KubernetesObject {
  spec?: unknown;
  status?: { startTime?: string; completionTime?: string; conditions?: { type: string; status: string }[] };
}

export type ReadonlyRun = DeepReadonly<Run>;

type Spec = DeepReadonly<AdvancedCronJob>["spec"];

interface RunTemplate {
  readonly metadata?: DeepReadonly<Partial<ObjectMeta>>;
  readonly spec?: unknown;
}

export interface RunKind {
  type: "Job" | "BroadcastJob" | "ImageListPullJob";
  kind: Kind<Run>;
  templateOf: (spec: Spec) => RunTemplate | undefined;
}

const asRun = (kind: unknown): Kind<Run> => kind as Kind<Run>;

const RUN_KINDS = {
  Job: { type: "Job", kind: asRun(Job), templateOf: ({ template }) => template.jobTemplate },
  BroadcastJob: {
    type: "BroadcastJob",
    kind: asRun(BroadcastJob),
    templateOf: ({ template }) => template.broadcastJobTemplate,
  },
  ImageListPullJob: {
    type: "ImageListPullJob",
    kind: asRun(ImageListPullJob),
    templateOf: ({ template }) => template.imageListPullJobTemplate,
  },
} as const satisfies Record<string, RunKind>;

export const runKinds: readonly RunKind[] = Object.values(RUN_KINDS);

export type RunType = RunKind["type"];

/** In upstream's order of lookup. */
export function runTypeOf({ template }: Spec): RunType {
  if (template.jobTemplate) return "Job";
  return template.imageListPullJobTemplate ? "ImageListPullJob" : "BroadcastJob";
}

export const runKindOf = (spec: Spec): RunKind => RUN_KINDS[runTypeOf(spec)];

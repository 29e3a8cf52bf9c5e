/** The kinds that a run of an AdvancedCronJob creates on a simulated member, and their differences. */
import type { Kind, KubernetesObject, ObjectMeta } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { Job } from "@flotilla/kubernetes";
import { BroadcastJob } from "../broadcastjob/broadcastjob-kind.ts";
import type { AdvancedCronJob } from "./advancedcronjob-kind.ts";

/** The common fields of a Job and a BroadcastJob. */
interface Run extends KubernetesObject {
  spec?: unknown;
  status?: { startTime?: string; conditions?: { type: string; status: string }[] };
}

export type ReadonlyRun = DeepReadonly<Run>;

type Spec = DeepReadonly<AdvancedCronJob>["spec"];

interface RunTemplate {
  readonly metadata?: DeepReadonly<Partial<ObjectMeta>>;
  readonly spec?: unknown;
}

export interface RunKind {
  type: "Job" | "BroadcastJob";
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
} as const satisfies Record<string, RunKind>;

export const runKinds: readonly RunKind[] = Object.values(RUN_KINDS);

export type RunType = RunKind["type"] | "ImageListPullJob";

/** In upstream's order of lookup. */
export function runTypeOf({ template }: Spec): RunType {
  if (template.jobTemplate) return "Job";
  return template.imageListPullJobTemplate ? "ImageListPullJob" : "BroadcastJob";
}

/** Undefined for image pulls, which simulated members do not run. */
export const runKindOf = (spec: Spec): RunKind | undefined => {
  const type = runTypeOf(spec);
  return type === "ImageListPullJob" ? undefined : RUN_KINDS[type];
};

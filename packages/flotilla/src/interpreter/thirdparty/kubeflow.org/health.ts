/** Health of training jobs. */
import type { DeepReadonly } from "@flotilla/base";
import { statusOf } from "@flotilla/kubernetes";
import { conditionsIn, isTrue } from "../member-status.ts";
import type { TrainingJob } from "./replica-specs.ts";

/** Its controller has reported a condition, and none is Failed. */
export function hasNotFailed(job: DeepReadonly<TrainingJob>): boolean {
  const status = statusOf(job);
  if (!status || (status["conditions"] ?? null) === null) return false;
  return !conditionsIn(status).some((condition) => isTrue(condition, "Failed"));
}

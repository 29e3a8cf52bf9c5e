/** CronJob: each member runs its own schedule; the template shows all active runs and the latest schedule times. */
import { omitEmpty, textOf } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { podDependencies } from "../interpreter/pod-dependencies.ts";
import { reportedStatuses, statusOf, withStatus } from "../interpreter/replica-status.ts";
import { latestOf } from "../interpreter/times.ts";
import type { PodTemplateShape, Workload } from "../interpreter/workload.ts";

interface CronJob extends Omit<Workload, "spec"> {
  spec?: { jobTemplate?: { spec?: { template?: PodTemplateShape } } };
}

export const cronJobInterpreter: KindInterpreter<CronJob> = {
  group: "batch",
  kind: "CronJob",
  aggregateStatus(cronJob, items) {
    const statuses = reportedStatuses(items);
    const active = statuses.flatMap((status) => (Array.isArray(status["active"]) ? status["active"] : []));
    const lastScheduleTime = latestOf(statuses.map((status) => textOf(status["lastScheduleTime"])));
    const lastSuccessfulTime = latestOf(statuses.map((status) => textOf(status["lastSuccessfulTime"])));
    const {
      active: _active,
      lastScheduleTime: _schedule,
      lastSuccessfulTime: _successful,
      ...others
    } = statusOf(cronJob) ?? {};
    return withStatus(cronJob, {
      ...others,
      ...omitEmpty({ active, lastScheduleTime, lastSuccessfulTime }),
    });
  },
  dependencies: ({ metadata, spec }) => podDependencies(spec?.jobTemplate?.spec?.template, metadata.namespace),
};

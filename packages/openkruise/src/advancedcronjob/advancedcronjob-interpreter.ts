/** OpenKruise AdvancedCronJob: each member runs its own schedule of Jobs, BroadcastJobs or image pulls. */
import { omitEmpty, textOf } from "@flotilla/base";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { latestOf, podDependencies, reportedStatuses, statusOf, withStatus } from "@flotilla/kubernetes";
import type { KindInterpreter, PodTemplateShape } from "@flotilla/kubernetes";
import { pullSecrets, type PullJob } from "../imagepulljob/imagepulljob-interpreter.ts";

interface JobTemplate {
  spec?: { template?: PodTemplateShape };
}
interface AdvancedCronJob extends KubernetesObject {
  spec?: {
    template?: {
      jobTemplate?: JobTemplate;
      broadcastJobTemplate?: JobTemplate;
      imageListPullJobTemplate?: { spec?: PullJob["spec"] };
    };
  };
  status?: JsonObject;
}

export const advancedCronJobInterpreter: KindInterpreter<AdvancedCronJob> = {
  group: "apps.kruise.io",
  kind: "AdvancedCronJob",
  aggregateStatus(cronJob, items) {
    const statuses = reportedStatuses(items);
    const active = statuses.flatMap((status) => (Array.isArray(status["active"]) ? status["active"] : []));
    const lastOf = (field: string): string =>
      textOf(statuses.findLast((status) => typeof status[field] === "string")?.[field]);
    const type = lastOf("type");
    const lastScheduleTime = latestOf(statuses.map((status) => textOf(status["lastScheduleTime"])));
    const { active: _active, type: _type, lastScheduleTime: _time, ...others } = statusOf(cronJob) ?? {};
    return withStatus(cronJob, { ...others, ...omitEmpty({ active, type, lastScheduleTime }) });
  },
  dependencies({ apiVersion, kind, metadata, spec }) {
    const { jobTemplate, broadcastJobTemplate, imageListPullJobTemplate: pull } = spec?.template ?? {};
    if (pull) return pullSecrets({ apiVersion, kind, metadata, spec: pull.spec });
    return podDependencies((broadcastJobTemplate ?? jobTemplate)?.spec?.template, metadata.namespace);
  },
};

/**
 * Argo CronWorkflow: each member runs its own schedule. If its CRD has a status subresource, the template shows all
 * active runs and the latest schedule; Argo's own CRD has none, so they are on the binding only (see
 * `workflow-interpreter.ts`).
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { isObject, type JsonObject, omitZero, omitEmpty, textOf } from "@flotilla/base";
import {
  latestOf,
  mergeConditions,
  reportedStatuses,
  statusOf,
  sumOf,
  withSpecField,
  withStatus,
} from "@flotilla/kubernetes";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { workflowDependencies, type WorkflowSpec } from "../workflow/workflow-interpreter.ts";

interface CronWorkflow extends KubernetesObject {
  spec?: { suspend?: boolean; workflowSpec?: WorkflowSpec };
  status?: JsonObject;
}

export const cronWorkflowInterpreter: KindInterpreter<CronWorkflow> = {
  group: "argoproj.io",
  kind: "CronWorkflow",
  /** The CRD has no status subresource: updating the copy must not reset its history. */
  retain(desired, observed) {
    const suspend = observed.spec?.suspend;
    return {
      ...(suspend === undefined ? desired : withSpecField(desired, "suspend", suspend)),
      ...omitZero({ status: observed.status }),
    };
  },
  aggregateStatus(cronWorkflow, items) {
    const statuses = reportedStatuses(items);
    const active = statuses.flatMap((status) => (Array.isArray(status["active"]) ? status["active"] : []));
    const lastScheduledTime = latestOf(statuses.map((status) => textOf(status["lastScheduledTime"])));
    const conditions = mergeConditions(items);
    const {
      active: _active,
      lastScheduledTime: _time,
      conditions: _conditions,
      ...others
    } = statusOf(cronWorkflow) ?? {};
    return withStatus(cronWorkflow, {
      ...others,
      succeeded: sumOf(statuses, "succeeded"),
      failed: sumOf(statuses, "failed"),
      ...omitEmpty({ active, lastScheduledTime, conditions }),
    });
  },
  /** An invalid schedule is reported in a condition. */
  isHealthy({ status }) {
    const conditions =
      isObject(status) && Array.isArray(status["conditions"]) ? status["conditions"].filter(isObject) : [];
    return !conditions.some(
      ({ type, status: value }) => (type === "SubmissionError" || type === "SpecError") && value === "True",
    );
  },
  dependencies: ({ metadata, spec }) => workflowDependencies(spec?.workflowSpec, metadata.namespace),
};

/**
 * Completes the summed conditions of a Job. Karmada's rule sets Failed as soon as one member's Job has failed, and an API
 * server accepts Failed only together with FailureTarget and without active pods: as in a cluster, FailureTarget is set
 * once the failure is certain, Failed when every member's Job is over. A failure is final, whatever members do later.
 */
import { isObject, type JsonObject } from "@flotilla/base";
import { conditionsIn } from "../interpreter/joined-conditions.ts";
import { conditionSums, withConditions, type ConditionSums } from "../interpreter/summed-conditions.ts";
import { isJobFinished } from "./job-outcome.ts";

const suspended = conditionSums({ everywhere: ["Suspended"] });

export const jobConditionSums: ConditionSums = {
  // Members report all conditions of a Job.
  types: [],
  sum({ status, before, items }) {
    if (isJobFinished(before)) return before;
    const unfinished = items.filter((item) => !isObject(item.status) || !isJobFinished(item.status));
    const withSuspended = suspended.sum({ status, before, items: unfinished });
    const failing = findTrue(status, "Failed") ?? findTrue(before, "FailureTarget");
    const targets = items.filter((item) => isObject(item.status) && findTrue(item.status, "FailureTarget"));
    if (failing || targets.length > 0) {
      const names = targets.map(({ clusterName }) => clusterName).join(",");
      const { reason = "JobFailed", message = `Job executed failed in member clusters ${names}` } = failing ?? {};
      return failed(withSuspended, { status: "True", reason, message }, unfinished.length === 0);
    }
    const complete = findTrue(status, "Complete");
    if (!complete || findTrue(status, "SuccessCriteriaMet")) return withSuspended;
    // Members before Kubernetes 1.31 do not set it, and an API server since then requires it.
    return withConditions(
      withSuspended,
      ["SuccessCriteriaMet"],
      [{ ...complete, type: "SuccessCriteriaMet", reason: "CompletionsReached" }],
    );
  },
};

function failed(status: JsonObject, outcome: JsonObject, isOver: boolean): JsonObject {
  const { completionTime: _ofSuccess, ...rest } = status;
  return withConditions(
    rest,
    ["FailureTarget", "Failed", "Complete", "SuccessCriteriaMet"],
    ["FailureTarget", ...(isOver ? ["Failed"] : [])].map((type) => ({ type, ...outcome })),
  );
}

const findTrue = (status: JsonObject, type: string): JsonObject | undefined =>
  conditionsIn(status).find((condition) => condition["type"] === type && condition["status"] === "True");

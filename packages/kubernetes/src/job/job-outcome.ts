/** Whether the status of a Job, as a member reports it, says that the Job is over. */
import { isObject, type JsonObject, textOf } from "@flotilla/base";
import { conditionsIn } from "../interpreter/joined-conditions.ts";

/** The finish condition of a Job: the first Complete or Failed condition. */
export function finishOf(status: JsonObject): string | undefined {
  const finish = conditionsIn(status).find(
    ({ type, status: value }) => (type === "Complete" || type === "Failed") && value === "True",
  );
  return finish && textOf(finish["type"]);
}

/** Whether the status of a Job reports that it is complete or has failed. */
export function isJobFinished(status: unknown): boolean {
  return isObject(status) && finishOf(status) !== undefined;
}

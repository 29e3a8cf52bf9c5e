/** Why pods fit into no subset. Pure. */
import type { JsonObject } from "@flotilla/base";
import { objectsOf } from "@flotilla/base";
import { conditionsIn } from "@flotilla/kubernetes";
import type { Unhealthy } from "@flotilla/kubernetes";
import { said, oneLine } from "../interpreter/own-problem.ts";

export function spreadProblem(_spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const full = objectsOf(status["subsetStatuses"]).flatMap((subset) => {
    const schedulable = conditionsIn(subset).find(({ type }) => type === "Schedulable");
    return schedulable?.["status"] === "False"
      ? [`${oneLine(subset["name"])}${said(schedulable["reason"])}${said(schedulable["message"])}`]
      : [];
  });
  const count = objectsOf(status["subsetStatuses"]).length;
  return count > 0 && full.length === count
    ? { reason: "NoSubset", message: `pods fit into none of its ${count} subsets: ${full.join("; ")}` }
    : undefined;
}

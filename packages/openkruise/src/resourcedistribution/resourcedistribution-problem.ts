/** Why namespaces have no copy. Pure. */
import type { JsonObject } from "@flotilla/base";
import { textsOf } from "@flotilla/base";
import { conditionsIn, countOf } from "@flotilla/kubernetes";
import type { Unhealthy } from "@flotilla/kubernetes";
import { listed, said, oneLine } from "../interpreter/own-problem.ts";

export function distributionProblem(_spec: JsonObject, status: JsonObject): Unhealthy | undefined {
  const wrong = conditionsIn(status).filter(({ status: value }) => value === "True");
  const failed = countOf(status["failed"]);
  if (wrong.length === 0 && failed === 0) return undefined;
  const causes = wrong.map(
    ({ type, reason, failedNamespace, failedNamespaces }) =>
      `${oneLine(type)}${said(reason)}${listed(textsOf(failedNamespace ?? failedNamespaces))}`,
  );
  return {
    reason: "NotDistributed",
    message: `${failed} of ${Math.max(countOf(status["desired"]), failed)} namespaces have no copy: ${causes.join("; ") || "no cause is reported"}`,
  };
}

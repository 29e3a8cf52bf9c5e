/**
 * The signatures of the authorizer library. No expression has an authorizer yet, so none of this can run; but a rule
 * that uses one of these names by mistake gets an error that no overload matches, not that the function does not exist.
 */
import type { Row } from "../functions.ts";
import { type CelValue, NO_SUCH_OVERLOAD } from "../values.ts";

const unavailable = (): CelValue => NO_SUCH_OVERLOAD;

export const authorizer: readonly Row[] = [
  ["path", "authorizer_path", "Authorizer.(string) -> PathCheck", unavailable],
  ["group", "authorizer_group", "Authorizer.(string) -> GroupCheck", unavailable],
  ["serviceAccount", "authorizer_serviceaccount", "Authorizer.(string, string) -> Authorizer", unavailable],
  ["resource", "groupcheck_resource", "GroupCheck.(string) -> ResourceCheck", unavailable],
  ["subresource", "resourcecheck_subresource", "ResourceCheck.(string) -> ResourceCheck", unavailable],
  ["namespace", "resourcecheck_namespace", "ResourceCheck.(string) -> ResourceCheck", unavailable],
  ["name", "resourcecheck_name", "ResourceCheck.(string) -> ResourceCheck", unavailable],
  ["fieldSelector", "authorizer_fieldselector", "ResourceCheck.(string) -> ResourceCheck", unavailable],
  ["labelSelector", "authorizer_labelselector", "ResourceCheck.(string) -> ResourceCheck", unavailable],
  ["check", "pathcheck_check", "PathCheck.(string) -> Decision", unavailable],
  ["check", "resourcecheck_check", "ResourceCheck.(string) -> Decision", unavailable],
  ["allowed", "decision_allowed", "Decision.() -> bool", unavailable],
  ["reason", "decision_reason", "Decision.() -> string", unavailable],
  ["error", "decision_error", "Decision.() -> string", unavailable],
  ["errored", "decision_errored", "Decision.() -> bool", unavailable],
];

/**
 * Problems of objects that run no pods of their own: image pulls, restarts of containers, ephemeral containers, copies of
 * Secrets, spreads, records and probes. Their numbers are not those of workloads. Pure.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { objectOf } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import type { Unhealthy } from "@flotilla/kubernetes";

/** A run that has ended does not recover. */
export const FAILED = "Failed";
const MAX_NAMED = 3;

/** What is wrong with an object on a member. `verdict` is that of the health rule, which may be a user's. */
export type Judge = (object: DeepReadonly<KubernetesObject>, verdict: string | undefined) => Unhealthy | undefined;

export const judgedBy =
  (problemIn: (spec: JsonObject, status: JsonObject) => Unhealthy | undefined): Judge =>
  (object, verdict) => {
    const { spec, status } = object as { spec?: unknown; status?: unknown };
    const found = problemIn(objectOf(spec), objectOf(status));
    if (found || verdict !== "Unhealthy") return found;
    return {
      reason: "NotObserved",
      message:
        "its controller on the member has not observed it: OpenKruise's manager there does not run, or its gate for the kind is off",
    };
  };

export const oneLine = (value: unknown): string =>
  typeof value === "string" ? value.replaceAll(/\s+/g, " ").trim() : "";

/** `: text`, unless there is no text or it says nothing more. */
export function said(value: unknown, except?: string): string {
  const words = oneLine(value);
  return words === "" || words === except ? "" : `: ${words}`;
}

/** ` (n1, n2, n3 and 4 more)` */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return ` (${names.slice(0, MAX_NAMED).join(", ")}${more})`;
}

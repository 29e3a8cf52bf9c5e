/**
 * Pods that keep a release although the partition was raised: with a Retain rule that leaves fields of a release to the
 * members, the hub sends no previous template. Pure.
 */
import { findCondition } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";
import { letThrough } from "@flotilla/openkruise";
import { MEMBER_DECIDES } from "../propagation/dispatch/plan-member-decides.ts";
import type { Template } from "../propagation/templates.ts";
import type { Problem } from "./explanation.ts";
import type { Binding } from "./plan-template.ts";

/** The start of the problem, after the number of pods. */
export const NOT_TAKEN_BACK = "are not taken back";

export function unreturnedPods({ status }: Binding, template: Template): Problem[] {
  const decides = findCondition(status?.conditions, MEMBER_DECIDES);
  if (decides?.status !== "True") return [];
  const { spec, status: summed } = template as { spec?: unknown; status?: unknown };
  const { replicas, updateStrategy } = isObject(spec) ? spec : {};
  const strategy = isObject(updateStrategy) ? updateStrategy : {};
  const rolling = isObject(strategy["rollingUpdate"]) ? strategy["rollingUpdate"] : {};
  const partition = strategy["partition"] ?? rolling["partition"];
  if (typeof replicas !== "number" || (typeof partition !== "number" && typeof partition !== "string")) return [];
  // The hub's sum counts pods of the release. A member counts those of the template that it was sent, which may be the
  // previous one.
  const counted = isObject(summed) ? summed : {};
  const [pods, updated] = [countOf(counted["replicas"]), countOf(counted["updatedReplicas"])];
  const asked = letThrough(partition, replicas);
  // Without older pods there is no release in progress: new pods count as updated.
  if (updated <= asked || updated >= pods) return [];
  return [
    {
      what: `${updated - asked} pods ${NOT_TAKEN_BACK} from the release, which ${updated} pods have instead of ${asked}: ${decides.message ?? ""}`,
      try: "remove the fields from the Retain rule, or release the previous version",
    },
  ];
}

/** Warns the writer of a ClusterTaintPolicy whose taints are the hub's own, or those of another policy. */
import type { AdmissionStep } from "@flotilla/apimachinery";
import { ClusterTaintPolicy } from "@flotilla/karmada";
import { isOfCondition } from "./plan-taints.ts";

export const taintPolicyWarning: AdmissionStep<ClusterTaintPolicy> = {
  name: "TaintPolicyWarning",
  for: ClusterTaintPolicy,
  on: ["CREATE", "UPDATE"],
  matches: ({ subresource }) => subresource === undefined,
  check({ object, read, warn }) {
    const others = read.list(ClusterTaintPolicy).filter(({ metadata }) => metadata.name !== object.metadata.name);
    for (const [index, taint] of object.spec.taints.entries()) {
      const at = `spec.taints[${index}]`;
      const rival = others.find(({ spec }) =>
        spec.taints.some(({ key, effect }) => key === taint.key && effect === taint.effect),
      );
      if (isOfCondition(taint))
        warn(`${at}: the hub adds and removes ${taint.key} with the condition Ready; the policy does not change it`);
      else if (rival)
        warn(
          `${at}: ClusterTaintPolicy ${rival.metadata.name} has the same taint; where one adds what the other removes, the one that was created last decides`,
        );
    }
  },
};

/**
 * Splits a partition over members by a count that only they know: the nodes a DaemonSet runs on, the pods a SidecarSet
 * matches. A member that has not reported yet is held, because a share of nothing would let all of it through.
 */
import { isObject } from "../../base/index.ts";
import type { Share } from "../kind-interpreter.ts";
import { countOf } from "../replica-status.ts";
import { HOLD, splitPartition, type IntOrPercent } from "./split-partition.ts";

export function splitByObserved(partition: IntOrPercent, shares: readonly Share[], counter: string, rounding: "ceil" | "floor"): IntOrPercent[] {
  const sizes = shares.map(({ observed }) => (isObject(observed) ? countOf(observed[counter]) : 0));
  const split = splitPartition(partition, sizes, "spread", rounding);
  return split.map((each, index) => (sizes[index] === 0 ? HOLD : each));
}

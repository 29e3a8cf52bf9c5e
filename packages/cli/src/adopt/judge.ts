/**
 * Decides whether a difference leaves everything that runs on a member unchanged. A difference counts as harmful unless
 * it is known to be harmless: the template is built from what runs, so few differences should exist. Pure.
 */
import type { Json } from "@flotilla/base";
import { runsOnEveryNode } from "@flotilla/flotilla";
import { keptPods } from "@flotilla/openkruise";
import { valueAt } from "./differences.ts";
import type { Difference } from "./differences.ts";
import type { Live } from "./member-reader.ts";
import type { Copy } from "./merge-copies.ts";

/** How fast pods are replaced during an update. */
const PACE = /^spec\.(updateStrategy|scaleStrategy)(\.rollingUpdate)?\.(maxUnavailable|maxSurge)$/;
const PARTITION = /^spec\.updateStrategy(\.rollingUpdate)?\.partition$/;

export function isHarmless(
  difference: Difference,
  { object: live, isAutoscaled = false }: Pick<Copy, "object" | "isAutoscaled">,
): boolean {
  const { steps } = difference;
  if (steps[0] === "metadata") return true;
  const path = steps.join(".");
  // The hub leaves replicas to the autoscaler.
  if (path === "spec.replicas") return isAutoscaled;
  return PACE.test(path) || (PARTITION.test(path) && (isRolledOut(live) || holdsBackAlike(difference, live)));
}

/** No pod waits for another revision, so the partition has no effect. */
function isRolledOut(live: Live): boolean {
  const status = (name: string): unknown => valueAt(live, ["status", name]);
  const seen = status("observedGeneration");
  if (typeof seen !== "number" || seen < (live.metadata.generation ?? 0)) return false;
  const revision = status("updateRevision");
  if (typeof revision === "string" && revision !== "" && revision === status("currentRevision")) return true;
  const [all, updated] = [sizeOf(live), status("updatedReplicas") ?? status("updatedNumberScheduled")];
  return all !== undefined && all === updated;
}

/** `4` and `"100%"` of four pods are the same. */
function holdsBackAlike({ before, after }: Difference, live: Live): boolean {
  const size = sizeOf(live);
  if (size === undefined) return false;
  const rounding = runsOnEveryNode(live) ? "floor" : "ceil";
  const kept = [before, after].map((partition) =>
    isPartition(partition) ? keptPods(partition, size, rounding) : undefined,
  );
  return kept[0] !== undefined && kept[0] === kept[1];
}

const isPartition = (value: Json | undefined): value is number | string | undefined =>
  value === undefined ||
  typeof value === "number" ||
  (typeof value === "string" && /^\d{1,9}(\.\d{1,9})?%$/.test(value));

function sizeOf(live: Live): number | undefined {
  const size = valueAt(live, ["status", "replicas"]) ?? valueAt(live, ["status", "desiredNumberScheduled"]);
  return typeof size === "number" ? size : undefined;
}

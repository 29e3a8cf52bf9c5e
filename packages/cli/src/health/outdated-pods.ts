/**
 * Pods of an older revision that their controller never replaces while they do not become ready: those of an
 * OrderedReady StatefulSet, which waits for each pod before it updates the next one, and those of a controller with
 * the update strategy OnDelete. A correct template does not reach them; a deleted pod is created from it. Pure.
 */
import type { JsonObject } from "@flotilla/base";
import { isOwnedBy } from "../members/pods.ts";
import { numberOf, textOf, objectOf } from "@flotilla/base";

const REVISION_LABEL = "controller-revision-hash";
const ORDINAL = /-(?<ordinal>\d+)$/;

/** Whether the owner, as its member has it, leaves a pod that is not ready at an older revision until it is deleted. */
export function outdatedPodsOf(owner: JsonObject): (pod: JsonObject) => boolean {
  const [metadata, spec, status] = [objectOf(owner["metadata"]), objectOf(owner["spec"]), objectOf(owner["status"])];
  // OpenKruise's DaemonSet has another name for it up to v1alpha1. That of Kubernetes reports none.
  const revision = textOf(status["updateRevision"]) || textOf(status["daemonSetHash"]);
  // The status may still be of the template before.
  const isCurrent = numberOf(status["observedGeneration"]) >= numberOf(metadata["generation"]);
  if (!isCurrent || revision === "" || !keepsPods(textOf(owner["kind"]), spec)) return () => false;
  const uid = textOf(metadata["uid"]);
  const from = firstUpdated(spec);
  return (pod) => {
    const { name, labels } = objectOf(pod["metadata"]);
    const label = textOf(objectOf(labels)[REVISION_LABEL]);
    const { ordinal } = ORDINAL.exec(textOf(name))?.groups ?? {};
    return (
      label !== "" &&
      label !== revision &&
      // OpenKruise's label may be the hash alone.
      !revision.endsWith(`-${label}`) &&
      isOwnedBy(pod, uid) &&
      (from === 0 || Number(ordinal) >= from)
    );
  };
}

function keepsPods(kind: string, spec: JsonObject): boolean {
  const isOnDelete = objectOf(spec["updateStrategy"])["type"] === "OnDelete";
  if (kind === "StatefulSet") return isOnDelete || spec["podManagementPolicy"] !== "Parallel";
  return kind === "DaemonSet" && isOnDelete;
}

/** The ordinal from which on a pod is created from the newest template: a partition holds back those before it. */
function firstUpdated(spec: JsonObject): number {
  const strategy = objectOf(spec["updateStrategy"]);
  const partition = numberOf(objectOf(strategy["rollingUpdate"])["partition"]);
  return strategy["type"] === "OnDelete" || partition === 0
    ? 0
    : partition + numberOf(objectOf(spec["ordinals"])["start"]);
}

/** PersistentVolumeClaim: the member binds it to its own volume. */
import { SELECTED_NODE_ANNOTATION } from "../well-known-names.ts";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import type { KindInterpreter } from "../interpreter/kind-interpreter.ts";
import { withoutAnnotations } from "../interpreter/without-fields.ts";
import { reportedStatuses, withStatus } from "../interpreter/replica-status.ts";
import { textOf } from "@flotilla/base";

interface PersistentVolumeClaim extends KubernetesObject {
  spec?: { volumeName?: string };
  status?: JsonObject;
}

export const persistentVolumeClaimInterpreter: KindInterpreter<PersistentVolumeClaim> = {
  group: "",
  kind: "PersistentVolumeClaim",
  retain(desired, observed) {
    const volumeName = observed.spec?.volumeName;
    return volumeName ? { ...desired, spec: { ...desired.spec, volumeName } } : desired;
  },
  /** Bound when all are bound; otherwise Lost if any is lost, else the last phase that is not Bound. */
  aggregateStatus(claim, items) {
    const phases = reportedStatuses(items).map(({ phase }) => textOf(phase));
    const phase = phases.includes("Lost") ? "Lost" : (phases.findLast((each) => each !== "Bound") ?? "Bound");
    return withStatus(claim, phase ? { phase } : {});
  },
  isHealthy: ({ status }) => status?.["phase"] === "Bound",
  prune: (claim) =>
    claim.metadata.annotations?.[SELECTED_NODE_ANNOTATION]
      ? withoutAnnotations(claim, [SELECTED_NODE_ANNOTATION])
      : claim,
};

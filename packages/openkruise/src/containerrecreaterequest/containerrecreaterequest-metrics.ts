/** The metrics that kruise-state-metrics exports for a ContainerRecreateRequest. */
import type { StateKind, StateView } from "@flotilla/kubernetes";
import { ContainerRecreateRequest } from "./containerrecreaterequest-kind.ts";
import { familiesOf } from "../metrics/state-families.ts";
import { objectOf, listOf } from "@flotilla/base";

const recreateRequest = familiesOf("containerrecreaterequest");
const inPhase =
  (phase: string) =>
  ({ status }: StateView): number =>
    listOf(status["containerRecreateStates"]).filter((each) => objectOf(each)["phase"] === phase).length;
const isIn =
  (phase: string) =>
  ({ status }: StateView): number =>
    status["phase"] === phase ? 1 : 0;
export const recreateRequestStates: StateKind = {
  kind: ContainerRecreateRequest,
  label: "containerrecreaterequest",
  families: [
    recreateRequest.annotations,
    recreateRequest.labels,
    recreateRequest.created,
    recreateRequest.figure("containers_pending", "Containers waiting to be recreated.", inPhase("Pending")),
    recreateRequest.figure("containers_recreating", "Containers being recreated.", inPhase("Recreating")),
    recreateRequest.figure("containers_succeeded", "Recreated containers.", inPhase("Succeeded")),
    recreateRequest.figure("containers_failed", "Containers that could not be recreated.", inPhase("Failed")),
    recreateRequest.figure("pending", "1 while the request is pending.", isIn("Pending")),
    recreateRequest.figure("recreating", "1 while containers are being recreated.", isIn("Recreating")),
    recreateRequest.figure("completed", "1 when the request has completed.", isIn("Completed")),
  ],
};

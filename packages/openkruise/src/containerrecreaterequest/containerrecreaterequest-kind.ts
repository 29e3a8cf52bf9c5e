/** OpenKruise's ContainerRecreateRequest: restarts containers of a running pod. */
import { AGE } from "@flotilla/apimachinery";
import type { ContainerRecreateRequest as ContainerRecreateRequestFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import type { DeepReadonly } from "@flotilla/base";
import { kruiseKind } from "../api/kruise-kind.ts";
import { containerRecreateRequestDescriptions } from "./containerrecreaterequest-descriptions.ts";

export type ContainerRecreateRequest = ContainerRecreateRequestFacts;
export type ReadonlyRecreateRequest = DeepReadonly<ContainerRecreateRequest>;

export const ContainerRecreateRequest = kruiseKind<ContainerRecreateRequest>({
  kind: "ContainerRecreateRequest",
  plural: "containerrecreaterequests",
  shortNames: ["crr"],
  columns: [
    { name: "PHASE", type: "string", jsonPath: ".status.phase" },
    { name: "POD", type: "string", jsonPath: ".spec.podName" },
    { name: "NODE", type: "string", jsonPath: ".metadata.labels.crr\\.apps\\.kruise\\.io/node-name" },
    AGE,
  ],
  descriptions: containerRecreateRequestDescriptions,
});

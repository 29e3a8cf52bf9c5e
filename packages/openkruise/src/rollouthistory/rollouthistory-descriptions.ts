import type { FieldDescriptions } from "@flotilla/apimachinery";

const object = (at: string, what: string): FieldDescriptions => ({
  [at]: what,
  [`${at}.name`]: "The name of the object.",
  [`${at}.data`]: "Its spec at that time.",
});

export const rolloutHistoryDescriptions: FieldDescriptions = {
  "": "What a release of a Rollout was: its objects as they were, and the pods that each step updated.",
  spec: "The objects of the release.",
  ...object("spec.rollout", "The Rollout."),
  "spec.rollout.rolloutID": "The release, by the label rollouts.kruise.io/rollout-id of the workload.",
  ...object("spec.workload", "The workload."),
  "spec.workload.apiVersion": "The API version of the workload.",
  "spec.workload.kind": "The kind of the workload.",
  ...object("spec.service", "The service that was routed."),
  "spec.trafficRouting": "The routes of the service.",
  ...object("spec.trafficRouting.ingress", "The Ingress."),
  ...object("spec.trafficRouting.httpRoute", "The HTTPRoute."),
  status: "The pods by step.",
  "status.phase": "Pending, Progressing or Completed.",
  "status.canarySteps": "The steps.",
  "status.canarySteps[].canaryStepIndex": "The step, from 1.",
  "status.canarySteps[].pods": "The pods that it updated.",
};

import type { FieldDescriptions } from "@flotilla/apimachinery";

export const workloadRebalancerDescriptions: FieldDescriptions = {
  "": "Divides the replicas of workloads over the members again, once, without regard to where they run.",
  spec: "The workloads to reschedule.",
  "spec.workloads": "The templates. Workloads that are added later are rescheduled too, each once.",
  "spec.workloads[].apiVersion": "The API version of the template.",
  "spec.workloads[].kind": "The kind of the template.",
  "spec.workloads[].namespace": "The namespace of the template; empty for a cluster-scoped one.",
  "spec.workloads[].name": "The name of the template.",
  "spec.ttlSecondsAfterFinished":
    "Deletes this object so many seconds after every workload has a result. Unset: it is kept.",
  status: "The results.",
  "status.observedWorkloads": "The result for each workload.",
  "status.observedWorkloads[].workload": "The template.",
  "status.observedWorkloads[].result": "Successful: rescheduling was requested. Failed: see reason.",
  "status.observedWorkloads[].reason": "ReferencedBindingNotFound: no policy propagates the template.",
  "status.finishTime": "When every workload had a result.",
  "status.observedGeneration": "The generation that the status reflects.",
};

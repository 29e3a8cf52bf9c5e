import type { FieldDescriptions } from "@flotilla/apimachinery";

const handler = (at: string): FieldDescriptions => ({
  [`${at}.exec`]: "The command of the hook.",
  [`${at}.exec.command`]: "The program and its arguments.",
  [`${at}.httpGet`]: "The request of the hook.",
  [`${at}.httpGet.host`]: "The host; by default the pod.",
  [`${at}.httpGet.path`]: "The path.",
  [`${at}.httpGet.port`]: "The number or the name of the port.",
  [`${at}.httpGet.scheme`]: "HTTP, the default, or HTTPS.",
  [`${at}.httpGet.httpHeaders`]: "Headers of the request.",
  [`${at}.httpGet.httpHeaders[].name`]: "The name of the header.",
  [`${at}.httpGet.httpHeaders[].value`]: "The value of the header.",
  [`${at}.tcpSocket`]: "The connection of the hook.",
  [`${at}.tcpSocket.host`]: "The host; by default the pod.",
  [`${at}.tcpSocket.port`]: "The number or the name of the port.",
});

export const containerRecreateRequestDescriptions: FieldDescriptions = {
  "":
    "Restarts containers of a running pod, which keeps its node, its address and its volumes. On the hub, each " +
    "member that has a pod of this name restarts its own.",
  spec: "The pod and its containers. It cannot be changed.",
  "spec.podName": "The name of a running pod in the same namespace.",
  "spec.containers": "The containers to restart.",
  "spec.containers[].name": "The name of the container.",
  "spec.containers[].preStop": "Copied from the pod when the request is created; do not set it.",
  ...handler("spec.containers[].preStop"),
  "spec.containers[].ports": "Copied from the pod when the request is created; do not set it.",
  "spec.containers[].ports[].containerPort": "The port.",
  "spec.containers[].ports[].hostIP": "The address of the node.",
  "spec.containers[].ports[].hostPort": "The port of the node.",
  "spec.containers[].ports[].name": "The name of the port.",
  "spec.containers[].ports[].protocol": "TCP, UDP or SCTP.",
  "spec.containers[].statusContext": "The container that the request replaces; set when the request is created.",
  "spec.containers[].statusContext.containerID": "The id of the container.",
  "spec.containers[].statusContext.restartCount": "How often it had been restarted.",
  "spec.strategy": "How the containers are restarted.",
  "spec.strategy.failurePolicy":
    "Fail, the default, ends the request when one container cannot be stopped; Ignore continues with the others.",
  "spec.strategy.orderedRecreate": "Restarts a container only when the one before it is ready again.",
  "spec.strategy.forceRecreate": "Also restarts a container that has been restarted since the request was created.",
  "spec.strategy.terminationGracePeriodSeconds":
    "How long a container may take to stop; by default as long as the pod.",
  "spec.strategy.unreadyGracePeriodSeconds":
    "Makes the pod unready this long before its containers stop. Only for pods with the readiness gate KruisePodReady.",
  "spec.strategy.minStartedSeconds": "How long a restarted container must have run to count as restarted.",
  "spec.activeDeadlineSeconds": "When the request ends in any case; at least 3.",
  "spec.ttlSecondsAfterFinished": "When the request is deleted after its end; by default never.",
  status: "The progress. On the hub, of the slowest member.",
  "status.phase": "Pending behind another request for the pod, Recreating, or Completed, also after a failure.",
  "status.completionTime": "When the request ended.",
  "status.message": "Why it ended without restarting all containers.",
  "status.containerRecreateStates": "The containers.",
  "status.containerRecreateStates[].name": "The name of the container.",
  "status.containerRecreateStates[].phase": "Pending, Recreating, Succeeded or Failed.",
  "status.containerRecreateStates[].message": "Why it failed.",
  "status.containerRecreateStates[].isKilled": "Whether the container was stopped for this request.",
};

/** Descriptions of a probe, which several kinds have. */
import type { FieldDescriptions } from "@flotilla/apimachinery";

export const probeDescriptions: FieldDescriptions = {
  "": "How the container is probed.",
  exec: "Runs a command in the container; an exit code of 0 is a success.",
  "exec.command": "The program and its arguments.",
  httpGet: "Sends a request to the container; a status from 200 to 399 is a success.",
  "httpGet.host": "Not allowed: the probe is of the pod.",
  "httpGet.path": "The path.",
  "httpGet.port": "The number or the name of a port of the container.",
  "httpGet.scheme": "HTTP or HTTPS.",
  "httpGet.httpHeaders": "Headers of the request.",
  "httpGet.httpHeaders[].name": "The name of the header.",
  "httpGet.httpHeaders[].value": "The value of the header.",
  tcpSocket: "Opens a connection to the container.",
  "tcpSocket.host": "Not allowed: the probe is of the pod.",
  "tcpSocket.port": "The number or the name of a port of the container.",
  grpc: "Not supported by OpenKruise.",
  "grpc.port": "The port.",
  "grpc.service": "The service.",
  initialDelaySeconds: "How long after the start of the container the first probe is.",
  timeoutSeconds: "How long a probe may take.",
  periodSeconds: "How often the container is probed. Simulated nodes probe only when the pod or the probe changes.",
  successThreshold: "How many successes in a row count as one.",
  failureThreshold: "How many failures in a row count as one.",
  terminationGracePeriodSeconds: "Has no effect.",
};

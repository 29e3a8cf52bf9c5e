/**
 * OpenKruise's own workloads on a member: a Deployment for its controllers and a DaemonSet for its daemon. Their pods
 * represent parts of this process, named by an annotation; `kubectl logs` shows the log of these parts. They have no
 * resource requests.
 */
import type { DaemonSet, Deployment, Namespace } from "@flotilla/kubernetes";
import type { PodTemplateSpec } from "@flotilla/apimachinery/facts/core-v1.ts";

export const KRUISE_NAMESPACE = "kruise-system";
export const MANAGER = "kruise-controller-manager";
export const DAEMON = "kruise-daemon";
/** On a pod in a system namespace: the part of this process that the pod represents. */
export const IN_PROCESS_ANNOTATION = "flotilla.dev/in-process";
/** The release whose behavior the controllers implement. */
const IMAGE = "openkruise/kruise-manager:v1.9.1";

const template = (component: string, container: string): PodTemplateSpec => ({
  metadata: { labels: { "control-plane": component }, annotations: { [IN_PROCESS_ANNOTATION]: component } },
  spec: {
    containers: [
      {
        name: container,
        image: IMAGE,
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        imagePullPolicy: "IfNotPresent",
      },
    ],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 10,
    dnsPolicy: "ClusterFirst",
    // With the node's address the pod is identical on every member.
    hostNetwork: true,
    securityContext: {},
    schedulerName: "default-scheduler",
  },
});

/** The daemon runs on every node. */
const EVERYWHERE = [{ operator: "Exists" as const }];

/** OpenKruise's webhooks skip its own namespace by this label. */
export const kruiseNamespace = (): Namespace => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: KRUISE_NAMESPACE, labels: { "control-plane": "controller-manager" } },
});

export function managerDeployment(): Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: MANAGER, namespace: KRUISE_NAMESPACE, labels: { "control-plane": MANAGER } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { "control-plane": MANAGER } },
      template: template(MANAGER, "manager"),
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  };
}

export function daemonSet(): DaemonSet {
  const pods = template(DAEMON, "daemon");
  return {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: DAEMON, namespace: KRUISE_NAMESPACE, labels: { "control-plane": DAEMON } },
    spec: {
      selector: { matchLabels: { "control-plane": DAEMON } },
      template: { ...pods, spec: { containers: [], ...pods.spec, tolerations: EVERYWHERE } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "10%", maxSurge: 0 } },
      revisionHistoryLimit: 10,
    },
  };
}

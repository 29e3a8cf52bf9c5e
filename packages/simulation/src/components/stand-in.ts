/**
 * A Deployment whose pod represents a part of this process, named by an annotation: `kubectl logs` shows the log of
 * that part. It has no resource requests.
 */
import type { Deployment } from "@flotilla/kubernetes";
import { IN_PROCESS_ANNOTATION } from "./kruise-manifests.ts";

export interface StandIn {
  namespace: string;
  name: string;
  image: string;
  /** The component whose log it shows. */
  component: string;
}

export function standInDeployment({ namespace, name, image, component }: StandIn): Deployment {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { [IN_PROCESS_ANNOTATION]: component } },
        spec: {
          containers: [
            {
              name,
              image,
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
      },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    },
  };
}

/**
 * The objects that run an agent on a cluster: namespace, service account, RBAC, credentials and Deployment. Pure.
 *
 * Its rights are those that works need: all objects of every kind, and impersonating ServiceAccounts to check what a
 * work's executor may do. It may not impersonate users or groups. An administrator may grant the account less; objects
 * it may not apply are reported on the work.
 */
import { defined } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { RBAC_GROUP } from "@flotilla/kubernetes";

export interface AgentInstallation {
  cluster: string;
  namespace: string;
  image: string;
  kubeconfig: string;
  /** The kubeconfig is a bootstrap kubeconfig, not the agent's own credentials. */
  isBootstrap: boolean;
  /** More than one replica stands by; default 1. */
  replicas?: number;
}

const NAME = "flotilla-agent";

export function agentManifests(installation: AgentInstallation): Json[] {
  const { cluster, namespace, image, kubeconfig, isBootstrap, replicas = 1 } = installation;
  const labels = { app: NAME };
  const metadata = { name: NAME, namespace, labels };
  const secret = isBootstrap ? "bootstrap-hub-kubeconfig" : "hub-kubeconfig";
  const subjects = [{ kind: "ServiceAccount", name: NAME, namespace }];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRole",
      metadata: { name: NAME, labels },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
        // Works may contain roles that grant more than the agent itself has.
        { apiGroups: [RBAC_GROUP], resources: ["clusterroles", "roles"], verbs: ["escalate", "bind"] },
        // Only the API server can decide whether an executor grants rights that it does not have.
        { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
        {
          nonResourceURLs: [
            "/version",
            "/readyz",
            "/healthz",
            "/livez",
            "/api",
            "/api/*",
            "/apis",
            "/apis/*",
            "/openapi/*",
          ],
          verbs: ["get"],
        },
      ],
    },
    {
      apiVersion: `${RBAC_GROUP}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: NAME, labels },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: NAME },
      subjects,
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secret, namespace },
      type: "Opaque",
      data: { kubeconfig: Buffer.from(kubeconfig).toString("base64") },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas,
        // Two agents without leader election would apply everything twice.
        ...defined({ strategy: replicas === 1 ? { type: "Recreate" } : undefined }),
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: NAME,
            securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
            containers: [
              {
                name: "agent",
                image,
                args: [
                  "agent",
                  "--cluster-name",
                  cluster,
                  isBootstrap ? "--bootstrap-kubeconfig" : "--hub-kubeconfig",
                  "/etc/flotilla/kubeconfig",
                  "--namespace",
                  namespace,
                  ...(replicas > 1 ? ["--leader-elect"] : []),
                ],
                resources: { requests: { cpu: "20m", memory: "128Mi" }, limits: { memory: "512Mi" } },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ["ALL"] },
                },
                volumeMounts: [{ name: "kubeconfig", mountPath: "/etc/flotilla", readOnly: true }],
              },
            ],
            volumes: [{ name: "kubeconfig", secret: { secretName: secret } }],
          },
        },
      },
    },
  ];
}

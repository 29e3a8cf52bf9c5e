/**
 * The objects that run an agent on a cluster: its namespace, account, rights, credentials and Deployment. Pure.
 *
 * Its rights are what works need: objects of every kind, which is what a work may hold, and to try out in the name of a
 * ServiceAccount what a work with an executor asks for; it may become no user and no group. Who wants less gives the
 * account less: what it may not apply is told on the work.
 */
import type { Json } from "../../base/index.ts";

export interface AgentInstallation {
  cluster: string;
  namespace: string;
  image: string;
  kubeconfig: string;
  /** The kubeconfig asks for credentials, rather than being them. */
  isBootstrap: boolean;
  /** More than one stand by; unset is one. */
  replicas?: number;
}

const NAME = "flotilla-agent";
const RBAC = "rbac.authorization.k8s.io";

export function agentManifests({
  cluster,
  namespace,
  image,
  kubeconfig,
  isBootstrap,
  replicas = 1,
}: AgentInstallation): Json[] {
  const labels = { app: NAME };
  const metadata = { name: NAME, namespace, labels };
  const secret = isBootstrap ? "bootstrap-hub-kubeconfig" : "hub-kubeconfig";
  const subjects = [{ kind: "ServiceAccount", name: NAME, namespace }];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: NAME, labels },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "create", "update", "patch", "delete"] },
        // Works may carry roles that give more than the agent itself has.
        { apiGroups: [RBAC], resources: ["clusterroles", "roles"], verbs: ["escalate", "bind"] },
        // The server alone knows whether an executor hands out rights that it does not have.
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
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: NAME, labels },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: NAME },
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
        // Two that do not know of each other would do everything twice.
        ...(replicas === 1 && { strategy: { type: "Recreate" } }),
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

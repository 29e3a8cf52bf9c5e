/**
 * Facts: the role bindings of a new Kubernetes 1.36 cluster. Subjects are `<kind>:<name>`, service accounts
 * `ServiceAccount:<namespace>/<name>`.
 */

/** Cluster roles with a binding of the same name. */
export const clusterRoleBindings: Readonly<Record<string, readonly string[]>> = {
  "cluster-admin": ["Group:system:masters"],
  "system:basic-user": ["Group:system:authenticated"],
  "system:discovery": ["Group:system:authenticated"],
  "system:kube-controller-manager": ["User:system:kube-controller-manager"],
  "system:kube-dns": ["ServiceAccount:kube-system/kube-dns"],
  "system:kube-scheduler": ["User:system:kube-scheduler"],
  "system:monitoring": ["Group:system:monitoring"],
  "system:node": [],
  "system:node-proxier": ["User:system:kube-proxy"],
  "system:public-info-viewer": ["Group:system:authenticated", "Group:system:unauthenticated"],
  "system:service-account-issuer-discovery": ["Group:system:serviceaccounts"],
  "system:volume-scheduler": ["User:system:kube-scheduler"],
};

export const roleBindings: readonly { namespace: string; name: string; role: string; subjects: readonly string[] }[] = [
  {
    namespace: "kube-public",
    name: "system:controller:bootstrap-signer",
    role: "system:controller:bootstrap-signer",
    subjects: ["ServiceAccount:kube-system/bootstrap-signer"],
  },
  {
    namespace: "kube-system",
    name: "system::extension-apiserver-authentication-reader",
    role: "extension-apiserver-authentication-reader",
    subjects: ["User:system:kube-controller-manager", "User:system:kube-scheduler"],
  },
  {
    namespace: "kube-system",
    name: "system::leader-locking-kube-controller-manager",
    role: "system::leader-locking-kube-controller-manager",
    subjects: [
      "User:system:kube-controller-manager",
      "ServiceAccount:kube-system/kube-controller-manager",
      "ServiceAccount:kube-system/leader-election-controller",
    ],
  },
  {
    namespace: "kube-system",
    name: "system::leader-locking-kube-scheduler",
    role: "system::leader-locking-kube-scheduler",
    subjects: ["User:system:kube-scheduler", "ServiceAccount:kube-system/kube-scheduler"],
  },
  {
    namespace: "kube-system",
    name: "system:controller:bootstrap-signer",
    role: "system:controller:bootstrap-signer",
    subjects: ["ServiceAccount:kube-system/bootstrap-signer"],
  },
  {
    namespace: "kube-system",
    name: "system:controller:cloud-provider",
    role: "system:controller:cloud-provider",
    subjects: ["ServiceAccount:kube-system/cloud-provider"],
  },
  {
    namespace: "kube-system",
    name: "system:controller:token-cleaner",
    role: "system:controller:token-cleaner",
    subjects: ["ServiceAccount:kube-system/token-cleaner"],
  },
];

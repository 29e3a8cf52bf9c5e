/** Labels, annotations, taints, finalizers and types of Kubernetes that several folders or packages use. */

// Labels of nodes; the `BETA` ones are deprecated.

export const HOSTNAME_LABEL = "kubernetes.io/hostname";
export const ZONE_LABEL = "topology.kubernetes.io/zone";
export const REGION_LABEL = "topology.kubernetes.io/region";
export const ARCH_LABEL = "kubernetes.io/arch";
export const OS_LABEL = "kubernetes.io/os";
export const INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type";
export const BETA_ZONE_LABEL = "failure-domain.beta.kubernetes.io/zone";
export const BETA_REGION_LABEL = "failure-domain.beta.kubernetes.io/region";
export const BETA_ARCH_LABEL = "beta.kubernetes.io/arch";
export const BETA_OS_LABEL = "beta.kubernetes.io/os";
export const BETA_INSTANCE_TYPE_LABEL = "beta.kubernetes.io/instance-type";

// Taints of nodes.

export const NOT_READY_TAINT = "node.kubernetes.io/not-ready";
export const UNREACHABLE_TAINT = "node.kubernetes.io/unreachable";
export const UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable";

// Namespaces, pods and workloads.

export const NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name";
export const MIRROR_POD_ANNOTATION = "kubernetes.io/config.mirror";
export const POD_DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";
export const DEFAULT_CONTAINER_ANNOTATION = "kubectl.kubernetes.io/default-container";
export const SECCOMP_POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod";
export const CONTROLLER_REVISION_HASH_LABEL = "controller.kubernetes.io/hash";
export const JOB_NAME_LABEL = "batch.kubernetes.io/job-name";
export const JOB_UID_LABEL = "batch.kubernetes.io/controller-uid";
export const DEPLOYMENT_REVISION_ANNOTATION = "deployment.kubernetes.io/revision";
/** The former revisions of a ReplicaSet that a rollback made the newest again. */
export const DEPLOYMENT_REVISION_HISTORY_ANNOTATION = "deployment.kubernetes.io/revision-history";
export const DEPLOYMENT_DESIRED_REPLICAS_ANNOTATION = "deployment.kubernetes.io/desired-replicas";
export const DEPLOYMENT_MAX_REPLICAS_ANNOTATION = "deployment.kubernetes.io/max-replicas";

// Services and API services.

export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
export const HEADLESS_SERVICE_LABEL = "service.kubernetes.io/headless";
export const ENDPOINTS_MANAGED_BY_LABEL = "endpoints.kubernetes.io/managed-by";
export const ENDPOINT_SLICE_MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
export const AUTOMANAGED = "kube-aggregator.kubernetes.io/automanaged";

// Service accounts, tokens and certificates.

export const SERVICE_ACCOUNT_TOKEN_TYPE = "kubernetes.io/service-account-token";
export const SERVICE_ACCOUNT_NAME_ANNOTATION = "kubernetes.io/service-account.name";
export const SERVICE_ACCOUNT_UID_ANNOTATION = "kubernetes.io/service-account.uid";
export const MOUNTABLE_SECRETS_ANNOTATION = "kubernetes.io/enforce-mountable-secrets";
export const BOOTSTRAP_TOKEN_TYPE = "bootstrap.kubernetes.io/token";
/** In the extra values of a user: the node of a pod's token. */
export const NODE_NAME_EXTRA = "authentication.kubernetes.io/node-name";
/** Client certificates of this API server. */
export const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
/** The same for kubelets; requests of nodes may be approved automatically. */
export const KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet";

// Volumes.

export const VOLUME_PROTECTION_FINALIZER = "kubernetes.io/pv-protection";
export const CLAIM_PROTECTION_FINALIZER = "kubernetes.io/pvc-protection";
/** Of volume attributes classes. */
export const CLASS_PROTECTION_FINALIZER = "kubernetes.io/vac-protection";
export const DEFAULT_STORAGE_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class";
export const SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node";
export const STORAGE_PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner";
export const BIND_COMPLETED_ANNOTATION = "pv.kubernetes.io/bind-completed";
export const BOUND_BY_CONTROLLER_ANNOTATION = "pv.kubernetes.io/bound-by-controller";

/** Where the facts come from: published Go modules, the packages read from them, and the kinds to generate. */
export const MODULES: Record<string, string> = {
  "k8s.io/api": "v0.36.3",
  "k8s.io/apimachinery": "v0.36.3",
  "k8s.io/apiextensions-apiserver": "v0.36.3",
  "k8s.io/kube-aggregator": "v0.36.3",
  "github.com/karmada-io/karmada": "v1.18.1",
  "github.com/openkruise/kruise": "v1.9.1",
  "github.com/openkruise/rollouts": "v0.6.2",
  "sigs.k8s.io/gateway-api": "v0.7.1",
  "open-cluster-management.io/api": "v1.2.0",
};

export interface Source {
  /** The Go package, which is also how other packages refer to it. */
  package: string;
  module: string;
  /** Kinds, and other types to generate with everything they contain. */
  roots: string[];
  /** False for kinds of which only TypeScript types are generated, because their schema comes from a CustomResourceDefinition. */
  table: boolean;
}

/** By the name of the file that is written to `packages/apimachinery/src/kind/facts/`. */
export const SOURCES: Record<string, Source> = {
  "meta-v1": {
    package: "k8s.io/apimachinery/pkg/apis/meta/v1",
    module: "k8s.io/apimachinery",
    roots: ["ObjectMeta", "DeleteOptions", "LabelSelector", "Condition", "Status", "PartialObjectMetadata"],
    table: true,
  },
  "core-v1": {
    package: "k8s.io/api/core/v1",
    module: "k8s.io/api",
    roots:
      "Namespace ConfigMap Secret ServiceAccount Pod PodTemplate Node Event Service Endpoints ReplicationController PersistentVolume PersistentVolumeClaim ResourceQuota LimitRange Binding ComponentStatus".split(
        " ",
      ),
    table: true,
  },
  "apps-v1": {
    package: "k8s.io/api/apps/v1",
    module: "k8s.io/api",
    roots: ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"],
    table: true,
  },
  ...kubernetes("authentication", "v1", "TokenRequest", "TokenReview", "SelfSubjectReview"),
  ...kubernetes(
    "authorization",
    "v1",
    "SubjectAccessReview",
    "SelfSubjectAccessReview",
    "LocalSubjectAccessReview",
    "SelfSubjectRulesReview",
  ),
  ...kubernetes("autoscaling", "v1", "Scale", "HorizontalPodAutoscaler"),
  ...kubernetes("autoscaling", "v2", "HorizontalPodAutoscaler"),
  ...kubernetes("batch", "v1", "Job", "CronJob"),
  ...kubernetes("certificates", "v1", "CertificateSigningRequest"),
  ...kubernetes("coordination", "v1", "Lease"),
  ...kubernetes("discovery", "v1", "EndpointSlice"),
  ...kubernetes("events", "v1", "Event"),
  ...kubernetes("flowcontrol", "v1", "FlowSchema", "PriorityLevelConfiguration"),
  ...kubernetes("networking", "v1", "Ingress", "IngressClass", "NetworkPolicy", "ServiceCIDR", "IPAddress"),
  ...kubernetes("node", "v1", "RuntimeClass"),
  ...kubernetes("policy", "v1", "PodDisruptionBudget", "Eviction"),
  ...kubernetes("rbac", "v1", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"),
  ...kubernetes("resource", "v1", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"),
  ...kubernetes("scheduling", "v1", "PriorityClass"),
  ...kubernetes(
    "storage",
    "v1",
    "StorageClass",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "VolumeAttachment",
    "VolumeAttributesClass",
  ),
  "apiextensions-v1": {
    package: "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1",
    module: "k8s.io/apiextensions-apiserver",
    roots: ["CustomResourceDefinition"],
    table: true,
  },
  "apiregistration-v1": {
    package: "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1",
    module: "k8s.io/kube-aggregator",
    roots: ["APIService"],
    table: true,
  },
  "cluster-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: ["Cluster"],
    table: true,
  },
  "policy-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: [
      "PropagationPolicy",
      "ClusterPropagationPolicy",
      "OverridePolicy",
      "ClusterOverridePolicy",
      "ClusterTaintPolicy",
      "FederatedResourceQuota",
    ],
    // Karmada's webhooks read every object as a Go struct and write that.
    table: true,
  },
  ...kubernetes(
    "admissionregistration",
    "v1",
    "ValidatingWebhookConfiguration",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
  ),
  "config-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: ["ResourceInterpreterCustomization", "ResourceInterpreterWebhookConfiguration"],
    table: false,
  },
  "work-karmada-v1alpha2": {
    package: "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2",
    module: "github.com/karmada-io/karmada",
    roots: ["ResourceBinding", "ClusterResourceBinding"],
    table: true,
  },
  "work-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/work/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: ["Work"],
    table: true,
  },
  "autoscaling-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/autoscaling/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: ["FederatedHPA", "CronFederatedHPA"],
    table: true,
  },
  "apps-karmada-v1alpha1": {
    package: "github.com/karmada-io/karmada/pkg/apis/apps/v1alpha1",
    module: "github.com/karmada-io/karmada",
    roots: ["WorkloadRebalancer"],
    table: false,
  },
  "pub-kruise": {
    package: "github.com/openkruise/kruise/apis/apps/pub",
    module: "github.com/openkruise/kruise",
    roots: [],
    table: true,
  },
  "apps-kruise-v1alpha1": {
    package: "github.com/openkruise/kruise/apis/apps/v1alpha1",
    module: "github.com/openkruise/kruise",
    // Every kind, so that one can be served without generating facts for it first.
    roots: [
      "CloneSet",
      "StatefulSet",
      "DaemonSet",
      "SidecarSet",
      "UnitedDeployment",
      "BroadcastJob",
      "AdvancedCronJob",
      "ContainerRecreateRequest",
      "EphemeralJob",
      "ImageListPullJob",
      "ImagePullJob",
      "NodeImage",
      "NodePodProbe",
      "PersistentPodState",
      "PodProbeMarker",
      "ResourceDistribution",
      "WorkloadSpread",
    ],
    // OpenKruise's webhooks read every object as a Go struct.
    table: true,
  },
  "apps-kruise-v1beta1": {
    package: "github.com/openkruise/kruise/apis/apps/v1beta1",
    module: "github.com/openkruise/kruise",
    roots: [
      "StatefulSet",
      "DaemonSet",
      "SidecarSet",
      "BroadcastJob",
      "AdvancedCronJob",
      "ImageListPullJob",
      "ImagePullJob",
      "NodeImage",
    ],
    table: true,
  },
  // Only what kruise-rollout's kinds contain of it.
  "gateway-v1beta1": {
    package: "sigs.k8s.io/gateway-api/apis/v1beta1",
    module: "sigs.k8s.io/gateway-api",
    roots: [],
    table: true,
  },
  ...rollouts("v1alpha1", "Rollout", "BatchRelease", "RolloutHistory", "TrafficRouting"),
  ...rollouts("v1beta1", "Rollout", "BatchRelease"),
  ...ocm("cluster", "v1", "ManagedCluster"),
  ...ocm("cluster", "v1beta2", "ManagedClusterSet", "ManagedClusterSetBinding"),
  ...ocm("cluster", "v1beta1", "Placement", "PlacementDecision"),
  ...ocm("cluster", "v1alpha1", "AddOnPlacementScore", "ClusterClaim"),
  ...ocm("work", "v1", "ManifestWork", "AppliedManifestWork"),
  ...ocm("work", "v1alpha1", "ManifestWorkReplicaSet"),
  "policy-kruise-v1alpha1": {
    package: "github.com/openkruise/kruise/apis/policy/v1alpha1",
    module: "github.com/openkruise/kruise",
    roots: ["PodUnavailableBudget"],
    table: true,
  },
};

function kubernetes(group: string, version: string, ...roots: string[]): Record<string, Source> {
  return {
    [`${group}-${version}`]: { package: `k8s.io/api/${group}/${version}`, module: "k8s.io/api", roots, table: true },
  };
}

/** Of kruise-rollout's group. */
function rollouts(version: string, ...roots: string[]): Record<string, Source> {
  const module = "github.com/openkruise/rollouts";
  return { [`rollouts-kruise-${version}`]: { package: `${module}/api/${version}`, module, roots, table: true } };
}

/** Of Open Cluster Management's groups, whose webhooks read every object as a Go struct. */
function ocm(group: string, version: string, ...roots: string[]): Record<string, Source> {
  const module = "open-cluster-management.io/api";
  return { [`${group}-ocm-${version}`]: { package: `${module}/${group}/${version}`, module, roots, table: true } };
}

/** CustomResourceDefinitions, by `<plural>.<group>`. */
export const DEFINITIONS: Record<string, { module: string; path: string }> = Object.fromEntries([
  ...[
    "propagationpolicies",
    "clusterpropagationpolicies",
    "overridepolicies",
    "clusteroverridepolicies",
    "clustertaintpolicies",
    "federatedresourcequotas",
  ].map((plural) => karmada("policy", plural)),
  ...["federatedhpas", "cronfederatedhpas"].map((plural) => karmada("autoscaling", plural)),
  ...["resourcebindings", "clusterresourcebindings", "works"].map((plural) => karmada("work", plural)),
  karmada("apps", "workloadrebalancers"),
  ...["resourceinterpretercustomizations", "resourceinterpreterwebhookconfigurations"].map((plural) =>
    karmada("config", plural),
  ),
  ...[
    "clonesets",
    "statefulsets",
    "daemonsets",
    "sidecarsets",
    "uniteddeployments",
    "broadcastjobs",
    "advancedcronjobs",
    "containerrecreaterequests",
    "ephemeraljobs",
    "imagelistpulljobs",
    "imagepulljobs",
    "nodeimages",
    "nodepodprobes",
    "persistentpodstates",
    "podprobemarkers",
    "resourcedistributions",
    "workloadspreads",
  ].map((plural) => kruise("apps", plural)),
  kruise("policy", "podunavailablebudgets"),
  ...["rollouts", "batchreleases", "rollouthistories", "trafficroutings"].map((plural) =>
    kruise("rollouts", plural, "rollouts"),
  ),
  ocmDefinition("managedclusters", "cluster/v1/0000_00_clusters"),
  ocmDefinition("managedclustersets", "cluster/v1beta2/0000_00_clusters"),
  ocmDefinition("managedclustersetbindings", "cluster/v1beta2/0000_01_clusters"),
  ocmDefinition("placements", "cluster/v1beta1/0000_02_clusters"),
  ocmDefinition("placementdecisions", "cluster/v1beta1/0000_03_clusters"),
  ocmDefinition("addonplacementscores", "cluster/v1alpha1/0000_05_clusters"),
  ocmDefinition("clusterclaims", "cluster/v1alpha1/0000_02_clusters"),
  ocmDefinition("manifestworks", "work/v1/0000_00_work"),
  ocmDefinition("appliedmanifestworks", "work/v1/0000_01_work"),
  ocmDefinition("manifestworkreplicasets", "work/v1alpha1/0000_00_work"),
]);

function kruise(group: string, plural: string, project = "kruise"): [string, { module: string; path: string }] {
  return [
    `${plural}.${group}.kruise.io`,
    { module: `github.com/openkruise/${project}`, path: `config/crd/bases/${group}.kruise.io_${plural}.yaml` },
  ];
}

function karmada(group: string, plural: string): [string, { module: string; path: string }] {
  return [
    `${plural}.${group}.karmada.io`,
    {
      module: "github.com/karmada-io/karmada",
      path: `charts/karmada/_crds/bases/${group}/${group}.karmada.io_${plural}.yaml`,
    },
  ];
}

/** Open Cluster Management's files start with the package, a number and the group, which some of them misspell. */
function ocmDefinition(plural: string, start: string): [string, { module: string; path: string }] {
  const group = `${start.split("/")[0]}.open-cluster-management.io`;
  return [
    `${plural}.${group}`,
    { module: "open-cluster-management.io/api", path: `${start}.open-cluster-management.io_${plural}.crd.yaml` },
  ];
}

/**
 * The manifests of the demo, as a user would write them. They are written to the temporary folder, where the commands
 * find them.
 */

export const APP = "registry.example.com/shop/web";
export const REPLICAS = 10;
/** How many pods an update leaves unchanged: a number for the whole fleet, however the replicas are divided. */
export const PARTITION = 7;
/** Replicas on the one member served through Open Cluster Management. */
export const OCM_REPLICAS = 3;

const shop = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: shop
  namespace: shop
spec:
  resourceSelectors:
    - apiVersion: apps.kruise.io/v1alpha1
      kind: CloneSet
  failover:
    cluster:
      purgeMode: Gracefully          # the old copy stays until the new one is up
  placement:
    replicaScheduling:
      replicaSchedulingType: Divided
      replicaDivisionPreference: Weighted
      weightPreference:
        staticWeightList:
          - targetCluster: { clusterNames: [member1] }
            weight: 2
          - targetCluster: { clusterNames: [member2] }
            weight: 1
          - targetCluster: { clusterNames: [member3] }
            weight: 1
---
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata:
  name: web
  namespace: shop
  labels: { app: web }
spec:
  replicas: ${REPLICAS}
  selector:
    matchLabels: { app: web }
  updateStrategy:
    type: InPlaceIfPossible
    maxUnavailable: 50%
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
        - name: web
          image: ${APP}:1.0
          resources:
            requests: { cpu: 100m, memory: 128Mi }
`;

const mirror = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata:
  name: mirror
  namespace: shop
spec:
  resourceSelectors:
    - apiVersion: apps.kruise.io/v1alpha1
      kind: CloneSet
  overrideRules:
    - targetCluster: { clusterNames: [member2] }
      overriders:
        imageOverrider:
          - predicate:
              path: /spec/template/spec/containers/0/image
            component: Registry
            operator: replace
            value: mirror.example.net
`;

const work = `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  name: web
  namespace: member3                 # the cluster
spec:
  workload:
    manifests:
      - apiVersion: v1
        kind: Namespace
        metadata: { name: shop-ocm }
      - apiVersion: apps.kruise.io/v1alpha1
        kind: CloneSet
        metadata: { name: web, namespace: shop-ocm, labels: { app: web } }
        spec:
          replicas: ${OCM_REPLICAS}
          selector:
            matchLabels: { app: web }
          template:
            metadata:
              labels: { app: web }
            spec:
              containers:
                - name: web
                  image: ${APP}:1.1
  manifestConfigs:
    - resourceIdentifier: { group: apps.kruise.io, resource: clonesets, namespace: shop-ocm, name: web }
      feedbackRules:
        - type: JSONPaths
          jsonPaths:
            - { name: readyReplicas, path: .status.readyReplicas }
`;

const failover = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata:
  name: leave-failed-members
spec:
  addOnConditions:
    - conditionType: Ready
      operator: NotIn
      statusValues: ["True"]
  removeOnConditions:
    - conditionType: Ready
      operator: In
      statusValues: ["True"]
  taints:
    - key: failed
      effect: NoExecute
`;

const rebalance = `apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata:
  name: shop
spec:
  workloads:
    - apiVersion: apps.kruise.io/v1alpha1
      kind: CloneSet
      namespace: shop
      name: web
`;

export const FILES: Readonly<Record<string, string>> = {
  "shop.yaml": shop,
  "mirror.yaml": mirror,
  "work.yaml": work,
  "failover.yaml": failover,
  "rebalance.yaml": rebalance,
};

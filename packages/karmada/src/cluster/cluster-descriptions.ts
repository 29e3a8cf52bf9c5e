import { conditionsDescriptions, descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

const secretDescriptions: FieldDescriptions = {
  namespace: "The namespace of the Secret.",
  name: "The name of the Secret.",
};

export const clusterDescriptions: FieldDescriptions = {
  "": "A member of the fleet: its connection, health, served kinds and available resources.",
  spec: "How the hub reaches the member, where it is, and its taints.",
  "spec.id":
    "The UID of the member's namespace kube-system, by which flotilla join finds a cluster that joined under another name.",
  "spec.syncMode":
    "Push: the hub connects to the member. Pull: an agent on the member connects to the hub and fetches its Works.",
  "spec.apiEndpoint": "The address of the member's API server. Required for Push.",
  "spec.secretRef":
    "The Secret with the hub's credentials for the member: token, and caBundle unless the certificate is not verified.",
  ...descriptionsAt("spec.secretRef", secretDescriptions),
  "spec.impersonatorSecretRef":
    "The Secret with the token for requests that users send through the proxy of the Cluster. Unset: the proxy rejects them.",
  ...descriptionsAt("spec.impersonatorSecretRef", secretDescriptions),
  "spec.insecureSkipTLSVerification":
    "true accepts any certificate of the member. Other hosts can then impersonate it.",
  "spec.proxyURL": "The proxy through which the hub reaches the member: an http, https or socks5 URL.",
  "spec.proxyHeader": "HTTP headers for the proxy; several values are separated by commas. Ignored without proxyURL.",
  "spec.proxyHeader.*": "The values of the header.",
  "spec.provider": "The provider of the member, for affinities and spread constraints.",
  "spec.region": "The region of the member, for affinities and spread constraints.",
  "spec.zone": "Deprecated: use zones, to which it is moved.",
  "spec.zones": "The zones of the member, for affinities and spread constraints.",
  "spec.taints":
    "Keep objects off the member if their policy does not tolerate them. The hub adds taints to members that are not ready.",
  "spec.taints[].key": "The key of the taint.",
  "spec.taints[].value": "The value of the taint.",
  "spec.taints[].effect":
    "NoSchedule keeps new objects off the member. NoExecute also moves those that run there, if their policy " +
    "has failover.cluster. PreferNoSchedule is rejected.",
  "spec.taints[].timeAdded":
    "When the taint was added; tolerationSeconds counts from it. The hub sets it for NoExecute.",
  "spec.resourceModels":
    "Node sizes. The scheduler counts the free nodes of each size to estimate how many replicas fit. A new Cluster without models gets nine default sizes.",
  "spec.resourceModels[].grade": "The order of the sizes, from small to large.",
  "spec.resourceModels[].ranges": "The resources of a node of this size. All sizes must name the same resources.",
  "spec.resourceModels[].ranges[].name": "The resource, such as cpu.",
  "spec.resourceModels[].ranges[].min": "The least amount, inclusive. The first size always starts at 0.",
  "spec.resourceModels[].ranges[].max":
    "The upper limit, exclusive, where the next size begins. The last size has no limit.",

  status: "What the hub observed of the member.",
  "status.kubernetesVersion": "The version that the member reports.",
  "status.apiEnablements": "The kinds that the member serves. A resource of another kind is not scheduled there.",
  "status.apiEnablements[].groupVersion": "The group and version, such as apps/v1.",
  "status.apiEnablements[].resources": "The resources of the group and version.",
  "status.apiEnablements[].resources[].name": "The plural name of the resource.",
  "status.apiEnablements[].resources[].kind": "The kind of the resource.",
  "status.conditions": "Ready, CompleteAPIEnablements and Unjoining.",
  ...descriptionsAt("status.conditions", conditionsDescriptions),
  "status.nodeSummary": "The number of nodes.",
  "status.nodeSummary.totalNum": "All nodes.",
  "status.nodeSummary.readyNum": "Nodes that are ready.",
  "status.resourceSummary": "The resources of the nodes, and the requests of the pods.",
  "status.resourceSummary.allocatable": "The resources of the nodes that pods can use, summed.",
  "status.resourceSummary.allocating": "The requests of pods that wait for a node, summed.",
  "status.resourceSummary.allocated": "The requests of pods that have a node, summed.",
  "status.resourceSummary.allocatableModelings": "The number of free nodes of each size in spec.resourceModels.",
  "status.resourceSummary.allocatableModelings[].grade": "The size.",
  "status.resourceSummary.allocatableModelings[].count": "The number of nodes.",
  "status.remedyActions": "Not used: the hub has no remedy controller.",
};

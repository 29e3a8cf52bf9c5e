/**
 * Definitions in the place of built-in kinds that Flotilla does not serve. Stock controllers list these kinds before they begin,
 * and wait for ever on a server that lacks them; with a definition they find that there are none.
 */
const KINDS: readonly { group: string; plural: string; kind: string; namespaced?: true }[] = [
  { group: "admissionregistration.k8s.io", plural: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy" },
  { group: "certificates.k8s.io", plural: "certificatesigningrequests", kind: "CertificateSigningRequest" },
  { group: "networking.k8s.io", plural: "ipaddresses", kind: "IPAddress" },
  { group: "networking.k8s.io", plural: "servicecidrs", kind: "ServiceCIDR" },
  { group: "resource.k8s.io", plural: "deviceclasses", kind: "DeviceClass" },
  { group: "resource.k8s.io", plural: "resourceclaims", kind: "ResourceClaim", namespaced: true },
  { group: "resource.k8s.io", plural: "resourceclaimtemplates", kind: "ResourceClaimTemplate", namespaced: true },
  { group: "resource.k8s.io", plural: "resourceslices", kind: "ResourceSlice" },
  { group: "storage.k8s.io", plural: "csidrivers", kind: "CSIDriver" },
  { group: "storage.k8s.io", plural: "csinodes", kind: "CSINode" },
  { group: "storage.k8s.io", plural: "csistoragecapacities", kind: "CSIStorageCapacity", namespaced: true },
  { group: "storage.k8s.io", plural: "volumeattachments", kind: "VolumeAttachment" },
  { group: "storage.k8s.io", plural: "volumeattributesclasses", kind: "VolumeAttributesClass" },
];

export function standIns(): object {
  return { apiVersion: "v1", kind: "List", items: KINDS.map(definition) };
}

function definition({ group, plural, kind, namespaced }: (typeof KINDS)[number]): object {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    // Groups of Kubernetes itself are reserved; this says that we know.
    metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, stands in for a built-in kind" } },
    spec: { group, scope: namespaced ? "Namespaced" : "Cluster", names: { plural, kind }, versions: [{ name: "v1", served: true, storage: true, schema }] },
  };
}

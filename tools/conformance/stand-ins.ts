/**
 * CRDs for built-in kinds that Flotilla does not serve. Stock controllers list these kinds before they start, and wait
 * forever on a server that lacks them; with a CRD the list is empty.
 */
const KINDS: readonly { group: string; plural: string; kind: string }[] = [
  { group: "admissionregistration.k8s.io", plural: "validatingadmissionpolicies", kind: "ValidatingAdmissionPolicy" },
];

export function standIns(): object {
  return { apiVersion: "v1", kind: "List", items: KINDS.map(definition) };
}

function definition({ group, plural, kind }: (typeof KINDS)[number]): object {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    // Kubernetes' own groups are reserved; this annotation acknowledges it.
    metadata: {
      name: `${plural}.${group}`,
      annotations: { "api-approved.kubernetes.io": "unapproved, stands in for a built-in kind" },
    },
    spec: {
      group,
      scope: "Cluster",
      names: { plural, kind },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

/** Warns of names that Kubernetes reserves. */
const STATIC_SUFFIX = ".static.k8s.io";

/** Names of configurations that a kube-apiserver reads from files. */
export function nameWarnings({ metadata: { name = "" } }: { metadata: { readonly name?: string } }): string[] {
  return name.endsWith(STATIC_SUFFIX)
    ? [
        `metadata.name: names ending with ${JSON.stringify(STATIC_SUFFIX)} are reserved for static ` +
          "manifest-based configurations and cannot be managed via the API",
      ]
    : [];
}

/** The Kubernetes version whose API is served. */
export const KUBERNETES_VERSION = "v1.36.3";

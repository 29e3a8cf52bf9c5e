/** Names of what an installation on an existing Kubernetes cluster consists of. */

/** The account of `flotilla controllers`, and the name of its Deployment. */
export const CONTROLLERS_NAME = "flotilla-controllers";
/** The account of `flotilla webhooks`; also its Deployment, its Service and its admission configurations. */
export const WEBHOOKS_NAME = "flotilla-webhooks";
/** The Secret with the authority and the certificate of the webhooks. */
export const WEBHOOKS_CERTIFICATE = "flotilla-webhooks-tls";
/** The ConfigMap that says what is installed. */
export const INSTALL_RECORD = "flotilla-install";

/** On every object of an installation, so that it can be listed, replaced and removed. */
export const INSTALLED_LABEL = "flotilla.dev/installed";
export const INSTALLED_LABELS: Readonly<Record<string, string>> = {
  "app.kubernetes.io/part-of": "flotilla",
  [INSTALLED_LABEL]: "true",
};

/**
 * The version in which the API server of the cluster itself serves Clusters, where `v1alpha1` is served by the process of
 * the webhooks: its subresource `proxy` cannot be part of a CustomResourceDefinition.
 */
export const STORED_CLUSTERS = "stored";

/** Of the process of the webhooks. */
export const WEBHOOK_PATHS = {
  mutate: "/admission/mutate",
  validate: "/admission/validate",
  convert: "/conversion",
} as const;
/** The port on which it listens in its pod. */
export const WEBHOOKS_PORT = 9443;
/** The port of its metrics and health checks. */
export const WEBHOOKS_METRICS_PORT = 9104;
export const CONTROLLERS_METRICS_PORT = 9103;

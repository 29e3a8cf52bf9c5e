/** Annotations of OpenKruise that several folders use. */
export const PREDOWNLOAD_MIN_READY_ANNOTATION = "apps.kruise.io/image-predownload-min-updated-ready-pods";
export const PREDOWNLOAD_PARALLELISM_ANNOTATION = "apps.kruise.io/image-predownload-parallelism";
export const PREDOWNLOAD_TIMEOUT_ANNOTATION = "apps.kruise.io/image-predownload-timeout-seconds";
export const CUSTOM_VERSION_LABEL = "apps.kruise.io/sidecarset-custom-version";

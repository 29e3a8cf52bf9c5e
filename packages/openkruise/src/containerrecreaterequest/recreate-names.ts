/** The labels, the annotations and the finalizer of ContainerRecreateRequests. */
export const POD_UID_LABEL = "crr.apps.kruise.io/pod-uid";
export const NODE_NAME_LABEL = "crr.apps.kruise.io/node-name";
export const ACTIVE_LABEL = "crr.apps.kruise.io/active";
/** What the controller sees of the restarted containers, for the daemon, which has no access to pods. */
export const CONTAINERS_ANNOTATION = "crr.apps.kruise.io/sync-container-statuses";
/** An annotation with the time since which the pod is not ready, and a finalizer until it may be ready again. */
export const UNREADY_ACQUIRED = "crr.apps.kruise.io/unready-acquired";

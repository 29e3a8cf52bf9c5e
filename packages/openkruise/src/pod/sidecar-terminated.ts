/** The condition of a pod that was declared finished while sidecars were still running. */
export const SIDECAR_TERMINATED = "SidecarTerminated";

/** Nodes without a daemon: those of a virtual kubelet. */
export const isVirtualNode = (labels: Readonly<Record<string, string>> | undefined): boolean =>
  labels?.["type"] === "virtual-kubelet";

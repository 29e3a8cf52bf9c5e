/** Nodes without kubelets: enough for tests that need a schedulable node and never wait for a container. */

export function bareNodes(names: readonly string[]): { names: readonly string[]; list: object } {
  return { names, list: { apiVersion: "v1", kind: "List", items: names.map(bareNode) } };
}

function bareNode(name: string): object {
  const resources = { cpu: "8", memory: "16Gi", pods: "110", "ephemeral-storage": "100Gi" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    },
    spec: {},
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: "InternalIP", address: "192.0.2.1" },
        { type: "Hostname", address: name },
      ],
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "" }],
      nodeInfo: {
        architecture: "amd64",
        bootID: "",
        containerRuntimeVersion: "containerd://2.0.0",
        kernelVersion: "6.0.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.0",
        machineID: "",
        operatingSystem: "linux",
        osImage: "",
        systemUUID: "",
      },
    },
  };
}

/** Nodes without kubelets: enough for tests that need a schedulable node and never wait for a container. */
import { execFileSync } from "node:child_process";

const NOT_READY = "node.kubernetes.io/not-ready";

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

/** A new node is tainted until a controller marks it as ready; here this tool does. */
export function makeNodes(kubectl: string, kubeconfig: string, { names, list }: ReturnType<typeof bareNodes>): void {
  const run = (args: string[], input = ""): void =>
    void execFileSync(kubectl, ["--kubeconfig", kubeconfig, ...args], { input, stdio: ["pipe", "ignore", "inherit"] });
  run(["create", "-f", "-"], JSON.stringify(list));
  // With simulated nodes another controller does so as well, and may have been faster.
  for (const { name, taints } of taintsOf(kubectl, kubeconfig, names))
    if (taints.includes(NOT_READY)) run(["taint", "nodes", name, `${NOT_READY}-`]);
}

function taintsOf(kubectl: string, kubeconfig: string, names: readonly string[]): { name: string; taints: string }[] {
  return names.map((name) => ({
    name,
    taints: execFileSync(
      kubectl,
      ["--kubeconfig", kubeconfig, "get", "node", name, "-o", "jsonpath={.spec.taints[*].key}"],
      { encoding: "utf8" },
    ),
  }));
}

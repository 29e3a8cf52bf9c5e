/** Node: a machine that runs pods. */
import type { DeepReadonly } from "@flotilla/base";
import { ageColumn, builtInKind, column, nameColumn, wide } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import type { Node as NodeFacts } from "@flotilla/apimachinery/facts/core-v1.ts";

export type Node = NodeFacts;

function status({ spec, status: { conditions = [] } = {} }: DeepReadonly<Node>): string {
  const ready = conditions.find(({ type }) => type === "Ready");
  const words = [ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady"];
  if (spec?.unschedulable) words.push("SchedulingDisabled");
  return words.join(",");
}

function roles({ metadata }: DeepReadonly<Node>): string {
  const names = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith("node-role.kubernetes.io/")) names.add(key.slice("node-role.kubernetes.io/".length));
    else if (key === "kubernetes.io/role" && value) names.add(value);
  }
  names.delete("");
  return names.size === 0 ? "<none>" : [...names].sort().join(",");
}

/** The architecture reported by the kernel. */
function kernel({ status }: DeepReadonly<Node>): string {
  const { kernelVersion, architecture } = status?.nodeInfo ?? {};
  return `${kernelVersion || "<unknown>"}${architecture ? ` (${architecture})` : ""}`;
}

const address =
  (type: string) =>
  (node: DeepReadonly<Node>): string =>
    node.status?.addresses?.find((item) => item.type === type)?.address ?? "<none>";

export const Node: Kind<Node> = builtInKind<Node>({
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  shortNames: ["no"],
  scope: "Cluster",
  facts: "core-v1",
  columns: [
    nameColumn,
    column<Node>("Status", status),
    column<Node>("Roles", roles),
    ageColumn,
    column<Node>("Version", (node) => node.status?.nodeInfo?.kubeletVersion ?? ""),
    column<Node>("Internal-IP", address("InternalIP"), wide),
    column<Node>("External-IP", address("ExternalIP"), wide),
    column<Node>("OS-Image", (node) => node.status?.nodeInfo?.osImage || "<unknown>", wide),
    column<Node>("Kernel-Version", kernel, wide),
    column<Node>("Container-Runtime", (node) => node.status?.nodeInfo?.containerRuntimeVersion || "<unknown>", wide),
  ],
  subresources: { status: true },
  traits: {
    untrackedByControllers: "others",
    statusOnCreate: true,
    metadataChecks: { update: true, create: true },
    statusMetadataChecks: { update: true, create: true },
    selectableFields: {
      "spec.unschedulable": (object) => String((object as DeepReadonly<Node>).spec?.unschedulable ?? false),
    },
  },
});

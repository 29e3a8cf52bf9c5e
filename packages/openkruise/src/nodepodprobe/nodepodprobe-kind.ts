/** OpenKruise's NodePodProbe: the probes that the daemon of a node runs, and their results. */
import type { NodePodProbe as NodePodProbeFacts } from "@flotilla/apimachinery/facts/apps-kruise-v1alpha1.ts";
import { kruiseKind } from "../api/kruise-kind.ts";
import { nodePodProbeDescriptions } from "./nodepodprobe-descriptions.ts";

export type NodePodProbe = NodePodProbeFacts;

export const NodePodProbe = kruiseKind<NodePodProbe>({
  kind: "NodePodProbe",
  plural: "nodepodprobes",
  scope: "Cluster",
  columns: [],
  descriptions: nodePodProbeDescriptions,
});

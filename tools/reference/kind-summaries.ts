/** One sentence on each kind of other projects whose schema has no description, by kind name. */
import { argoDefinitions } from "@flotilla/argo";
import { karmadaDefinitions } from "@flotilla/karmada";

const definitions = [...karmadaDefinitions, ...argoDefinitions];

export const kindSummaries: Readonly<Record<string, string>> = {
  ...Object.fromEntries(definitions.flatMap(({ kind, summary }) => (summary ? [[kind.kind, summary]] : []))),
  // OpenKruise
  BroadcastJob: "Runs a pod to completion on every node.",
  CloneSet: "A Deployment with in-place updates, a partition, and pods that can be selected for deletion.",
  DaemonSet: "OpenKruise's DaemonSet, with a partition, surging, and rollouts by node.",
  SidecarSet: "Containers that are injected into pods on creation, and updated independently.",
  StatefulSet: "OpenKruise's StatefulSet, with a partition, in-place updates, reserved ordinals, and parallel updates.",
  UnitedDeployment: "A workload that is divided over subsets, such as zones of one cluster.",
  PodUnavailableBudget: "How many pods of an application may be unavailable for any reason, including updates.",
};

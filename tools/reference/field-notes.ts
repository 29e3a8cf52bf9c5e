/**
 * Descriptions of the fields of Karmada's and OpenKruise's kinds, by kind and path. Their schemas come from fact
 * tables, which have no descriptions; the definitions of Karmada's kinds have them. Fields of our own kinds and of Open
 * Cluster Management's are described where they are declared.
 */
import { karmadaDefinitions } from "@flotilla/karmada";

type Notes = Readonly<Record<string, string>>;

const lifecycle: Notes = {
  "spec.lifecycle":
    "Labels or finalizers that hold a pod before it is deleted, updated in place, or considered normal, until another controller removes them.",
};

export const fieldNotes: Readonly<Record<string, Notes>> = {
  ...Object.fromEntries(karmadaDefinitions.map(({ kind, fieldNotes: notes = {} }) => [kind.kind, notes])),
  CloneSet: {
    ...lifecycle,
    "spec.replicas": "Divided over the members.",
    "spec.scaleStrategy.podsToDelete": "Names of pods that are deleted first on scale-down.",
    "spec.scaleStrategy.maxUnavailable":
      "Maximum number of unavailable pods during scale-up. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy":
      "Recreate pods, update them in place if possible, or only in place.",
    "spec.updateStrategy.rollingUpdate.partition":
      "How many pods keep the old template. Counts the pods of the fleet; raising it rolls pods back.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "Maximum number of unavailable pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.maxSurge":
      "Maximum number of additional pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.paused": "Pauses the update.",
    "spec.updateStrategy.rollingUpdate.priorityStrategy": "Which pods are updated first.",
    "spec.updateStrategy.rollingUpdate.scatterStrategy": "Spreads the update over pods with these labels.",
    "spec.volumeClaimTemplates": "PersistentVolumeClaims of each pod.",
    "status.updatedReplicas": "Pods of the latest template, over all members.",
    "status.expectedUpdatedReplicas": "The number of updated pods that the partition requires.",
  },
  StatefulSet: {
    ...lifecycle,
    "spec.replicas": "Divided over the members.",
    "spec.ordinals": "The first ordinal. Each ordinal exists once in the fleet.",
    "spec.reserveOrdinals": "Ordinals to skip.",
    "spec.updateStrategy.rollingUpdate.partition":
      "Pods below this ordinal keep the old template, counted over the fleet.",
    "spec.updateStrategy.rollingUpdate.maxUnavailable":
      "Maximum number of unavailable pods during an update. Divided over the members.",
    "spec.updateStrategy.rollingUpdate.podUpdatePolicy": "Recreate pods, or update them in place.",
    "spec.persistentVolumeClaimRetentionPolicy": "What happens to claims on deletion or scale-down.",
  },
  DaemonSet: {
    ...lifecycle,
    "spec.updateStrategy.rollingUpdate.partition": "How many nodes keep the old template, counted over the fleet.",
    "spec.updateStrategy.rollingUpdate.selector": "Selects the nodes to update; the others wait.",
    "spec.updateStrategy.rollingUpdate.rollingUpdateType":
      "`Standard` recreates pods, `InPlaceIfPossible` updates them in place.",
    "spec.burstReplicas": "Maximum number of pods created at a time.",
  },
  SidecarSet: {
    "spec.selector": "Selects the pods that get the sidecars.",
    "spec.namespaceSelector": "Selects the namespaces of the pods.",
    "spec.containers": "The sidecars.",
    "spec.initContainers": "Containers that run before the others.",
    "spec.injectionStrategy": "The revision that new pods get, or a pause of the injection.",
    "spec.updateStrategy.partition": "How many pods keep the old sidecars, counted over the fleet.",
    "spec.patchPodMetadata": "Annotations added to the pods.",
  },
  UnitedDeployment: {
    "spec.replicas": "Divided over the members, and on each member over the subsets.",
    "spec.template": "The workload template of a subset, of one of four kinds.",
    "spec.topology.subsets": "The nodes and replicas of each subset. Numbers and limits are divided over the members.",
    "spec.topology.scheduleStrategy": "What happens if a subset has no room.",
    "spec.updateStrategy.manualUpdate.partitions": "A partition for each subset. Divided over the members.",
  },
  BroadcastJob: {
    "spec.parallelism": "How many nodes run it at a time, per cluster.",
    "spec.completionPolicy": "Whether it completes when every node is done, and its time limit.",
    "spec.failurePolicy": "How a failed pod affects the rest.",
  },
  PodUnavailableBudget: {
    "spec.maxUnavailable": "Maximum number of unavailable pods, per cluster.",
    "spec.minAvailable": "Minimum number of available pods, per cluster.",
    "spec.targetRef": "The workload whose pods it protects, instead of a selector.",
    "spec.protectOperations": "The protected operations: deletion, eviction, updates.",
  },
};

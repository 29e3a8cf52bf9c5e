/** Maps each finalizer to the component that removes it, and to what to do when that does not happen. Pure. */
import { LOGICAL_CLUSTER_FINALIZER } from "@flotilla/apimachinery";
import {
  CLUSTER_RBAC_FINALIZER,
  MANIFEST_WORK_FINALIZER,
  CLUSTER_RESOURCES_FINALIZER,
  REPLICA_SET_FINALIZER,
} from "@flotilla/ocm";
import type { DoctorFinding } from "./doctor-check.ts";
import {
  BINDING_FINALIZER,
  CLUSTER_BINDING_FINALIZER,
  CLUSTER_FINALIZER,
  executionNamespace,
  WORK_FINALIZER,
} from "@flotilla/karmada";

export interface Deleting {
  /** As in kubectl: `works.work.karmada.io`. */
  type: string;
  kind: string;
  namespace?: string;
  name: string;
  sinceMs: number;
  finalizers: readonly string[];
  /** The server's message about a namespace or CRD that is stuck in deletion. */
  remaining?: string;
  /** The object on the member that a finalizer holds there, as for `flotilla get`. */
  heldThere?: string | undefined;
  /** The member it belongs to. */
  member?: string;
}

interface Owner {
  /** A sentence: which component removes it, and when. */
  who: string;
  fix: string;
  commands(object: Deleting): readonly string[];
}

const unjoin = ({ member, name }: Deleting): readonly string[] => [
  `flotilla doctor --only members --clusters ${member ?? name}`,
  `flotilla unjoin ${member ?? name} --force`,
];

const OWNERS: Readonly<Record<string, Owner>> = {
  [WORK_FINALIZER]: {
    who: "The hub removes it when the copy is deleted on the member.",
    fix: "Restore the member, or find what blocks the object there. If the member is lost for good, unjoin it.",
    commands: unjoin,
  },
  [BINDING_FINALIZER]: {
    who: "The hub removes it when all Works of the binding are deleted.",
    fix: "Find the remaining Work.",
    commands: ({ namespace, name }) => [
      `kubectl get works -A | grep ${name.replace(/-[a-z]+$/, "")}`,
      `kubectl get resourcebinding ${name} -n ${namespace ?? "default"} -o yaml`,
    ],
  },
  [CLUSTER_BINDING_FINALIZER]: {
    who: "The hub removes it when all Works of the binding are deleted.",
    fix: "Find the remaining Work.",
    commands: ({ name }) => [`kubectl get works -A | grep ${name.replace(/-[a-z]+$/, "")}`],
  },
  [CLUSTER_FINALIZER]: {
    who: "The hub removes it when the member's execution namespace is empty.",
    fix: "Restore the member, so that its Works can be deleted; or unjoin it without waiting.",
    commands: ({ name }) => [`kubectl get works -n ${executionNamespace(name)}`, `flotilla unjoin ${name} --force`],
  },
  [MANIFEST_WORK_FINALIZER]: {
    who: "The agent, or the hub for a push-mode member, removes it when the objects are deleted there.",
    fix: "Restore the member or its agent.",
    commands: ({ member = "MEMBER" }) => [
      `flotilla doctor --only agents,members --clusters ${member}`,
      `kubectl get manifestworks -n ${member}`,
    ],
  },
  [REPLICA_SET_FINALIZER]: {
    who: "The hub removes it when the ManifestWorks of the set are deleted.",
    fix: "Find the remaining ManifestWork.",
    commands: ({ namespace, name }) => [
      `kubectl get manifestworks -A -l work.open-cluster-management.io/manifestworkreplicaset=${namespace ?? ""}.${name}`,
    ],
  },
  [CLUSTER_RBAC_FINALIZER]: {
    who: "The hub removes it when the cluster's works and RBAC are deleted.",
    fix: "Find the remaining ManifestWorks in its namespace.",
    commands: ({ name }) => [`kubectl get manifestworks -n ${name}`, `flotilla unjoin ${name} --force`],
  },
  [CLUSTER_RESOURCES_FINALIZER]: {
    who: "The hub removes it when the cluster's works are deleted.",
    fix: "Find the remaining ManifestWorks in its namespace.",
    commands: ({ name }) => [`kubectl get manifestworks -n ${name}`, `flotilla unjoin ${name} --force`],
  },
  "customresourcecleanup.apiextensions.k8s.io": {
    who: "The hub removes it when all objects of the kind are deleted.",
    fix: "Find the remaining objects, and what blocks them.",
    commands: ({ name }) => [`kubectl get ${name} -A`],
  },
  foregroundDeletion: {
    who: "The hub removes it when all dependents of the object are deleted.",
    fix: "Find its dependents and what blocks them.",
    commands: (object) => [`kubectl get ${object.type} ${object.name}${inNamespace(object)} -o yaml`],
  },
  orphan: {
    who: "The hub removes it when no object refers to this one as its owner.",
    fix: "Check the hub's health.",
    commands: () => ["flotilla doctor --only hub"],
  },
  kubernetes: {
    who: "The hub removes it when the namespace is empty.",
    fix: "Find the remaining objects in it.",
    commands: ({ name }) => [
      `kubectl get namespace ${name} -o yaml`,
      `kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get -n ${name} --ignore-not-found`,
    ],
  },
  [LOGICAL_CLUSTER_FINALIZER]: {
    who: "The hub removes it when everything in the logical cluster is deleted.",
    fix: "Check the hub's health.",
    commands: () => ["flotilla doctor --only hub"],
  },
};

const inNamespace = ({ namespace }: Deleting): string => (namespace ? ` -n ${namespace}` : "");

/** Without those that the hub removes. */
export const foreignFinalizers = (finalizers: readonly string[]): string[] =>
  finalizers.filter((finalizer) => !Object.hasOwn(OWNERS, finalizer));

/** The fix for a stuck object. For finalizers that Flotilla does not know, it is a patch that removes them. */
export function fixOf(object: Deleting): Pick<DoctorFinding, "fix" | "commands"> & { who: string } {
  const foreign = foreignFinalizers(object.finalizers);
  const [unknown] = foreign;
  if (unknown !== undefined) {
    const own = object.finalizers.filter((finalizer) => !foreign.includes(finalizer));
    const patch = JSON.stringify({ metadata: { finalizers: own.length > 0 ? own : null } });
    return {
      who: "Flotilla does not remove it; the controller that set it does.",
      fix:
        `Start the controller that removes ${foreign.join(", ")}. If that controller no longer exists, remove ` +
        "the finalizer yourself: the resources it would have cleaned up are left behind.",
      commands: [`kubectl patch ${object.type} ${object.name}${inNamespace(object)} --type merge -p '${patch}'`],
    };
  }
  // The member works: what it waits for is there.
  if (object.heldThere !== undefined)
    return {
      who: "The hub removes it when the copy is deleted on the member.",
      fix:
        `Start the controller on ${object.member ?? "the member"} that removes the finalizer of the copy. If that ` +
        "controller no longer exists, remove the finalizer there: the resources it would have cleaned up are left behind.",
      commands: [`flotilla get ${object.heldThere} --clusters ${object.member ?? "MEMBER"} -o yaml`],
    };
  const owner = object.finalizers.map((finalizer) => OWNERS[finalizer]).find((found) => found !== undefined);
  if (!owner)
    return {
      who: "",
      fix: "Inspect the object.",
      commands: [`kubectl get ${object.type} ${object.name}${inNamespace(object)} -o yaml`],
    };
  return { who: owner.who, fix: owner.fix, commands: owner.commands(object) };
}

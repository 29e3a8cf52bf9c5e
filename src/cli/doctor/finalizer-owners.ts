/** Who takes which finalizer off, and what to do when that does not happen. Pure. */
import type { DoctorFinding } from "./check.ts";

export interface Deleting {
  /** As kubectl names it: `works.work.karmada.io`. */
  type: string;
  kind: string;
  namespace?: string;
  name: string;
  sinceMs: number;
  finalizers: readonly string[];
  /** What the server says about a namespace or definition that does not end. */
  remaining?: string;
  /** The member that it is for. */
  member?: string;
}

interface Owner {
  /** A sentence: who takes it off, and when. */
  who: string;
  fix: string;
  commands(object: Deleting): readonly string[];
}

const unjoin = ({ member, name }: Deleting): readonly string[] => [
  `flotilla doctor --only members --clusters ${member ?? name}`,
  `flotilla unjoin ${member ?? name} --force`,
];

const OWNERS: Readonly<Record<string, Owner>> = {
  "karmada.io/execution-controller": {
    who: "The hub takes it off when the copy is gone from the member.",
    fix: "Bring the member back, or see what holds the object there. If the member is gone for good, let it go.",
    commands: unjoin,
  },
  "karmada.io/binding-controller": {
    who: "The hub takes it off when all Works of the binding are gone.",
    fix: "See which Work is left.",
    commands: ({ namespace, name }) => [
      `kubectl get works -A | grep ${name.replace(/-[a-z]+$/, "")}`,
      `kubectl get resourcebinding ${name} -n ${namespace ?? "default"} -o yaml`,
    ],
  },
  "karmada.io/cluster-resource-binding-controller": {
    who: "The hub takes it off when all Works of the binding are gone.",
    fix: "See which Work is left.",
    commands: ({ name }) => [`kubectl get works -A | grep ${name.replace(/-[a-z]+$/, "")}`],
  },
  "karmada.io/cluster-controller": {
    who: "The hub takes it off when the member's execution namespace is empty.",
    fix: "Bring the member back, so that its Works can end; or do not wait for it.",
    commands: ({ name }) => [`kubectl get works -n karmada-es-${name}`, `flotilla unjoin ${name} --force`],
  },
  "cluster.open-cluster-management.io/manifest-work-cleanup": {
    who: "The agent, or the hub where it reaches the member, takes it off when the objects are gone there.",
    fix: "Bring the member or its agent back.",
    commands: ({ member = "MEMBER" }) => [
      `flotilla doctor --only agents,members --clusters ${member}`,
      `kubectl get manifestworks -n ${member}`,
    ],
  },
  "work.open-cluster-management.io/manifest-work-cleanup": {
    who: "The hub takes it off when the ManifestWorks of the set are gone.",
    fix: "See which of its ManifestWorks is left.",
    commands: ({ namespace, name }) => [
      `kubectl get manifestworks -A -l work.open-cluster-management.io/manifestworkreplicaset=${namespace ?? ""}.${name}`,
    ],
  },
  "cluster.open-cluster-management.io/api-resource-cleanup": {
    who: "The hub takes it off when the cluster's works and rights are gone.",
    fix: "See which ManifestWorks are left in its namespace.",
    commands: ({ name }) => [`kubectl get manifestworks -n ${name}`, `flotilla unjoin ${name} --force`],
  },
  "cluster.open-cluster-management.io/resource-cleanup": {
    who: "The hub takes it off when the cluster's works are gone.",
    fix: "See which ManifestWorks are left in its namespace.",
    commands: ({ name }) => [`kubectl get manifestworks -n ${name}`, `flotilla unjoin ${name} --force`],
  },
  "customresourcecleanup.apiextensions.k8s.io": {
    who: "The hub takes it off when all objects of the kind are gone.",
    fix: "See which objects are left, and what holds them.",
    commands: ({ name }) => [`kubectl get ${name} -A`],
  },
  foregroundDeletion: {
    who: "The hub takes it off when everything that the object owns is gone.",
    fix: "See what it owns and what holds that.",
    commands: (object) => [`kubectl get ${object.type} ${object.name}${inNamespace(object)} -o yaml`],
  },
  orphan: {
    who: "The hub takes it off when nothing names the object as its owner any more.",
    fix: "Look at the hub's health.",
    commands: () => ["flotilla doctor --only hub"],
  },
  kubernetes: {
    who: "The hub takes it off when the namespace is empty.",
    fix: "See what is left in it.",
    commands: ({ name }) => [
      `kubectl get namespace ${name} -o yaml`,
      `kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get -n ${name} --ignore-not-found`,
    ],
  },
  "flotilla.dev/contents": {
    who: "The hub takes it off when everything in the logical cluster is gone.",
    fix: "Look at the hub's health.",
    commands: () => ["flotilla doctor --only hub"],
  },
};

const inNamespace = ({ namespace }: Deleting): string => (namespace ? ` -n ${namespace}` : "");

/** What a stuck object needs. Finalizers that Flotilla does not know are named with the way around them. */
export function cureOf(object: Deleting): Pick<DoctorFinding, "fix" | "commands"> & { who: string } {
  const foreign = object.finalizers.filter((finalizer) => !Object.hasOwn(OWNERS, finalizer));
  const [unknown] = foreign;
  if (unknown !== undefined) {
    const own = object.finalizers.filter((finalizer) => !foreign.includes(finalizer));
    const patch = JSON.stringify({ metadata: { finalizers: own.length > 0 ? own : null } });
    return {
      who: "Nothing in Flotilla takes it off; whoever set it does.",
      fix: `Start the controller that takes ${foreign.join(", ")} off. If it is gone for good, take it off yourself: what it would have cleaned up stays behind.`,
      commands: [`kubectl patch ${object.type} ${object.name}${inNamespace(object)} --type merge -p '${patch}'`],
    };
  }
  const owner = object.finalizers.map((finalizer) => OWNERS[finalizer]).find((found) => found !== undefined);
  if (!owner)
    return {
      who: "",
      fix: "Look at the object.",
      commands: [`kubectl get ${object.type} ${object.name}${inNamespace(object)} -o yaml`],
    };
  return { who: owner.who, fix: owner.fix, commands: owner.commands(object) };
}

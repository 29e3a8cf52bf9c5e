/** Invariants of a fleet in which all faults have ended: what members run is what users asked for, and nothing else. */
import { DRAIN_TAINT } from "@flotilla/flotilla";
import { StatefulSet } from "@flotilla/kubernetes";
import { companionsFollow } from "./companion.ts";
import { NAMESPACE, RULES, TARGETS } from "./manifests.ts";
import type { Target } from "./manifests.ts";
import { KINDS } from "./plan-run.ts";
import type { WorkloadKind } from "./plan-run.ts";
import { isUnderRelease, membersAreBack, releasesEnd } from "./releases/settled-releases.ts";
import type { AnyObject, StoreView } from "./store-view.ts";
import type { Known } from "./users.ts";

export interface SettledState {
  hub: StoreView;
  members: StoreView;
  names: readonly string[];
  ledger: ReadonlyMap<string, Known>;
}

export interface Finding {
  invariant: string;
  details: string;
}

type Check = (state: SettledState) => Iterable<Finding>;

const POLICIES = "/policy.karmada.io/propagationpolicies/hub/";
const CLUSTER_POLICIES = "/policy.karmada.io/clusterpropagationpolicies/hub/";
const hubKey = ({ table, path }: Target): string => `${table}hub/${path}`;
const memberKey = ({ table, path }: Target, member: string): string => `${table}${member}/${path}`;

interface Wanted {
  kind: WorkloadKind;
  template: AnyObject;
  target: Target;
  type: "Divided" | "Duplicated";
  /** The members that the policy names, that are joined and accept pods. */
  members: string[];
  bound: readonly { name: string; replicas?: number }[];
}

const clusterOf = ({ hub }: SettledState, name: string): AnyObject | undefined =>
  hub.get(`/cluster.karmada.io/clusters/hub/${name}`);

/** Templates with a policy, and where they should run. */
function* wanted(state: SettledState): Iterable<Wanted> {
  for (const kind of KINDS) {
    const target = TARGETS[kind];
    const template = state.hub.get(hubKey(target));
    const policy = state.hub.get(
      kind === "ClusterRole"
        ? `${CLUSTER_POLICIES}place-${target.name}`
        : `${POLICIES}${NAMESPACE}/place-${target.name}`,
    );
    if (!template || !policy) continue;
    const bindings = kind === "ClusterRole" ? "clusterresourcebindings" : "resourcebindings";
    const binding = state.hub.get(
      `/work.karmada.io/${bindings}/hub/${target.namespace ? `${NAMESPACE}/` : ""}${target.name}-${kind.toLowerCase()}`,
    );
    const named: string[] = policy.spec.placement.clusterAffinity?.clusterNames ?? state.names;
    yield {
      kind,
      template,
      target,
      type: policy.spec.placement.replicaScheduling?.replicaSchedulingType ?? "Duplicated",
      members: named.filter((name) => {
        const cluster = clusterOf(state, name);
        return cluster && ((cluster.spec.taints ?? []) as unknown[]).length === 0;
      }),
      bound: binding?.spec.clusters ?? [],
    };
  }
}

const replicasOf = (kind: WorkloadKind, object: AnyObject): number =>
  kind === "Job" ? (object.spec.completions ?? 1) : (object.spec.replicas ?? 1);
const isRunToEnd = ({ status }: AnyObject): boolean =>
  ((status?.conditions ?? []) as { type: string; status: string }[]).some(
    ({ type, status: value }) => type === "Complete" && value === "True",
  );

const acknowledgedWritesStay: Check = function* ({ hub, ledger }) {
  for (const [key, { token, isUncertain }] of ledger) {
    if (isUncertain) continue;
    const stored = hub.get(key)?.metadata.annotations?.["sim/token"];
    if (stored !== (token === undefined ? undefined : String(token)))
      yield {
        invariant: "acknowledged writes stay",
        details:
          `${key} has ${stored ? `the write ${stored}` : "no value"}, and ` +
          `${token === undefined ? "its deletion" : `the write ${token}`} was acknowledged last`,
      };
  }
};

const copiesAreAsAsked: Check = function* (state) {
  for (const { kind, template, target, type, members, bound } of wanted(state)) {
    const copies = state.names.flatMap((member) => {
      const copy = state.members.get(memberKey(target, member));
      return copy ? [{ member, copy }] : [];
    });
    const name = `${kind.toLowerCase()}/${target.name}`;
    const boundNames = bound.map((cluster) => cluster.name);
    const invariant = "members run what the policies ask";
    // A tainted member may keep what it runs, and a Job that ran is not moved.
    for (const member of members)
      if (type === "Duplicated" && !copies.some((copy) => copy.member === member) && kind !== "Job")
        yield { invariant, details: `${member} has no ${name}, and the policy asks for it` };
    for (const { member } of copies)
      if (clusterOf(state, member) && !boundNames.includes(member))
        yield { invariant, details: `${member} has ${name}, and its binding does not name it` };
    if (kind === "ConfigMap" || kind === "ClusterRole") {
      for (const { member, copy } of copies)
        if (
          clusterOf(state, member) &&
          JSON.stringify(copy.data ?? copy.rules) !== JSON.stringify(template.data ?? template.rules)
        )
          yield { invariant, details: `${name} of ${member} differs from its template` };
      continue;
    }
    const joined = copies.filter(({ member }) => clusterOf(state, member));
    if (kind === "Job" && isRunToEnd(template)) continue;
    const asked = replicasOf(kind, template);
    if (type === "Divided" && members.length > 0 && (kind !== "Job" || members.length === state.names.length)) {
      const sum = joined.reduce((total, { copy }) => total + replicasOf(kind, copy), 0);
      if (sum !== asked)
        yield {
          invariant: "replicas over the fleet equal what the policy asks",
          details: `${name} asks for ${asked}, and members have ${joined.map(({ member, copy }) => `${member}=${replicasOf(kind, copy)}`).join(" ") || "none"}`,
        };
    }
    if (type === "Duplicated" && kind !== "Job")
      for (const { member, copy } of joined)
        if (replicasOf(kind, copy) !== asked)
          yield {
            invariant: "replicas over the fleet equal what the policy asks",
            details: `${name} of ${member} has ${replicasOf(kind, copy)}, and each member should have ${asked}`,
          };
    // A member that a partition holds back keeps the previous template.
    const isHeldBack = Number(template.spec.updateStrategy?.rollingUpdate?.partition ?? 0) > 0;
    if (kind !== "Job" && !isHeldBack && isUnderRelease(state, kind) === "no")
      for (const { member, copy } of joined) {
        const image = copy.spec.template.spec.containers[0].image as string;
        if (image !== template.spec.template.spec.containers[0].image)
          yield {
            invariant,
            details: `${name} of ${member} has the image ${image}, and the template ${template.spec.template.spec.containers[0].image}`,
          };
      }
  }
};

/** A drained member keeps only what fits no other one. */
const drainedMembersAreEmpty: Check = function* (state) {
  for (const { kind, target, type, members } of wanted(state)) {
    if (type !== "Divided" || kind === "Job" || members.length === 0) continue;
    for (const member of state.names) {
      const taints = (clusterOf(state, member)?.spec.taints ?? []) as { key: string; effect: string }[];
      const isDrained = taints.some(({ key, effect }) => key === DRAIN_TAINT && effect === "NoExecute");
      if (isDrained && state.members.get(memberKey(target, member)))
        yield {
          invariant: "a drained member is empty",
          details: `${member} is drained and has ${kind.toLowerCase()}/${target.name}, which ${members.join(" and ")} could run`,
        };
    }
  }
};

const podsRun: Check = function* (state) {
  for (const { kind, template, target, members, bound } of wanted(state)) {
    if (kind === "ConfigMap" || kind === "ClusterRole" || kind === "Job" || members.length === 0) continue;
    for (const { name: member } of bound) {
      const copy = state.members.get(memberKey(target, member));
      if (!copy || !clusterOf(state, member)) continue;
      const pods = state.members
        .list(`/core/pods/${member}/${NAMESPACE}/`)
        .filter(({ metadata }) => metadata.labels?.["app"] === target.name && !metadata.deletionTimestamp);
      const asked = replicasOf(kind, copy);
      const isPaused = template.spec.paused === true || template.spec.updateStrategy?.rollingUpdate?.paused === true;
      if (pods.length !== asked && !isPaused && isUnderRelease(state, kind) !== "open")
        yield {
          invariant: "members run what the policies ask",
          details: `${member} runs ${pods.length} pods of ${kind.toLowerCase()}/${target.name}, and its copy asks for ${asked}`,
        };
    }
  }
};

const nothingIsLeft: Check = function* (state) {
  const invariant = "nothing is left on a member after a deletion";
  for (const kind of KINDS) {
    const target = TARGETS[kind];
    if (state.hub.get(hubKey(target))) continue;
    for (const member of state.names)
      if (clusterOf(state, member) && state.members.get(memberKey(target, member)))
        yield {
          invariant,
          details: `${member} has ${kind.toLowerCase()}/${target.name}, which does not exist on the hub`,
        };
  }
  for (const member of state.names) {
    const hasWork = state.hub.get(`/work.open-cluster-management.io/manifestworks/hub/${member}/notes`);
    if (!hasWork && clusterOf(state, member) && state.members.get(`/core/configmaps/${member}/notes/notes`))
      yield { invariant, details: `${member} has configmap/notes, whose ManifestWork does not exist` };
    if (hasWork && clusterOf(state, member) && !state.members.get(`/core/configmaps/${member}/notes/notes`))
      yield {
        invariant: "members run what the policies ask",
        details: `${member} has no configmap/notes, which a ManifestWork asks for`,
      };
  }
  const bindings = new Set(
    [
      ...state.hub.list("/work.karmada.io/resourcebindings/hub/"),
      ...state.hub.list("/work.karmada.io/clusterresourcebindings/hub/"),
    ].map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`),
  );
  for (const work of state.hub.list("/work.karmada.io/works/hub/")) {
    const { annotations = {}, namespace, name, labels } = work.metadata;
    const owner =
      `${annotations["resourcebinding.karmada.io/namespace"] ?? ""}/` +
      (annotations["resourcebinding.karmada.io/name"] ?? annotations["clusterresourcebinding.karmada.io/name"] ?? "");
    if (!labels?.["flotilla.dev/namespace"] && !bindings.has(owner))
      yield {
        invariant: "nothing is left in an execution namespace",
        details: `${namespace}/${name} belongs to ${owner}, which does not exist`,
      };
    if (work.metadata.deletionTimestamp)
      yield {
        invariant: "nothing is left in an execution namespace",
        details: `${namespace}/${name} is being deleted, and does not end`,
      };
  }
  for (const { metadata } of state.hub.list("/core/namespaces/hub/")) {
    const member = /^karmada-es-(.*)$/.exec(metadata.name)?.[1];
    if (member && !clusterOf(state, member))
      yield {
        invariant: "nothing is left in an execution namespace",
        details: `the namespace ${metadata.name} exists without its Cluster`,
      };
  }
};

/** The pods of a workload, on joined members, with the image of its template. */
function podsOfImage(state: SettledState, target: Target, template: AnyObject): number {
  const image = template.spec.template.spec.containers[0].image as string;
  return state.names
    .filter((member) => clusterOf(state, member))
    .flatMap((member) => state.members.list(`/core/pods/${member}/${NAMESPACE}/`))
    .filter(
      ({ metadata, spec }) =>
        metadata.labels?.["app"] === target.name && !metadata.deletionTimestamp && spec.containers[0].image === image,
    ).length;
}

const statusIsTrue: Check = function* (state) {
  for (const { kind, template, target, bound } of wanted(state)) {
    if (kind === "ConfigMap" || kind === "ClusterRole" || kind === "Job") continue;
    const sum = { replicas: 0, readyReplicas: 0, updatedReplicas: 0 };
    let isComplete = true;
    for (const { name } of bound) {
      const copy = state.members.get(memberKey(target, name));
      if (!clusterOf(state, name) || !copy) {
        isComplete = false;
        continue;
      }
      for (const field of Object.keys(sum) as (keyof typeof sum)[]) sum[field] += copy.status?.[field] ?? 0;
    }
    if (!isComplete) continue;
    // A member that a partition holds back has the previous template, so its own number is of another revision.
    if (kind === "CloneSet" || isUnderRelease(state, kind) !== "no")
      sum.updatedReplicas = podsOfImage(state, target, template);
    for (const field of Object.keys(sum) as (keyof typeof sum)[]) {
      if (kind === StatefulSet.kind && field === "updatedReplicas") continue;
      const shown = (template.status?.[field] ?? 0) as number;
      if (shown !== sum[field])
        yield {
          invariant: "the summed status equals the members' truth",
          details: `${kind.toLowerCase()}/${target.name} shows ${field} ${shown}, and members report ${sum[field]}`,
        };
    }
  }
};

const rightsDoNotWiden: Check = function* (state) {
  for (const member of state.names) {
    const role = state.members.get(memberKey(TARGETS.ClusterRole, member));
    if (role && JSON.stringify(role.rules) !== JSON.stringify(RULES))
      yield {
        invariant: "rights never widen",
        details: `the ClusterRole ${role.metadata.name} of ${member} allows ${JSON.stringify(role.rules)}`,
      };
  }
};

/** Managers that write the same field overwrite each other. Users may share fields with those who apply their objects. */
const oneWriterPerField: Check = function* (state) {
  const all = [
    ...Object.values(TARGETS).flatMap((target) =>
      state.names.map((member) => state.members.get(memberKey(target, member))),
    ),
    ...state.hub.list("/work.karmada.io/works/hub/"),
    ...state.hub.list("/work.karmada.io/resourcebindings/hub/"),
  ];
  for (const object of all) {
    const owners = new Map<string, string>();
    for (const { manager, fieldsV1 } of object?.metadata.managedFields ?? []) {
      if (!manager.startsWith("flotilla")) continue;
      for (const field of leaves(fieldsV1, "")) {
        const other = owners.get(field);
        if (other !== undefined && other !== manager)
          yield {
            invariant: "every field has one writer",
            details: `${object?.kind}/${object?.metadata.name}: ${other} and ${manager} own ${field}`,
          };
        owners.set(field, manager);
      }
    }
  }
};

function* leaves(fields: unknown, path: string): Iterable<string> {
  const entries = Object.entries((fields ?? {}) as Record<string, unknown>).filter(([key]) => key !== ".");
  if (entries.length === 0) yield path;
  for (const [key, below] of entries) yield* leaves(below, `${path}/${key}`);
}

const CHECKS: readonly Check[] = [
  acknowledgedWritesStay,
  copiesAreAsAsked,
  drainedMembersAreEmpty,
  podsRun,
  nothingIsLeft,
  companionsFollow,
  statusIsTrue,
  rightsDoNotWiden,
  oneWriterPerField,
  releasesEnd,
  membersAreBack,
];

export const checkSettled = (state: SettledState): Finding[] => CHECKS.flatMap((check) => [...check(state)]);

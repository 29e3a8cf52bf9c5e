/**
 * Invariants that hold at every moment, checked at each write that could break one. They read what the stores hold, and
 * the specs that users wrote, in the order in which the hub stored them.
 */
import type { StoredWrite } from "./disk.ts";
import { NAMESPACE, RULES, TARGETS } from "./manifests.ts";
import type { WorkloadKind } from "./plan-run.ts";
import { createReleaseWatch } from "./releases/watch-releases.ts";
import type { WatchOptions } from "./releases/watch-releases.ts";
import type { AnyObject } from "./store-view.ts";
import { createRemovalWatch } from "./watch-removals.ts";

export interface Violation {
  invariant: string;
  atMs: number;
  details: string;
}

/** One version of a template, as the hub stored it. */
interface Version {
  uid: string;
  replicas: number;
  image: string;
  partition: number;
  maxUnavailable: number;
}

export interface Watchdogs {
  onHubWrite(write: Pick<StoredWrite, "key" | "value">): void;
  onMemberWrite(write: Pick<StoredWrite, "key" | "value">): void;
  /** The specs that were stored are no longer what users asked for: the disk lied. */
  forget(): void;
  /** Users move workloads. */
  disturb(): void;
  /** Everything is converged: what holds from now on is compared with this moment. */
  converged(): void;
}

const RUNS: readonly WorkloadKind[] = ["Deployment", "CloneSet", "StatefulSet"];
const JOB = TARGETS.Job;
const CLONE_SET = TARGETS.CloneSet;

export function createWatchdogs(options: WatchOptions): Watchdogs {
  const { hub, members, names, isSteady, now } = options;
  const reported = new Set<string>();
  const report = (invariant: string, details: string): void => {
    if (reported.has(invariant)) return;
    reported.add(invariant);
    options.report({ invariant, atMs: now(), details });
  };
  const hubKeys = new Map<string, WorkloadKind>(
    RUNS.map((kind) => [`${TARGETS[kind].table}hub/${TARGETS[kind].path}`, kind]),
  );
  /** The versions of each template since it was created, oldest first. */
  const versions = new Map<WorkloadKind, Version[]>();
  /** The least number of available pods that is promised, once that many were there. */
  let isGuarded = false;
  /** Pods of Jobs that succeeded, and how many runs users asked for. */
  const succeeded = new Set<string>();
  let asked = new Map<string, number>();
  let isCounting = true;
  const removals = createRemovalWatch({
    hub,
    names,
    report: (details) => report("nothing is removed on a stale view", details),
  });
  const releases = createReleaseWatch({
    hub,
    members,
    names,
    isSteady,
    now,
    report: ({ invariant, details }) => report(invariant, details),
  });

  const podsOf = (name: string): { member: string; pod: AnyObject }[] =>
    names.flatMap((member) =>
      members
        .list(`/core/pods/${member}/${NAMESPACE}/`)
        .filter(({ metadata }) => metadata.labels?.["app"] === name)
        .map((pod) => ({ member, pod })),
    );
  const imageOf = (pod: AnyObject): string =>
    (pod.spec as { containers: { image: string }[] }).containers[0]?.image ?? "";
  const isAvailable = ({ metadata, status }: AnyObject): boolean =>
    !metadata.deletionTimestamp &&
    ((status?.conditions ?? []) as { type: string; status: string }[]).some(
      ({ type, status: value }) => type === "Ready" && value === "True",
    );

  /** Since the newest image was first asked for. */
  function sinceNewestImage(all: readonly Version[]): { image: string; since: readonly Version[]; isOld: boolean } {
    const image = all.at(-1)?.image ?? "";
    let first = all.length - 1;
    while (first > 0 && all[first - 1]?.image === image) first--;
    return { image, since: all.slice(first), isOld: all.slice(0, first).some((version) => version.image === image) };
  }

  function checkPartition(): void {
    const all = versions.get("CloneSet") ?? [];
    const { image, since, isOld } = sinceNewestImage(all);
    // The first image has nothing to hold back, and pods of one that is asked for again may be left of it.
    if (!isGuarded || isOld || since.length === all.length) return;
    const allowed = Math.max(...since.map(({ replicas, partition }) => Math.max(0, replicas - partition)));
    const pods = podsOf(CLONE_SET.name).filter(({ pod }) => imageOf(pod) === image);
    if (pods.length > allowed)
      report(
        "no pod is updated beyond the partition",
        `${pods.length} pods of cloneset/${CLONE_SET.name} run ${image}, and at most ${allowed} may: ` +
          pods.map(({ member, pod }) => `${member}/${pod.metadata.name}`).join(", "),
      );
  }

  function checkBudget(): void {
    const all = versions.get("CloneSet") ?? [];
    if (!isGuarded || all.length === 0) return;
    const pods = podsOf(CLONE_SET.name);
    // A budget is at least one for every member that has a part of the workload.
    const parts = names.filter((member) => members.get(`${CLONE_SET.table}${member}/${CLONE_SET.path}`)).length;
    // A strategy has a budget of its own.
    const led = hub.get(`/flotilla.dev/rolloutstrategies/hub/${NAMESPACE}/release-${CLONE_SET.name}`);
    const given = (own: number): number => Math.max(own, Number(led?.spec.maxUnavailable ?? 0));
    const promised = Math.min(
      ...all.map(
        ({ replicas, maxUnavailable }) => replicas - (maxUnavailable > 0 ? Math.max(given(maxUnavailable), parts) : 0),
      ),
    );
    const available = pods.filter(({ pod }) => isAvailable(pod)).length;
    if (available < promised)
      report(
        "never below the budget",
        `${available} pods of cloneset/${CLONE_SET.name} are available, and the budget promises ${promised}`,
      );
  }

  function checkRuns(pod: AnyObject): void {
    if (pod.status?.phase !== "Succeeded" || pod.metadata.labels?.["app"] !== JOB.name) return;
    succeeded.add(pod.metadata.uid ?? "");
    const policy = hub.get(`/policy.karmada.io/propagationpolicies/hub/${NAMESPACE}/place-${JOB.name}`);
    const { clusterAffinity, replicaScheduling } = policy?.spec.placement ?? {};
    const copies =
      replicaScheduling?.replicaSchedulingType === "Divided" ? 1 : (clusterAffinity?.clusterNames.length ?? 1);
    const most = Array.from(asked.values()).reduce((sum, runs) => sum + runs * copies, 0);
    if (isSteady && isCounting && succeeded.size > most)
      report(
        "a Job runs no more completions than asked",
        `${succeeded.size} pods of job/${JOB.name} succeeded, and ${most} were asked for`,
      );
  }

  function checkRights(key: string, role: AnyObject): void {
    if (role.metadata.name !== TARGETS.ClusterRole.name) return;
    if (JSON.stringify(role.rules) !== JSON.stringify(RULES))
      report("rights never widen", `${key} allows ${JSON.stringify(role.rules)}`);
  }

  function noteVersion(kind: WorkloadKind, key: string): void {
    const object = hub.get(key);
    if (!object) {
      versions.delete(kind);
      return;
    }
    const version: Version = {
      uid: object.metadata.uid ?? "",
      replicas: object.spec.replicas ?? 1,
      image: object.spec.template.spec.containers[0].image,
      partition: Number(object.spec.updateStrategy?.rollingUpdate?.partition ?? 0),
      maxUnavailable: Number(object.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1),
    };
    const all = versions.get(kind) ?? [];
    const last = all.at(-1);
    if (last && last.uid !== version.uid) versions.set(kind, [version]);
    else if (JSON.stringify(last) !== JSON.stringify(version)) versions.set(kind, [...all, version]);
  }

  return {
    onHubWrite({ key }) {
      const kind = hubKeys.get(key);
      if (kind) noteVersion(kind, key);
      if (key === `${JOB.table}hub/${JOB.path}`) {
        const job = hub.get(key);
        if (job) asked.set(job.metadata.uid ?? "", job.spec.completions ?? 1);
      }
      removals.onHubWrite(key);
      releases.onHubWrite(key);
    },
    onMemberWrite({ key, value }) {
      if (key.startsWith("/core/pods/")) {
        const pod = value && members.get(key);
        if (pod) checkRuns(pod);
        checkPartition();
        releases.onPod();
        if (isSteady) checkBudget();
      } else if (value === null) {
        if (isSteady && isGuarded) removals.onRemoval(key);
      } else if (key.startsWith(TARGETS.ClusterRole.table)) {
        const role = members.get(key);
        if (role) checkRights(key, role);
      }
    },
    forget() {
      isCounting = false;
      isGuarded = false;
      versions.clear();
      releases.disturb();
      asked = new Map();
      for (const [key, kind] of hubKeys) noteVersion(kind, key);
    },
    disturb: () => releases.disturb(),
    converged() {
      isGuarded = isSteady;
      removals.converged();
      for (const [kind, all] of versions) versions.set(kind, all.slice(-1));
    },
  };
}

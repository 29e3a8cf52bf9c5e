/**
 * Invariants of releases in waves, checked at every write: what may be updated follows from the strategy that the user
 * wrote and from the waves that the hub said to have opened, not from what the release gave to members.
 */
import type { FleetRollout } from "@flotilla/flotilla";
import { NAMESPACE, TARGETS } from "../manifests.ts";
import type { AnyObject, StoreView } from "../store-view.ts";
import type { Violation } from "../watchdogs.ts";
import { isBrokenImage, isReleasedKind, RELEASED_KINDS } from "./draw-release.ts";
import type { ReleasedKind } from "./draw-release.ts";
import { imageOfRelease, releasesOf, ROLLOUTS } from "./newest-release.ts";

export interface WatchOptions {
  hub: StoreView;
  members: StoreView;
  names: readonly string[];
  isSteady: boolean;
  now(): number;
  report(violation: Violation): void;
}

export interface ReleaseWatch {
  onHubWrite(key: string): void;
  onPod(): void;
  /** Users moved workloads, or writes were lost: pods may be where no wave brought them. */
  disturb(): void;
}

/** What was seen of one release. */
interface Seen {
  kind: ReleasedKind;
  release: FleetRollout;
  image: string;
  /** The last wave that was open at any time; -1 before the first. */
  opened: number;
  /** When the judge saw that a wave was complete. */
  completeMs: Map<number, number>;
  /** The most pods that the workload was to have. */
  most: number;
  /** The image was used before, or workloads were moved meanwhile. */
  isExempt: boolean;
}

const openWave = ({ status }: FleetRollout): number =>
  status?.waveIndex === undefined ? -1 : status.waveState === "Before" ? status.waveIndex - 1 : status.waveIndex;

interface FoundPod {
  member: string;
  pod: AnyObject;
}

/** Pods of a workload with an image. */
const podsWith = ({ members, names }: WatchOptions, kind: ReleasedKind, image: string): FoundPod[] =>
  names.flatMap((member) =>
    members
      .list(`/core/pods/${member}/${NAMESPACE}/`)
      .filter(
        ({ metadata, spec }) =>
          metadata.labels?.["app"] === TARGETS[kind].name &&
          !metadata.deletionTimestamp &&
          spec.containers[0].image === image,
      )
      .map((pod) => ({ member, pod })),
  );
const list = (pods: readonly FoundPod[]): string =>
  pods.map(({ member, pod }) => `${member}/${pod.metadata.name}`).join(", ");

/** A Duplicated placement has all replicas on every member. */
function replicasOf({ hub, names }: WatchOptions, kind: ReleasedKind): number {
  const { table, path, name } = TARGETS[kind];
  const replicas = Number(hub.get(`${table}hub/${path}`)?.spec.replicas ?? 0);
  const placement = hub.get(`/policy.karmada.io/propagationpolicies/hub/${NAMESPACE}/place-${name}`)?.spec.placement;
  const isDivided = placement?.replicaScheduling?.replicaSchedulingType === "Divided";
  return replicas * (isDivided ? 1 : (placement?.clusterAffinity?.clusterNames.length ?? names.length));
}

export function createReleaseWatch(options: WatchOptions): ReleaseWatch {
  const { hub, isSteady, now, report } = options;
  const seen = new Map<string, Seen>();
  const newest = new Map<ReleasedKind, Seen>();
  const templates = new Map<string, ReleasedKind>(
    RELEASED_KINDS.map((kind) => [`${TARGETS[kind].table}hub/${TARGETS[kind].path}`, kind]),
  );
  /** The images that a template had, by its uid. */
  const images = new Map<string, Set<string>>();
  /** An image that a strategy will lead, and that no release has yet. */
  const due = new Map<ReleasedKind, { image: string; uid: string }>();

  const podsOf = (kind: ReleasedKind, image: string): readonly FoundPod[] => podsWith(options, kind, image);
  const totalOf = (kind: ReleasedKind): number => replicasOf(options, kind);

  function checkPods(kind: ReleasedKind): void {
    const waiting = due.get(kind);
    if (waiting) {
      const pods = podsOf(kind, waiting.image);
      if (pods.length > 0)
        report({
          invariant: "no pod is updated beyond the open waves",
          atMs: now(),
          details: `no release of ${waiting.image} exists, and there are ${list(pods)}`,
        });
    }
    const last = newest.get(kind);
    if (!last || last.isExempt || last.release.spec.previous === undefined) return;
    const waves = last.release.spec.strategy?.waves ?? [];
    const wave = waves[last.opened];
    const pods = podsOf(kind, last.image);
    if (pods.length === 0 || last.opened >= waves.length - 1) return;
    const allowed = waves.slice(0, last.opened + 1).flatMap(({ clusters }) => clusters?.names ?? []);
    const isByMembers = waves[0]?.clusters !== undefined;
    const percent = Number.parseInt(String(wave?.pods ?? "0"));
    // A kind without a partition gets whole members until the number is reached.
    const goal = kind === "CloneSet" ? Math.ceil((percent * last.most) / 100) : wave ? last.most : 0;
    const beyond = isByMembers
      ? pods.filter(({ member }) => !allowed.includes(member))
      : pods.slice(Math.min(goal, pods.length));
    if (beyond.length > 0)
      report({
        invariant: "no pod is updated beyond the open waves",
        atMs: now(),
        details:
          `${pods.length} pods of ${kind.toLowerCase()}/${TARGETS[kind].name} run ${last.image}, and the wave ` +
          `${wave?.name ?? "before the first"} is open: ${list(beyond)}`,
      });
  }

  /** A wave was opened. */
  function checkOpening(
    { kind, image, completeMs }: Seen,
    before: FleetRollout | undefined,
    release: FleetRollout,
  ): void {
    const index = openWave(release);
    const { spec, status } = release;
    const waves = spec.strategy?.waves ?? [];
    const named = `the wave ${waves[index]?.name ?? status?.wave ?? index} of ${release.metadata.name}`;
    const say = (invariant: string, details: string): void => report({ invariant, atMs: now(), details });
    const failure = before?.status?.failure;
    if (failure && spec.retry <= failure.retry)
      say("no wave opens after a failure", `${named} was opened, and the release had failed: ${failure.message}`);
    const promoted = (name = ""): boolean =>
      spec.promotions?.includes("*") === true || spec.promotions?.includes(name) === true;
    const wave = waves[index];
    const needsApproval = wave?.before?.some(({ approval }) => approval !== undefined) === true;
    if (wave && needsApproval && !promoted(wave.name) && spec.approvals?.includes(wave.name) !== true)
      say("a gate holds its wave", `${named} was opened without an approval`);
    const previous = waves[index - 1];
    const soak = previous?.after?.find((gate) => gate.soak !== undefined)?.soak;
    const sinceMs = completeMs.get(index - 1);
    // Times of the hub are whole seconds.
    if (isSteady && soak !== undefined && !promoted(previous?.name)) {
      const soakedMs = now() - (sinceMs ?? now());
      if (soakedMs < Number.parseInt(soak) * 1_000 - 1_000)
        say(
          "a gate holds its wave",
          `${named} was opened ${soakedMs} ms after the one before was complete, and it soaks for ${soak}`,
        );
    }
    const broken = index > 0 && isBrokenImage(image) ? podsOf(kind, image) : [];
    if (broken.length > 0)
      say("no wave opens after a failure", `${named} was opened, and pods cannot start: ${list(broken)}`);
  }

  function noteRelease(release: FleetRollout): void {
    const { kind } = release.spec.target;
    if (!isReleasedKind(kind) || release.spec.source !== "Strategy") return;
    const image = imageOfRelease(release);
    let known = seen.get(release.metadata.uid ?? "");
    if (!known) {
      const used = images.get(release.spec.target.uid ?? "");
      const isExempt = isUsedBefore(kind, image, used);
      known = { kind, release, image, opened: -1, completeMs: new Map(), most: totalOf(kind), isExempt };
      seen.set(release.metadata.uid ?? "", known);
      if (releasesOf(hub, kind)[0]?.metadata.uid === release.metadata.uid) newest.set(kind, known);
      if (due.get(kind)?.image === image) due.delete(kind);
    }
    const before = known.release;
    const isNewWave = openWave(release) > openWave(before);
    if (isNewWave && release.status?.phase !== "Superseded" && release.spec.previous !== undefined)
      checkOpening(known, before, release);
    if (release.status?.waveState === "After" && release.status.waveDoneAt !== before.status?.waveDoneAt)
      known.completeMs.set(release.status.waveIndex ?? 0, now());
    // Its pods are gone: it begins again when it is tried again.
    if (release.status?.phase === "RolledBack") known.opened = -1;
    else known.opened = Math.max(known.opened, openWave(release));
    known.release = release;
  }

  /** The template had this image before it had another. */
  function isUsedBefore(kind: ReleasedKind, image: string, used: ReadonlySet<string> | undefined): boolean {
    const { table, path } = TARGETS[kind];
    const current = hub.get(`${table}hub/${path}`)?.spec.template.spec.containers[0].image as string | undefined;
    return current !== image || used === undefined || returned.has(`${kind} ${image}`);
  }
  const returned = new Set<string>();

  function noteTemplate(key: string, kind: ReleasedKind): void {
    const template = hub.get(key);
    const uid = template?.metadata.uid ?? "";
    if (!template) {
      newest.delete(kind);
      due.delete(kind);
      return;
    }
    const image = template.spec.template.spec.containers[0].image as string;
    const used = images.get(uid) ?? new Set();
    images.set(uid, used);
    const waiting = due.get(kind);
    if (waiting && waiting.image !== image) due.delete(kind);
    const last = newest.get(kind);
    const isNew = !used.has(image);
    if (!isNew && last?.image !== image && waiting?.image !== image) returned.add(`${kind} ${image}`);
    used.add(image);
    if (last && last.release.spec.target.uid === uid) {
      last.most = Math.max(last.most, totalOf(kind));
      if (isNew && last.image !== image) due.set(kind, { image, uid });
    }
  }

  return {
    onHubWrite(key) {
      const kind = templates.get(key);
      if (kind) noteTemplate(key, kind);
      if (!key.startsWith(ROLLOUTS)) return;
      const release = hub.get(key);
      if (release) noteRelease(release as FleetRollout);
    },
    onPod() {
      for (const kind of RELEASED_KINDS) checkPods(kind);
    },
    disturb() {
      due.clear();
      for (const known of seen.values()) known.isExempt = true;
    },
  };
}

/**
 * Plans the next step of a release: which member may have which revision, how many of its pods, and what the release waits
 * for. Pure: everything that must survive a restart is in the status that it returns.
 *
 * - A wave starts when the one before is complete and healthy and all gates are open; a failed release starts none.
 * - A member is only given more when the budget has room for it. What it may be making unavailable stays booked until it
 *   reports that it is done; a member that cannot be observed books all its pods.
 * - A rollback returns members to the previous revision, those of the last wave first, within the same budget.
 */
import { scaledValue } from "@flotilla/apimachinery";
import { formatTime } from "@flotilla/base";
import type { FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { boundTimes } from "./bound-times.ts";
import { conditionsOf, describeBudget, describeWait, nameStep } from "./describe-release.ts";
import { observe } from "./observe-entries.ts";
import { ABORTED, planFailure } from "./plan-failure.ts";
import type { Failure } from "./plan-failure.ts";
import { approvalsOf, planGates } from "./plan-gates.ts";
import { rollBack } from "./plan-rollback.ts";
import { describeWaves } from "./describe-waves.ts";
import { planWaves } from "./plan-waves.ts";
import type { PlannedWave } from "./plan-waves.ts";
import type { ReleaseInput, ReleasePlan } from "./release-state.ts";
import { keepMoved } from "./keep-moved.ts";
import { NO_STRATEGY, totalOf, withoutLimit } from "./release.ts";
import type { Entry, Release } from "./release.ts";
import { bookedIn, roomOf, share } from "./share-budget.ts";

export function planReleaseStep(input: ReleaseInput): ReleasePlan {
  const { rollout, nowMs } = input;
  const before = rollout.status;
  let againInMs: number | undefined;
  const release: Release = {
    input,
    self: rollout.metadata.name,
    previous: rollout.spec.previous,
    strategy: rollout.spec.strategy ?? NO_STRATEGY,
    members: new Map(input.members.map((member) => [member.name, member])),
    entries: [],
    status: structuredClone((before ?? { updated: 0, ready: 0, total: 0, unavailable: 0 }) as FleetRolloutStatus),
    now: formatTime(nowMs),
    events: [],
    wake: (inMs) => void (againInMs = Math.max(1, Math.min(againInMs ?? inMs, inMs))),
  };
  const { status } = release;
  boundTimes(status, { now: release.now, nowMs });
  status.observedGeneration = rollout.metadata.generation;
  if (status.phase === undefined) begin(release);
  observe(release);
  // A template that is set back to what all members have changes none of them: no gate is waited for.
  if (before?.phase === undefined && status.phase === "Progressing" && isEverywhere(release)) succeed(release);
  if (input.newer !== undefined && status.phase !== "Superseded") supersede(release, input.newer);
  if (status.phase !== "Superseded") {
    const waves = planWaves(release.strategy, waveMembers(release), !input.updates.hasPartition, input.leaving);
    // A release that returns keeps the plan by which it was made: its waves return in the reverse order.
    const isBack = status.phase === "RollingBack" || status.phase === "RolledBack" || status.phase === "Failed";
    if (!isBack) {
      reportJoined(release, waves);
      status.plan = describeWaves(release, waves);
    }
    applyRequests(release);
    if (status.phase === "Progressing") advance(release, waves);
    else if (status.phase === "RollingBack") rollBack(release);
    else if (status.phase === "Succeeded") catchUp(release);
    else hold(release);
  }
  return finish(release, againInMs);
}

/**
 * A wave is a selection: a member that begins to match one that has started is updated with it, although its gates opened
 * for the others.
 */
function reportJoined({ status, events, entries }: Release, waves: readonly PlannedWave[]): void {
  const { plan: before, waveIndex = 0, waveState } = status;
  if (!before || status.phase !== "Progressing") return;
  const started = waveState === "Before" ? waveIndex : waveIndex + 1;
  const had = new Set(before.slice(0, started).flatMap(({ clusters }) => clusters));
  for (const { name, updated, members } of waves.slice(0, started)) {
    const joined = members.filter((member) => !had.has(member));
    if (joined.length === 0) continue;
    events.push({
      type: "Normal",
      reason: "WaveJoined",
      message: `${joined.join(", ")} joined wave ${name}, which has started before: ${updated} of ${totalOf(entries)} pods`,
      clusters: joined,
    });
  }
}

function begin(given: Release): void {
  const { status, now, events, self, previous } = given;
  if (previous === undefined) {
    // What runs when a strategy first selects a template is not a release: later ones return to it.
    status.phase = "Succeeded";
    status.startedAt = now;
    status.finishedAt = now;
    return;
  }
  status.phase = "Progressing";
  status.startedAt = now;
  status.waveIndex = 0;
  status.waveState = "Before";
  events.push({ type: "Normal", reason: "ReleaseStarted", message: `release ${self} has started`, clusters: [] });
}

const isEverywhere = ({ entries, self }: Release): boolean =>
  entries.length > 0 && entries.every(({ revision }) => revision === self);

const waveMembers = ({ entries, members, self }: Release) =>
  entries.map((entry) => {
    const { labels = {}, size = entry.replicas } = members.get(entry.name) ?? {};
    const floor = entry.revision === self ? (entry.target ?? size) : undefined;
    return { name: entry.name, labels, size, floor, wave: entry.wave };
  });

/** What the user asks for in the spec, and what the members' state says about it. */
function applyRequests(release: Release): void {
  const { input, status, events } = release;
  const { spec } = input.rollout;
  const failure = status.failure;
  if (failure && spec.retry > failure.retry && status.phase !== "Succeeded") restart(release);
  if (spec.abort && (status.phase === "Progressing" || status.phase === "Paused"))
    fail(release, { reason: ABORTED, message: "the release was aborted", action: "Rollback" });
  if (status.phase === "Progressing") {
    const found = planFailure(release);
    if (found) fail(release, found);
  }
  if (status.phase === "Progressing" && spec.paused) {
    status.phase = "Paused";
    events.push({ type: "Normal", reason: "Paused", message: "the release was paused", clusters: [] });
  } else if (status.phase === "Paused" && !spec.paused && !status.failure) {
    status.phase = "Progressing";
    for (const entry of release.entries) if (entry.progressTime !== undefined) entry.progressTime = release.now;
    events.push({ type: "Normal", reason: "Resumed", message: "the release was resumed", clusters: [] });
  }
}

function restart(given: Release): void {
  const { status, entries, self, now, events, input } = given;
  const isBack = status.phase !== "Paused";
  events.push({
    type: "Normal",
    reason: "Retried",
    message: `the release was retried after: ${status.failure?.message ?? ""}`,
    clusters: [],
  });
  delete status.failure;
  delete status.finishedAt;
  status.phase = input.rollout.spec.paused ? "Paused" : "Progressing";
  for (const entry of entries) {
    entry.progressTime = now;
    delete entry.unhealthySince;
    if (entry.revision === self) delete entry.paused;
    delete entry.returned;
    delete entry.booked;
    if (entry.state === "RollingBack" || entry.state === "RolledBack") entry.state = "Waiting";
    if (isBack && entry.revision !== self) delete entry.wave;
  }
  if (!isBack) return;
  status.waveIndex = 0;
  status.waveState = "Before";
  delete status.waveDoneAt;
  status.gates = [];
}

function fail(release: Release, given: Failure): void {
  const { reason, message, action, wave, cluster } = given;
  const { status, strategy, now, events, input, previous } = release;
  const asked = action ?? strategy.failure.action;
  const canReturn = previous !== undefined && release.entries.some(({ revision }) => revision === release.self);
  const { retry } = input.rollout.spec;
  // A person who aborts what has failed already is not its cause.
  status.failure =
    status.failure && reason === ABORTED
      ? { ...status.failure, retry, abortedAt: now }
      : { reason, message: message.slice(0, 2000), wave: wave ?? status.wave, cluster, time: now, retry };
  const clusters = cluster === undefined ? [] : [cluster];
  events.push({ type: "Warning", reason, message, clusters });
  if (asked === "Rollback" && (canReturn || previous !== undefined)) {
    status.phase = "RollingBack";
    events.push({
      type: "Warning",
      reason: "RollingBack",
      message: `the waves so far return to ${previous}: ${message}`,
      clusters: release.entries.flatMap(({ name, revision }) => (revision === release.self ? [name] : [])),
    });
    return;
  }
  status.phase = "Paused";
  events.push({ type: "Warning", reason: "Paused", message: `the release is paused: ${message}`, clusters });
  for (const entry of release.entries) if (entry.state === "Updating") entry.paused = true;
}

function supersede(release: Release, newer: string): void {
  const { status, now, events } = release;
  if (status.phase === "Progressing" || status.phase === "Paused" || status.phase === "RollingBack")
    events.push({
      type: "Normal",
      reason: "Superseded",
      message: `the newer release ${newer} takes over`,
      clusters: [],
    });
  if (status.phase !== "Succeeded" && status.phase !== "RolledBack" && status.phase !== "Failed") {
    status.phase = "Superseded";
    status.finishedAt ??= now;
  }
}

/** Carries the release on: gates, waves, and what members may have. */
function advance(release: Release, waves: readonly PlannedWave[]): void {
  const { status, input, now, events, entries, self } = release;
  for (const entry of entries) if (entry.revision === self) delete entry.paused;
  // Each round ends a state of a wave; the number of rounds is bounded by the waves.
  for (let round = 0; round <= waves.length * 3; round++) {
    const index = Math.min(status.waveIndex ?? 0, waves.length - 1);
    const wave = waves[index];
    if (!wave) return succeed(release);
    status.waveIndex = index;
    status.wave = wave.name;
    if (status.waveState === "After" && !isComplete(release, wave)) {
      status.waveState = "Open";
      delete status.waveDoneAt;
    }
    if (status.waveState === "Open" || status.waveState === undefined) {
      grant(release, wave, waves.slice(0, index + 1));
      if (!isComplete(release, wave)) return returnLeftovers(release, wave);
      status.waveState = "After";
      status.waveDoneAt = now;
      events.push({
        type: "Normal",
        reason: "WaveComplete",
        message: `wave ${wave.name} is complete: ${wave.updated} of ${totalOf(entries)} pods`,
        clusters: status.plan?.[index]?.clusters ?? wave.members,
      });
    }
    const when = status.waveState === "After" ? "After" : "Before";
    const sinceText = status.waveDoneAt ?? status.startedAt;
    const { gates, againInMs } = planGates((when === "Before" ? wave.spec?.before : wave.spec?.after) ?? [], {
      wave: wave.name,
      when,
      approval: wave.spec && approvalsOf(wave.spec)[when === "Before" ? "before" : "after"],
      approvals: input.rollout.spec.approvals ?? [],
      promotions: input.rollout.spec.promotions ?? [],
      actorOf: input.actorOf,
      healthySinceMs: sinceText === undefined ? undefined : Date.parse(sinceText),
      answers: [...(input.answers ?? []), ...(status.gates ?? [])],
      nowMs: input.nowMs,
    });
    status.gates = [...(status.gates ?? []).filter((gate) => gate.wave !== wave.name || gate.when !== when), ...gates];
    const failed = gates.find(({ state }) => state === "Failed");
    if (failed) {
      fail(release, {
        reason: "GateFailed",
        message: `the ${failed.type} gate ${when.toLowerCase()} wave ${wave.name} failed: ${failed.message ?? failed.value ?? ""}`,
        wave: wave.name,
      });
      return;
    }
    if (gates.some(({ state }) => state !== "Open")) {
      if (againInMs !== undefined) release.wake(againInMs);
      // Earlier waves are kept up, for example after scaling.
      grant(release, when === "After" ? wave : undefined, waves.slice(0, when === "After" ? index + 1 : index));
      return;
    }
    if (when === "Before") {
      status.waveState = "Open";
      status.waveStartedAt = now;
      delete status.waveDoneAt;
      events.push({
        type: "Normal",
        reason: "WaveStarted",
        message: `wave ${wave.name} has started: ${wave.updated} of ${totalOf(entries)} pods`,
        clusters: wave.members,
      });
    } else if (index === waves.length - 1) {
      return succeed(release);
    } else {
      status.waveIndex = index + 1;
      status.waveState = "Before";
    }
  }
}

function succeed(given: Release): void {
  const { status, now, events, self, entries } = given;
  status.phase = "Succeeded";
  status.finishedAt = now;
  events.push({
    type: "Normal",
    reason: "ReleaseSucceeded",
    message: `release ${self} is on all ${entries.length} members`,
    clusters: entries.map(({ name }) => name),
  });
}

/** Every member that the wave reaches has its pods, updated and available. */
function isComplete(release: Release, wave: PlannedWave): boolean {
  const { entries, self, strategy, input } = release;
  // Its pods on a member that the workload is leaving are replaced when they are gone.
  if (wave.isCounted && wave.updated < totalOf(entries) && (input.leaving ?? 0) > 0) return false;
  let missing = 0;
  for (const entry of entries) {
    const target = wave.targets.get(entry.name);
    if (target === undefined || entry.state === "Skipped") continue;
    if (entry.revision !== self || entry.state === "Unreachable") return false;
    const allowed = entry.target ?? entry.replicas;
    if (allowed < Math.min(target, entry.replicas)) return false;
    const member = release.members.get(entry.name);
    if (!member?.isAcknowledged || entry.updated < Math.min(target, entry.replicas)) return false;
    missing += Math.max(0, Math.min(target, entry.replicas) - entry.ready);
  }
  return missing <= scaledValue(strategy.failure.maxUnhealthy, totalOf(entries), { roundUp: false });
}

/** Gives members what the open waves allow, as far as the budget has room. */
function grant(release: Release, wave: PlannedWave | undefined, waves: readonly PlannedWave[]): void {
  const open = wave ?? waves.at(-1);
  if (!open) return;
  const { entries, self, now } = release;
  const waveOf = (name: string): string | undefined => waves.find(({ targets }) => targets.has(name))?.name;
  const wanting = entries.filter((entry) => {
    const target = open.targets.get(entry.name);
    if (target === undefined) return false;
    if (entry.state === "Unreachable" || entry.state === "Skipped") return false;
    // OpenKruise creates all pods of a new object from its only template: the member has its first copy before.
    if (!release.members.get(entry.name)?.isAcknowledged) return false;
    if (entry.revision !== self) return target > 0 || entry.replicas === 0;
    return entry.target !== undefined && Math.min(target, entry.replicas) > entry.target;
  });
  share(
    release,
    wanting,
    (entry) =>
      Math.min(open.targets.get(entry.name) ?? 0, entry.replicas) - (entry.revision === self ? entry.updated : 0),
    (entry, token) => {
      const target = open.targets.get(entry.name) ?? 0;
      entry.wave ??= waveOf(entry.name);
      delete entry.returned;
      delete entry.paused;
      if (entry.revision !== self) delete entry.filled;
      entry.revision = self;
      delete entry.kept;
      if (target < entry.replicas || (open.isCounted && open.updated < totalOf(entries))) entry.target = target;
      else delete entry.target;
      entry.maxUnavailable = token;
      entry.state = "Updating";
      entry.progressTime = now;
    },
  );
  // The others got nothing.
  for (const entry of wanting) if (entry.state === "Waiting") entry.message ??= describeBudget(release);
}

/**
 * Pods that an earlier, unfinished release made unavailable on members of later waves may take the whole budget, and the
 * release that corrects it would wait for it for ever. These members return to the revision before.
 */
function returnLeftovers(release: Release, wave: PlannedWave): void {
  const { entries, self, previous, members, now } = release;
  if (previous === undefined || (roomOf(release) ?? 1) > 0) return;
  const broken = entries.filter(({ name, revision, replicas }) => {
    const member = members.get(name);
    const isLater = revision !== self && revision !== previous && !wave.targets.has(name);
    return isLater && member?.isReachable === true && member.isAcknowledged && member.available < replicas;
  });
  share(
    release,
    broken,
    ({ name, replicas }) => replicas - (members.get(name)?.available ?? 0),
    (entry, token) => {
      entry.revision = previous;
      withoutLimit(entry);
      delete entry.paused;
      entry.maxUnavailable = token;
      entry.progressTime = now;
    },
  );
}

/** Members that were skipped, or that join later, follow a release that has succeeded. */
function catchUp(release: Release): void {
  const { entries, self, now } = release;
  const behind = entries.filter((entry) => entry.revision !== self && entry.state !== "Unreachable");
  share(
    release,
    behind,
    (entry) => entry.replicas,
    (entry, token) => {
      entry.revision = self;
      withoutLimit(entry);
      delete entry.paused;
      entry.maxUnavailable = token;
      entry.state = "Updating";
      entry.progressTime = now;
    },
  );
  for (const entry of entries) if (entry.revision === self && entry.target !== undefined) withoutLimit(entry);
}

/** Nothing changes; what is in progress on members is paused there. */
function hold({ status, entries }: Release): void {
  if (status.phase === "Paused") for (const entry of entries) if (entry.state === "Updating") entry.paused = true;
}

function finish(release: Release, againInMs: number | undefined): ReleasePlan {
  const { status, entries, self, now } = release;
  const own = entries.filter(({ revision }) => revision === self);
  status.updated = own.reduce((sum, { updated }) => sum + updated, 0);
  status.ready = own.reduce((sum, { ready }) => sum + ready, 0);
  status.total = totalOf(entries);
  const booked = bookedIn(release);
  status.unavailable = booked;
  const waiting = describeWait(release);
  if (waiting === undefined) delete status.waitingFor;
  else status.waitingFor = waiting.slice(0, 1000);
  status.conditions = conditionsOf(release, waiting, now);
  for (const entry of entries) {
    keepMoved(release, entry);
    nameStep(release, entry);
    for (const key of Object.keys(entry) as (keyof Entry)[]) if (entry[key] === undefined) delete entry[key];
  }
  return { status, events: release.events, againInMs, booked };
}

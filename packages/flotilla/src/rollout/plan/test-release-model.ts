/**
 * A model of a fleet under a release, for `release-model.test.ts`: members with pods, messages that are late, members that
 * are lost, a hub that is killed. Only the planner is real.
 */
import { createSeededRandom } from "@flotilla/base";
import type { Random } from "@flotilla/base";
import type { FleetRollout, FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import { planReleaseStep } from "./plan-release-step.ts";
import type { ObservedMember } from "./release-state.ts";

const TICK_MS = 1_000;
const START_MS = Date.parse("2026-01-01T00:00:00Z");
const OLD = "web-old";
const NEW = "web-new";
/** Faults end here, and every release must have ended some time after. */
const FAULTS_END = 120;
const LAST_TICK = 1_500;

interface Pod {
  revision: string;
  /** The tick from which it is available; never for pods of a broken revision. */
  readyAt: number;
}
interface Copy {
  revision: string;
  target: number;
  maxUnavailable: number;
  isPaused: boolean;
  step: string | undefined;
}
interface ModelMember {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly pods: Pod[];
  copy: Copy;
  sent: Copy;
  /** In flight, in order. */
  readonly copies: { at: number; copy: Copy }[];
  readonly reports: { at: number; report: Report }[];
  report: Report;
  lostUntil: number;
}
interface Report {
  step: string | undefined;
  updated: number;
  ready: number;
  available: number;
  /** Unset while the hub has not noticed. */
  isReachable: boolean;
}

type Fault =
  | { readonly tick: number; readonly type: "lose"; readonly member: number; readonly ticks: number }
  | { readonly tick: number; readonly type: "kill"; readonly ticks: number }
  | { readonly tick: number; readonly type: "pause"; readonly ticks: number }
  | { readonly tick: number; readonly type: "abort" };

export interface Scenario {
  readonly seed: number;
  readonly sizes: readonly number[];
  readonly waves: NonNullable<FleetRollout["spec"]["strategy"]>["waves"];
  readonly budget: number;
  readonly hasPartition: boolean;
  readonly action: "Pause" | "Rollback";
  readonly order: "Spread" | "Ordered";
  readonly onUnreachable: "Fail" | "Wait" | "Skip";
  /** The members on which the revision does not become available. */
  readonly broken: readonly number[];
  readonly maxDelay: number;
  readonly faults: readonly Fault[];
}

export interface Outcome {
  readonly violation?: string;
  readonly phase: string | undefined;
  readonly ticks: number;
  readonly history: readonly string[];
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random.next() * items.length)] as T;
const upTo = (random: Random, most: number): number => Math.floor(random.next() * (most + 1));

export function makeScenario(seed: number): Scenario {
  const random = createSeededRandom(seed);
  const sizes = Array.from({ length: 1 + upTo(random, 5) }, () => upTo(random, 6));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const shape = pick(random, ["labels", "weights", "percent", "names"] as const);
  const soak = { soak: `${upTo(random, 4)}s` };
  const waves =
    shape === "weights"
      ? [1, 2, 7].map((weight, index) => ({ name: `w${index}`, weight, after: [soak] }))
      : shape === "percent"
        ? [{ name: "w0", pods: "10%" }, { name: "w1", pods: "50%", before: [soak] }, { name: "w2" }]
        : shape === "names"
          ? [
              { name: "w0", clusters: { names: ["m0"] } },
              { name: "w1", clusters: { names: ["m1", "m2"] }, pods: Math.max(1, Math.floor(total / 2)) },
              { name: "w2" },
            ]
          : [
              { name: "w0", clusters: { matchLabels: { tier: "canary" } }, after: [soak] },
              { name: "w1", clusters: { count: 2 } },
              { name: "w2" },
            ];
  const faults = Array.from({ length: upTo(random, 4) }, (): Fault => {
    const tick = 2 + upTo(random, FAULTS_END - 40);
    const ticks = 1 + upTo(random, 30);
    const type = pick(random, ["lose", "lose", "kill", "pause", "abort"] as const);
    if (type === "lose") return { tick, type, member: upTo(random, sizes.length - 1), ticks };
    return type === "abort" ? { tick, type } : { tick, type, ticks };
  }).toSorted((a, b) => a.tick - b.tick);
  return {
    seed,
    sizes,
    waves,
    budget: 1 + upTo(random, 3),
    hasPartition: random.next() < 0.7,
    action: pick(random, ["Pause", "Rollback", "Rollback"]),
    order: pick(random, ["Spread", "Ordered"]),
    onUnreachable: pick(random, ["Fail", "Wait", "Skip"]),
    broken: random.next() < 0.35 ? [upTo(random, sizes.length - 1)] : [],
    maxDelay: upTo(random, 5),
    faults,
  };
}

export function runScenario(scenario: Scenario): Outcome {
  const random = createSeededRandom(scenario.seed + 1_000_003);
  const history: string[] = [];
  const whole = (size: number, revision: string): Copy => ({
    revision,
    target: size,
    maxUnavailable: size,
    isPaused: false,
    step: undefined,
  });
  const members = scenario.sizes.map((size, index): ModelMember => ({
    name: `m${index}`,
    labels: index === 0 ? { tier: "canary" } : {},
    pods: Array.from({ length: size }, () => ({ revision: OLD, readyAt: 0 })),
    copy: whole(size, OLD),
    sent: whole(size, OLD),
    copies: [],
    reports: [],
    report: { step: undefined, updated: size, ready: size, available: size, isReachable: true },
    lostUntil: -1,
  }));
  let rollout = makeRollout(scenario);
  let killedUntil = -1;
  let pausedUntil = -1;
  let failedAtWave: number | undefined;
  let quiet = 0;

  for (let tick = 1; tick <= LAST_TICK; tick++) {
    for (const fault of scenario.faults.filter((each) => each.tick === tick)) {
      history.push(`${tick}: ${JSON.stringify(fault)}`);
      if (fault.type === "lose") (members[fault.member] as ModelMember).lostUntil = tick + fault.ticks;
      else if (fault.type === "kill") killedUntil = tick + fault.ticks;
      else if (fault.type === "pause") pausedUntil = tick + fault.ticks;
      else rollout = { ...rollout, spec: { ...rollout.spec, abort: true } };
    }
    const isPaused = tick < pausedUntil;
    if (rollout.spec.paused !== isPaused) rollout = { ...rollout, spec: { ...rollout.spec, paused: isPaused } };
    for (const member of members) deliver(member, tick);
    for (const member of members) runMember(member, tick, random);
    for (const member of members) report(member, scenario, tick, random);

    // The hub: it plans with what has arrived, and is not there while it is killed.
    if (tick >= killedUntil) {
      const before = rollout.status;
      const plan = planReleaseStep({
        rollout,
        members: members.map((member): ObservedMember => ({ ...observed(member), labels: member.labels })),
        updates: { hasPartition: scenario.hasPartition, takesDown: "budget" },
        nowMs: START_MS + tick * TICK_MS,
      });
      for (const { reason, message } of plan.events) history.push(`${tick}: ${reason}: ${message}`);
      rollout = { ...rollout, status: plan.status };
      if (before?.failure === undefined && plan.status.failure) failedAtWave = plan.status.waveIndex ?? 0;
      dispatch(members, plan.status, tick, scenario, random);
    }

    const wrong = violation(members, rollout.status, scenario, failedAtWave, tick);
    if (wrong !== undefined)
      return { violation: `tick ${tick}: ${wrong}`, phase: rollout.status?.phase, ticks: tick, history };
    const phase = rollout.status?.phase;
    const hasEnded =
      phase === "Succeeded" ||
      phase === "RolledBack" ||
      phase === "Failed" ||
      (phase === "Paused" && rollout.status?.failure !== undefined);
    quiet = hasEnded ? quiet + 1 : 0;
    if (quiet > 40 && tick > FAULTS_END) return { phase, ticks: tick, history };
  }
  return {
    violation: `the release has not ended after ${LAST_TICK} s: ${rollout.status?.phase}, waits for ${rollout.status?.waitingFor}`,
    phase: rollout.status?.phase,
    ticks: LAST_TICK,
    history,
  };
}

function makeRollout(scenario: Scenario): FleetRollout {
  const { waves, budget, action, order, onUnreachable } = scenario;
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetRollout",
    metadata: { name: NEW, namespace: "shop", uid: "1", generation: 1 },
    spec: {
      target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      source: "Strategy",
      number: 2,
      revision: "2",
      previous: OLD,
      template: {},
      paused: false,
      abort: false,
      retry: 0,
      strategy: {
        waves,
        order,
        unit: "Pods",
        maxUnavailable: budget,
        failure: {
          action,
          progressDeadline: "40s",
          maxUnhealthy: 0,
          unhealthyFor: "5s",
          maxRestarts: 3,
          onUnreachable,
        },
      },
    },
  };
}

function deliver(member: ModelMember, tick: number): void {
  if (tick < member.lostUntil) return;
  for (let next = member.copies[0]; next && next.at <= tick; next = member.copies[0]) {
    member.copy = next.copy;
    member.copies.shift();
  }
}

/** As OpenKruise: unavailable pods first, and no more of the available ones than the copy allows. */
function runMember({ pods, copy }: ModelMember, tick: number, random: Random): void {
  if (copy.isPaused) return;
  let has = pods.filter(({ revision }) => revision === copy.revision).length;
  const waiting = pods.filter(({ revision }) => revision !== copy.revision).toSorted((a, b) => b.readyAt - a.readyAt);
  for (const pod of waiting) {
    if (has >= copy.target) return;
    const unavailable = pods.filter(({ readyAt }) => readyAt > tick).length;
    if (pod.readyAt <= tick && unavailable >= copy.maxUnavailable) return;
    pod.revision = copy.revision;
    pod.readyAt = tick + 1 + upTo(random, 4);
    has++;
  }
}

function report(member: ModelMember, scenario: Scenario, tick: number, random: Random): void {
  const index = Number(member.name.slice(1));
  for (const pod of member.pods)
    if (scenario.broken.includes(index) && pod.revision === NEW) pod.readyAt = Number.POSITIVE_INFINITY;
  const isLost = tick < member.lostUntil;
  const last = member.reports.at(-1)?.at ?? 0;
  const at = Math.max(last, tick + upTo(random, scenario.maxDelay));
  if (isLost) member.reports.push({ at, report: { ...member.report, isReachable: false } });
  else {
    const own = member.pods.filter(({ revision }) => revision === member.copy.revision);
    const available = member.pods.filter(({ readyAt }) => readyAt <= tick).length;
    member.reports.push({
      at,
      report: {
        step: member.copy.step,
        updated: own.length,
        ready: own.filter(({ readyAt }) => readyAt <= tick).length,
        available,
        isReachable: true,
      },
    });
  }
  for (let next = member.reports[0]; next && next.at <= tick; next = member.reports[0]) {
    // What is said of a lost member is only that it is lost.
    member.report = next.report.isReachable ? next.report : { ...member.report, isReachable: false };
    member.reports.shift();
  }
}

function observed({ name, report: seen, pods, sent }: ModelMember): Omit<ObservedMember, "labels"> {
  return {
    name,
    size: pods.length,
    isReachable: seen.isReachable,
    isAcknowledged: seen.step === sent.step,
    updated: seen.updated,
    ready: seen.ready,
    available: seen.available,
  };
}

function dispatch(
  members: readonly ModelMember[],
  status: FleetRolloutStatus,
  tick: number,
  { maxDelay }: Scenario,
  random: Random,
): void {
  for (const member of members) {
    const entry = status.clusters?.find(({ name }) => name === member.name);
    if (!entry || entry.step === member.sent.step) continue;
    const size = member.pods.length;
    const copy: Copy = {
      revision: entry.revision,
      target: entry.target ?? size,
      maxUnavailable: entry.maxUnavailable ?? size,
      isPaused: entry.paused ?? false,
      step: entry.step,
    };
    member.sent = copy;
    const at = Math.max(member.copies.at(-1)?.at ?? 0, tick + upTo(random, maxDelay));
    member.copies.push({ at, copy });
  }
}

function violation(
  members: readonly ModelMember[],
  status: FleetRolloutStatus | undefined,
  { budget }: Scenario,
  failedAtWave: number | undefined,
  tick: number,
): string | undefined {
  const down = members.reduce((sum, { pods }) => sum + pods.filter(({ readyAt }) => readyAt > tick).length, 0);
  if (down > budget) return `${down} pods are unavailable through the release, the budget is ${budget}`;
  if (!status) return undefined;
  const open = status.waveIndex ?? 0;
  if (failedAtWave !== undefined && open > failedAtWave && status.failure)
    return `wave ${open} started after wave ${failedAtWave} failed`;
  for (const { name, pods } of members) {
    const updated = pods.filter(({ revision }) => revision === NEW).length;
    if (updated === 0) continue;
    const first = status.plan?.findIndex(({ clusters }) => clusters.includes(name)) ?? -1;
    if (first > open && status.phase !== "Succeeded")
      return `${name} has ${updated} pods of the revision before its wave ${first}; wave ${open} is open`;
    const entry = status.clusters?.find((each) => each.name === name);
    if (entry?.revision === NEW && entry.target !== undefined && updated > entry.target)
      return `${name} has ${updated} pods of the revision, ${entry.target} are allowed`;
  }
  return undefined;
}

/** Removes faults, members and delays for as long as the scenario still fails. */
export function shrink(scenario: Scenario): { scenario: Scenario; outcome: Outcome } {
  let smallest = scenario;
  let outcome = runScenario(scenario);
  for (let isShorter = true; isShorter;) {
    isShorter = false;
    const candidates: Scenario[] = [
      ...smallest.faults.map((_fault, index) => ({ ...smallest, faults: smallest.faults.toSpliced(index, 1) })),
      ...(smallest.maxDelay > 0 ? [{ ...smallest, maxDelay: smallest.maxDelay - 1 }] : []),
      ...smallest.sizes.flatMap((size, index) =>
        size > 0 ? [{ ...smallest, sizes: smallest.sizes.with(index, size - 1) }] : [],
      ),
      ...(smallest.broken.length > 0 ? [{ ...smallest, broken: [] }] : []),
    ];
    for (const candidate of candidates) {
      const next = runScenario(candidate);
      if (next.violation === undefined) continue;
      [smallest, outcome, isShorter] = [candidate, next, true];
      break;
    }
  }
  return { scenario: smallest, outcome };
}

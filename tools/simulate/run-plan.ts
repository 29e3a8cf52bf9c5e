/** Plays one plan and judges it. */
import { NAMESPACE, TARGETS } from "./manifests.ts";
import { messageOf } from "@flotilla/base";
import { startSimulatedFleet } from "./simulated-fleet.ts";
import type { SimulatedFleet } from "./simulated-fleet.ts";
import { isFault } from "./plan-run.ts";
import type { Fault, Plan, Step } from "./plan-run.ts";
import { checkSettled } from "./check-settled.ts";
import { readProblems } from "./read-problems.ts";
import { createStoreView } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { createUsers } from "./users.ts";
import { createWatchdogs } from "./watchdogs.ts";
import type { Violation } from "./watchdogs.ts";

export interface RunResult {
  seed: number;
  violations: readonly Violation[];
  /** What happened, for people: user actions, faults and what came of them. */
  story: readonly string[];
  virtualMs: number;
  faults: number;
  events: number;
  /** The disk lied, and acknowledged writes were lost: what the fleet settled to was not judged. */
  hasLostWrites: boolean;
  digest: string;
}

const SECOND_MS = 1_000;
/** Backoff of failed deliveries is at most five minutes, and an eviction ends after ten. */
const SLICE_MS = 60 * SECOND_MS;
const MAX_SETTLE_MS = 30 * SLICE_MS;
const QUIET_MS = 60 * SECOND_MS;
/** Every so many seeds a member stays away at the end. */
const STATUS_EVERY = 4;
/** A member counts as away after half a minute, and what runs there as unhealthy after a minute. */
const CUT_MS = 120 * SECOND_MS;

/** Actions of users that bring pods to other members, whatever a release says. */
const MOVES: ReadonlySet<string> = new Set(["place", "taint", "drain", "unjoin", "join", "edit on member", "delete"]);

export interface RunOptions {
  onEvent?(line: string): void;
  /** Called once at the end with what the stores hold. */
  onEnd?(hub: StoreView, members: StoreView): void;
}

export async function runPlan(plan: Plan, options: RunOptions = {}): Promise<RunResult> {
  const hub = createStoreView();
  const members = createStoreView();
  const names = plan.members.map(({ name }) => name);
  const violations: Violation[] = [];
  const story: string[] = [];
  let startMs = 0;
  let faults = 0;
  /** The disk lied: what members have may be from a history that the hub does not know. */
  let hasLost = false;
  const sinceStart = (): number => (fleet ? fleet.clock.now() - startMs : 0);
  const note = (text: string): void =>
    void story.push(`${(sinceStart() / SECOND_MS).toFixed(3).padStart(9)} s  ${text}`);
  const report = (violation: Violation): void => {
    violations.push(violation);
    note(`BROKEN: ${violation.invariant}: ${violation.details}`);
  };
  const watchdogs = createWatchdogs({
    hub,
    members,
    names,
    isSteady: plan.isSteady,
    now: sinceStart,
    report,
  });
  let fleet: SimulatedFleet | undefined;
  try {
    const running = await startSimulatedFleet({
      seed: plan.seed,
      members: plan.members,
      podMs: plan.podMs,
      onHubWrite(write) {
        hub.apply(write);
        watchdogs.onHubWrite(write);
      },
      onMemberWrite(write) {
        members.apply(write);
        watchdogs.onMemberWrite(write);
      },
      onLostWrites(from) {
        hasLost = true;
        note(`the disk had lied: acknowledged writes are lost`);
        hub.clear();
        for (const write of fleet?.disk.records.slice(0, from) ?? []) hub.apply(write);
        for (const known of users?.ledger.values() ?? []) known.isUncertain = true;
        watchdogs.forget();
      },
      onEvent: options.onEvent,
    });
    fleet = running;
    startMs = running.clock.now();
    const users = createUsers(running, plan.members);
    await users.begin();
    await running.run(5 * SECOND_MS);
    for (const step of plan.steps) {
      await running.run(step.afterMs);
      if (step.afterMs >= 20 * SECOND_MS && isConverged()) watchdogs.converged();
      if (isFault(step)) {
        faults++;
        note(describe(step));
        inject(running, step);
      } else {
        if (MOVES.has(step.do)) watchdogs.disturb();
        note(`${describe(step)}: ${await users.act(step)}`);
      }
    }
    await running.run(20 * SECOND_MS);
    await settleAndJudge(running);

    async function settleAndJudge(running: SimulatedFleet): Promise<void> {
      await heal(running);
      note("all faults end");
      /** Of the last time at which nothing was written. */
      let findings: ReturnType<typeof checkSettled> = [];
      let isQuiet = false;
      for (let waited = 0; waited < MAX_SETTLE_MS; waited += SLICE_MS) {
        running.writes.length = 0;
        await running.run(QUIET_MS);
        isQuiet = running.writes.length === 0;
        findings = isQuiet ? checkSettled({ hub, members, names, ledger: users.ledger }) : findings;
        if (isQuiet && findings.length === 0) break;
      }
      if (hasLost) findings = [];
      if (!isQuiet)
        report({
          invariant: "no write when converged",
          atMs: sinceStart(),
          details:
            `half an hour after the last fault there are still ${running.writes.length} writes in a minute: ` +
            [...new Set(running.writes)].slice(0, 5).join("; "),
        });
      else for (const finding of findings) report({ ...finding, atMs: sinceStart() });
      if (isQuiet && findings.length === 0 && !hasLost) await cutOff(running);
    }

    /** A member that does not answer is a problem that `flotilla status` must name. */
    async function cutOff(running: SimulatedFleet): Promise<void> {
      const [link] = Array.from(running.links).flatMap(([name, each]) =>
        /^(hub to|agent of) /.test(name) ? [{ name, each }] : [],
      );
      const member = link?.name.split(" ").at(-1) ?? "";
      if (!link || plan.seed % STATUS_EVERY !== 0 || !hub.get(`/cluster.karmada.io/clusters/hub/${member}`)) return;
      note(`${member} is cut off`);
      link.each.fault = "cut";
      link.each.endWatches();
      await running.run(CUT_MS);
      const problems = await readProblems(running.user, running.clock);
      if (problems.length === 0)
        report({
          invariant: "status names what is wrong",
          atMs: sinceStart(),
          details: `${member} did not answer for ${CUT_MS / SECOND_MS} s, and 'flotilla status' reports no problem`,
        });
    }
  } catch (error) {
    report({
      invariant: "the simulation ends",
      atMs: sinceStart(),
      details: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
    });
  } finally {
    options.onEnd?.(hub, members);
    await fleet?.stop();
  }
  return {
    seed: plan.seed,
    violations,
    story,
    virtualMs: sinceStart(),
    faults:
      faults +
      Array.from(fleet?.links.values() ?? [], ({ injected }) => injected).reduce((sum, count) => sum + count, 0),
    events: fleet?.trace.length ?? 0,
    hasLostWrites: hasLost,
    digest: fleet?.trace.digest() ?? "",
  };

  /** Whether every CloneSet has all its pods: later shortages have a cause. */
  function isConverged(): boolean {
    const { table, path, name: app } = TARGETS.CloneSet;
    const template = hub.get(`${table}hub/${path}`);
    if (!template) return false;
    const { replicas, readyReplicas, updatedReplicas } = template.status ?? {};
    const pods = names
      .flatMap((name) => members.list(`/core/pods/${name}/${NAMESPACE}/`))
      .filter(
        ({ metadata, status }) =>
          metadata.labels?.["app"] === app &&
          ((status?.conditions ?? []) as { type: string; status: string }[]).some(
            (c) => c.type === "Ready" && c.status === "True",
          ),
      );
    return (
      replicas === template.spec.replicas &&
      readyReplicas === replicas &&
      updatedReplicas === replicas &&
      pods.length === replicas
    );
  }
}

function inject(fleet: SimulatedFleet, fault: Fault): void {
  const { clock, disk } = fleet;
  switch (fault.fault) {
    case "kill hub":
      return fleet.killHubAfter(fault.calls);
    case "kill agent":
      fleet.killAgent(fault.member);
      clock.after(fault.forMs, () => fleet.startAgent(fault.member));
      return;
    case "link": {
      const link = fleet.links.get(fault.link);
      if (!link) return;
      if (fault.kind === "end-watches") return link.endWatches();
      const { kind } = fault;
      link.fault = kind;
      if (kind === "cut") link.endWatches();
      clock.after(fault.forMs, () => {
        if (link.fault !== kind) return;
        link.fault = undefined;
        // What was half-open ends when the other side answers again.
        if (kind === "half-open") link.endWatches();
      });
      return;
    }
    case "disk":
      if (fault.kind === "failed flush") return disk.failNextFlush();
      if (fault.kind === "full") {
        disk.setFull(true);
        clock.after(fault.forMs, () => disk.setFull(false));
        return;
      }
      disk.setLying(true);
      clock.after(fault.forMs, () => disk.setLying(false));
      return;
    case "clock":
      return fleet.jump(fault.process, fault.byMs);
  }
}

/** Ends all faults, and corrects all clocks. */
async function heal(fleet: SimulatedFleet): Promise<void> {
  for (const link of fleet.links.values()) {
    link.fault = undefined;
    link.endWatches();
  }
  fleet.disk.setFull(false);
  fleet.disk.setLying(false);
  fleet.killHubAfter(Infinity);
  fleet.correctClocks();
  await fleet.run(5 * SECOND_MS);
  await fleet.startHub();
}

function describe(step: Step): string {
  const { afterMs: _, ...rest } = step as Step & Record<string, unknown>;
  const [verb, ...others] = Object.entries(rest);
  const details = others.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return `${verb?.[0] === "fault" ? "FAULT " : ""}${String(verb?.[1])} ${details.join(" ")}`;
}

/**
 * What is wrong with the fleet, with the fix for each: what `flotilla status` and `flotilla doctor` find.
 *
 * They read many objects, so they run after changes, one at a time, and not more than a quarter of the time.
 */
import { messageOf } from "@flotilla/base";
import type { Clock, Log, Timer } from "@flotilla/base";
import { fleetQuestions } from "@flotilla/cli";
import type { DoctorReport, FleetStatus, HubConnection } from "@flotilla/cli";
import type { Finding, FindingsMessage } from "@flotilla/web";
import type { FleetFeed } from "./fleet-feed.ts";

export interface Findings {
  /** Undefined until they are computed for the first time. */
  current(): FindingsMessage | undefined;
  subscribe(listener: (message: FindingsMessage) => void): () => void;
  close(): void;
}

export interface FindingsOptions {
  hub: Pick<HubConnection, "client" | "server">;
  feed: FleetFeed;
  data: string | undefined;
  clock: Clock;
  log: Log;
}

/** Time of its own per run that passes before the next one. */
const SHARE = 3;
const SOONEST_MS = 500;
const LONGEST_MS = 10_000;
/** Some problems appear by the passing of time alone. */
const REFRESH_MS = 20_000;
/** Checks of the doctor read certificates, disks and stuck deletions, which change slowly. */
const DOCTOR_MS = 30_000;
const MAX_FINDINGS = 500;

export function createFindings(options: FindingsOptions): Findings {
  const { hub, feed, data, clock, log } = options;
  const listeners = new Set<(message: FindingsMessage) => void>();
  const closing = new AbortController();
  const asking = { client: hub.client, clock, signal: closing.signal };
  let current: FindingsMessage | undefined;
  let doctor: DoctorReport | undefined;
  let doctorAtMs = -Infinity;
  let timer: Timer | undefined;
  let isRunning = false;
  let isDirty = false;
  let pauseMs = SOONEST_MS;

  function plan(ms: number): void {
    timer?.cancel();
    timer = clock.after(ms, () => void run());
  }
  async function run(): Promise<void> {
    if (isRunning || closing.signal.aborted) return;
    isRunning = true;
    isDirty = false;
    const startedMs = clock.now();
    try {
      const status = await fleetQuestions.status({ ...asking, server: hub.server });
      feed.setProblems(problemsOf(status));
      publish(status);
      if (clock.now() - doctorAtMs > DOCTOR_MS) {
        doctorAtMs = clock.now();
        doctor = await fleetQuestions.doctor({ ...asking, server: hub.server, data, access: { kubeconfigs: [] } });
        publish(status);
      }
    } catch (error) {
      if (closing.signal.aborted) return;
      log.debug("reading the problems of the fleet failed", { error });
      current = {
        findings: current?.findings ?? [],
        notChecked: [`the fleet: ${messageOf(error)}`],
        at: new Date(clock.now()).toISOString(),
      };
      for (const listener of listeners) listener(current);
    } finally {
      isRunning = false;
      pauseMs = Math.min(LONGEST_MS, Math.max(SOONEST_MS, (clock.now() - startedMs) * SHARE));
      if (!closing.signal.aborted) plan(isDirty ? pauseMs : REFRESH_MS);
    }
  }
  function publish(status: FleetStatus): void {
    const report = doctor;
    const findings = merge(status, report);
    const notChecked = [
      ...status.notChecked,
      ...status.notShown.map((kind) => `${kind}: you are not allowed to list them`),
      ...(report?.checks ?? []).flatMap(({ name, verdict, seen, unseen }) => [
        ...(verdict === "unknown" ? [`${name}: ${seen}`] : []),
        ...unseen,
      ]),
    ];
    const next = { findings: findings.slice(0, MAX_FINDINGS), notChecked: [...new Set(notChecked)] };
    if (
      current &&
      JSON.stringify([current.findings, current.notChecked]) === JSON.stringify([next.findings, next.notChecked])
    )
      return;
    current = { ...next, at: new Date(clock.now()).toISOString() };
    for (const listener of listeners) listener(current);
  }

  const stop = feed.onChange(() => {
    if (isDirty) return;
    isDirty = true;
    if (!isRunning) plan(pauseMs);
  });
  plan(0);
  return {
    current: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      stop();
      closing.abort();
      timer?.cancel();
    },
  };
}

/** By `Kind namespace/name`: what rows say about a workload. */
function problemsOf({ unhealthy }: FleetStatus): Map<string, string> {
  return new Map(
    unhealthy.worst
      .filter(({ problem }) => OF_WORKLOADS.has(problem))
      .map(({ kind, namespace, name, reason }) => [`${kind} ${namespace ? `${namespace}/` : ""}${name}`, reason]),
  );
}
const OF_WORKLOADS: ReadonlySet<string> = new Set([
  "workload unhealthy",
  "binding not scheduled",
  "binding not applied",
  "rollout stopped",
  "replicas held by a rule",
  "release failed",
  "release without progress",
  "release waiting for a decision",
  "workload naming missing pods",
]);

/** One row per cause: what the doctor explains with a fix is not repeated by the status. */
function merge({ unhealthy }: FleetStatus, report: DoctorReport | undefined): Finding[] {
  const checked = (report?.checks ?? []).flatMap(({ name, findings }) =>
    findings.map(({ severity, about, seen, fix, commands }): Finding => {
      const [kind = "", place = ""] = about.split(" ");
      const [namespace, object] = place.includes("/") ? place.split("/", 2) : ["", place];
      return {
        id: `${name} ${about} ${fix}`.slice(0, MAX_ID),
        severity,
        about,
        seen,
        fix,
        commands,
        object: { kind, namespace: namespace ?? "", name: object ?? "" },
        from: name,
      };
    }),
  );
  const known = new Set(checked.map(({ about }) => about.replace(/ and \d+ more$/, "").toLowerCase()));
  const listed = unhealthy.worst.flatMap(({ problem, kind, namespace, name, reason }): Finding[] => {
    const about = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
    const memberAbout = `member ${name}`;
    if (known.has(about.toLowerCase()) || (problem === "member not available" && known.has(memberAbout))) return [];
    const target = `${kind.toLowerCase()}/${name}${namespace ? ` -n ${namespace}` : ""}`;
    const isMember = problem === "member not available";
    return [
      {
        id: `${problem} ${about}`.slice(0, MAX_ID),
        severity: WARNINGS.has(problem) ? "warning" : "problem",
        about: isMember ? memberAbout : about,
        seen: `${problem}: ${reason}`,
        fix: "",
        commands: isMember
          ? [`flotilla doctor --clusters ${name}`]
          : EXPLAINED.has(problem)
            ? [`flotilla why ${target}`]
            : [`flotilla describe ${target} --hub`],
        object: { kind: isMember ? "member" : kind, namespace: namespace ?? "", name },
        from: problem,
      },
    ];
  });
  return [
    ...checked.filter(isProblem),
    ...listed.filter(isProblem),
    ...[...checked, ...listed].filter((each) => !isProblem(each)),
  ];
}

const MAX_ID = 300;
const isProblem = ({ severity }: Finding): boolean => severity === "problem";
/** As `flotilla doctor` judges them. */
const WARNINGS: ReadonlySet<string> = new Set([
  "binding suspended",
  "release waiting for a decision",
  "autoscaler at its maximum",
  "quota exceeded",
]);
const EXPLAINED: ReadonlySet<string> = new Set([
  "binding not scheduled",
  "binding not applied",
  "workload unhealthy",
  "rollout stopped",
  "replicas held by a rule",
  "release failed",
  "release without progress",
  "release waiting for a decision",
  "Placement unsatisfied",
  "ManifestWork unhealthy",
  "ManifestWork failed",
]);

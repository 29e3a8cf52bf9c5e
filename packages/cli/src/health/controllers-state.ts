/**
 * Whether the hub's controllers run. `flotilla controllers` renews a Lease for each group of controllers, and for each
 * shard; `flotilla apiserver` creates the first one without a holder. Where there is none, the controllers run in the
 * process of the API server.
 */
import { formatAge, HUB, isNotFound, isForbidden } from "@flotilla/apimachinery";
import { sleep } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { CONTROLLERS_LEASE, controllerUnits } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";

/**
 * `inside`: in the process of the API server. `never`: none has ever run. `stopped`: the last one gave up its Lease.
 * `silent`: the last one no longer renews it. `partial`: some groups or shards run, and `missing` do not. `unknown`: the
 * Leases may not be read. `forMs` is the age of the last renewal, of the oldest one while all run: a process that was
 * killed since looks the same as one that runs.
 */
export type ControllersState =
  | { state: "inside" | "never" | "unknown" }
  | { state: "running" | "stopped" | "silent"; forMs: number }
  | { state: "partial"; forMs: number; missing: string[] };

/** A leader renews every second. After this much it may have died, so the Lease is watched. */
const RENEWED_WITHIN_MS = 2_500;
/** A leader renews once in this time, also on a busy hub. */
const CONFIRM_MS = 4_000;
const POLL_MS = 500;

export interface ControllersQuestion {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Reads the Leases. The clock of the controllers may differ from ours, and a renewal may be late, so a Lease that looks
 * old is read again: one that is renewed in the meantime is in use.
 */
export async function readControllers({ client, clock, signal }: ControllersQuestion): Promise<ControllersState> {
  const read = async (): Promise<DeepReadonly<Lease>[]> =>
    (await client.list(Lease, { cluster: HUB, namespace: KARMADA_SYSTEM_NAMESPACE, signal })).items.filter(
      ({ metadata }) => metadata.name.startsWith(CONTROLLERS_LEASE),
    );
  try {
    const first = await read();
    let leases = first;
    const silent = new Map(
      controllerUnits(first)
        .filter(({ lease }) => unitState(lease, clock.now()).state === "silent")
        .map(({ lease }) => [lease?.metadata.name ?? "", lease?.spec?.renewTime]),
    );
    for (const endMs = clock.now() + CONFIRM_MS; silent.size > 0 && clock.now() < endMs;) {
      await sleep(clock, POLL_MS, signal);
      leases = await read();
      // One that was renewed, given up or deleted speaks for itself.
      for (const [name, renewTime] of silent) {
        const lease = leases.find(({ metadata }) => metadata.name === name);
        if (!lease?.spec?.holderIdentity || lease.spec.renewTime !== renewTime) silent.delete(name);
      }
    }
    // By now the time may lie within what a clock ahead of ours wrote.
    const isSilent = ({ metadata }: DeepReadonly<Lease>): boolean => silent.has(metadata.name);
    const wasSilent = new Set(first.map(({ metadata }) => metadata.name));
    return controllersState(leases, clock.now(), {
      isSilent,
      // Renewed while we looked, whatever the clock of the controllers says.
      isRenewed: (lease) =>
        leases !== first &&
        wasSilent.has(lease.metadata.name) &&
        !isSilent(lease) &&
        Boolean(lease.spec?.holderIdentity),
    });
  } catch (error) {
    if (isForbidden(error)) return { state: "unknown" };
    if (isNotFound(error)) return { state: "inside" }; // The server has no Leases at all.
    throw error;
  }
}

/** What was seen while the Leases were watched. */
interface Watched {
  isSilent(lease: DeepReadonly<Lease>): boolean;
  isRenewed(lease: DeepReadonly<Lease>): boolean;
}

/** By the clock that wrote the Leases, unless they were watched. Pure. */
export function controllersState(
  leases: readonly DeepReadonly<Lease>[],
  nowMs: number,
  watched?: Watched,
): ControllersState {
  if (leases.length === 0) return { state: "inside" };
  const units = controllerUnits(leases).map(({ name, lease }) => ({ name, ...unitState(lease, nowMs, watched) }));
  const missing = units.filter(({ state }) => state !== "running");
  const ages = units.flatMap(({ state, forMs }) => (state === "running" ? [forMs] : []));
  if (missing.length === 0) return { state: "running", forMs: Math.max(...ages) };
  if (ages.length > 0) return { state: "partial", forMs: Math.max(...ages), missing: missing.map(({ name }) => name) };
  const last = missing.find(({ state }) => state === "silent") ?? missing.find(({ state }) => state === "stopped");
  return last ? { state: last.state as "silent" | "stopped", forMs: last.forMs } : { state: "never" };
}

function unitState(
  lease: DeepReadonly<Lease> | undefined,
  nowMs: number,
  watched?: Watched,
): { state: "never" | "running" | "stopped" | "silent"; forMs: number } {
  const renewedMs = Date.parse(lease?.spec?.renewTime ?? "");
  if (!lease || !Number.isFinite(renewedMs)) return { state: "never", forMs: 0 };
  const forMs = Math.max(0, nowMs - renewedMs);
  if (!lease.spec?.holderIdentity) return { state: "stopped", forMs };
  if (watched?.isRenewed(lease)) return { state: "running", forMs: 0 };
  // A renewal from the future proves nothing either.
  const isLate = Math.abs(nowMs - renewedMs) > RENEWED_WITHIN_MS;
  return { state: isLate || watched?.isSilent(lease) ? "silent" : "running", forMs };
}

const START =
  "start 'flotilla controllers --kubeconfig DIR/controllers.kubeconfig', where DIR is the data directory of the API server";

/** What is wrong and what to do; undefined while controllers run, or if that may not be read. Pure. */
export function controllersProblem(controllers: ControllersState): { what: string; try: string } | undefined {
  if (controllers.state === "never")
    return {
      what: "no controllers have ever run on this hub, so nothing is propagated and no member can join",
      try: START,
    };
  if (controllers.state === "stopped")
    return {
      what: `the hub's controllers stopped ${formatAge(controllers.forMs)} ago, so nothing is propagated and what the hub reports is old`,
      try: START,
    };
  if (controllers.state === "silent")
    return {
      what: `the hub's controllers have not renewed their Lease for ${formatAge(controllers.forMs)}, so nothing is propagated and what the hub reports is old`,
      try: `check the process of 'flotilla controllers', or ${START}`,
    };
  if (controllers.state === "partial") {
    const missing = controllers.missing.join(", ");
    return {
      what: `no process runs the controllers of ${missing}, so their work is not done; those of other groups run`,
      try: `${START}; 'kubectl get leases -n karmada-system' shows which processes run them`,
    };
  }
  return undefined;
}

/** What is wrong and what to do, as one clause; undefined while controllers run. */
export async function missingControllers(question: ControllersQuestion): Promise<string | undefined> {
  const problem = controllersProblem(await readControllers(question));
  return problem && `${problem.what}; ${problem.try}`;
}

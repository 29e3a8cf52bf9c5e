/**
 * Whether the hub's controllers run. `flotilla controllers` renews a Lease; `flotilla apiserver` creates that Lease
 * without a holder. Where there is no Lease, the controllers run in the process of the API server.
 */
import { formatAge, HUB, isNotFound } from "@flotilla/apimachinery";
import { sleep } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { CONTROLLERS_LEASE } from "@flotilla/flotilla";
import { KARMADA_SYSTEM_NAMESPACE } from "@flotilla/karmada";
import { Lease } from "@flotilla/kubernetes";
import { isForbidden } from "../members/members-places.ts";

/**
 * `inside`: in the process of the API server. `never`: none has ever run. `stopped`: the last one gave up its Lease.
 * `silent`: the last one no longer renews it. `unknown`: the Lease may not be read. `forMs` is the age of the last
 * renewal: a process that was killed since looks the same as one that runs.
 */
export type ControllersState =
  | { state: "inside" | "never" | "unknown" }
  | { state: "running" | "stopped" | "silent"; forMs: number };

/** The leader renews every two seconds. After half a second more it may have died, so the Lease is watched. */
const RENEWED_WITHIN_MS = 2_500;
/** A leader renews once in this time, also on a busy hub. */
const CONFIRM_MS = 4_000;
const POLL_MS = 500;
const LEASE = {
  cluster: HUB,
  namespace: KARMADA_SYSTEM_NAMESPACE,
  fieldSelector: `metadata.name=${CONTROLLERS_LEASE}`,
};

export interface ControllersQuestion {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
}

/**
 * Reads the Lease. The clock of the controllers may differ from ours, and a renewal may be late, so a Lease that looks
 * old is read again: one that is renewed in the meantime is in use.
 */
export async function readControllers({ client, clock, signal }: ControllersQuestion): Promise<ControllersState> {
  const read = async (): Promise<DeepReadonly<Lease> | undefined> =>
    (await client.list(Lease, { ...LEASE, signal })).items[0];
  try {
    const first = await read();
    const state = controllersState(first, clock.now());
    if (state.state !== "silent") return state;
    for (const endMs = clock.now() + CONFIRM_MS; clock.now() < endMs;) {
      await sleep(clock, POLL_MS, signal);
      const next = await read();
      const now = controllersState(next, clock.now());
      if (now.state !== "silent" && now.state !== "running") return now;
      if (next?.spec?.renewTime !== first?.spec?.renewTime) return { state: "running", forMs: 0 };
    }
    // By now the time may lie within what a clock ahead of ours wrote.
    return { ...state, forMs: Math.max(0, clock.now() - Date.parse(first?.spec?.renewTime ?? "")) };
  } catch (error) {
    if (isForbidden(error)) return { state: "unknown" };
    if (isNotFound(error)) return { state: "inside" }; // The server has no Leases at all.
    throw error;
  }
}

/** By the clock that wrote the Lease. Pure. */
export function controllersState(lease: DeepReadonly<Lease> | undefined, nowMs: number): ControllersState {
  if (!lease) return { state: "inside" };
  const renewedMs = Date.parse(lease.spec?.renewTime ?? "");
  if (!Number.isFinite(renewedMs)) return { state: "never" };
  const forMs = Math.max(0, nowMs - renewedMs);
  if (!lease.spec?.holderIdentity) return { state: "stopped", forMs };
  // A renewal from the future proves nothing either.
  return { state: Math.abs(nowMs - renewedMs) > RENEWED_WITHIN_MS ? "silent" : "running", forMs };
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
  return undefined;
}

/** What is wrong and what to do, as one clause; undefined while controllers run. */
export async function missingControllers(question: ControllersQuestion): Promise<string | undefined> {
  const problem = controllersProblem(await readControllers(question));
  return problem && `${problem.what}; ${problem.try}`;
}

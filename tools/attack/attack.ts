/**
 * An attack on a running hub, and what came of it. A verdict is computed from what was observed; an attack that could
 * not be carried out is "not tried", with the reason, and never counts as held.
 */
import { messageOf } from "@flotilla/base";
import type { Answer } from "../../test/programs/raw-client.ts";
import type { World } from "./world.ts";

export interface Attack {
  /** The family and the attack: `bodies/unknown-fields`. */
  name: string;
  /** What must stay true, as a sentence. */
  claim: string;
  /** Also part of `--short`: a second or two. */
  short?: boolean;
  /** Whether the limit on the probe client's waiting time applies; not where the hub itself is restarted. */
  stopsHub?: boolean;
  run(world: World): Promise<Verdict>;
}

export interface Verdict {
  outcome: "held" | "broken" | "not tried";
  /** What was sent or done. */
  tried: string;
  /** What was observed; for "not tried" the reason. */
  seen: string;
}

/** Held if nothing failed. */
export function verdictOf(tried: string, failures: readonly string[], seen: string): Verdict {
  return failures.length === 0
    ? { outcome: "held", tried, seen }
    : { outcome: "broken", tried, seen: failures.slice(0, SHOWN_FAILURES).join("; ") };
}
const SHOWN_FAILURES = 5;

export const notTried = (tried: string, reason: string): Verdict => ({ outcome: "not tried", tried, seen: reason });

/** One request of an attack, and which responses keep the claim. */
export interface Attempt {
  what: string;
  send(): Promise<Pick<Answer, "status" | "text">>;
  /** Accepted statuses. The default is any rejection of the client. */
  expected?: readonly number[];
}

/** Sends all attempts in turn. A connection that the server closes counts as a rejection, with status 0. */
export async function runAttempts(tried: string, attempts: readonly Attempt[]): Promise<Verdict> {
  const failures: string[] = [];
  const counts = new Map<number, number>();
  for (const { what, send, expected } of attempts) {
    const { status, text } = await send().catch((error: unknown) => closedBy(error));
    counts.set(status, (counts.get(status) ?? 0) + 1);
    const isExpected = expected ? expected.includes(status) : status === 0 || (status >= 400 && status < 500);
    if (!isExpected) failures.push(`${what}: ${status} ${text.slice(0, 120)}`);
  }
  return verdictOf(tried, failures, statusCounts(counts));
}

/** `12 × 403, 3 × 400`, most frequent first. */
function statusCounts(counts: ReadonlyMap<number, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => `${count} × ${status === 0 ? "connection closed" : status}`)
    .join(", ");
}

export function countStatuses(statuses: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return statusCounts(counts);
}

/** The status of a request, 0 if the server closed the connection. */
export async function statusOf(answer: Promise<Pick<Answer, "status">>): Promise<number> {
  try {
    return (await answer).status;
  } catch (error) {
    return closedBy(error).status;
  }
}

/** Only errors of the connection: others are mistakes in an attack. */
function closedBy(error: unknown): { status: number; text: string } {
  if (error instanceof Error && error.message.endsWith("failed on the wire"))
    return { status: 0, text: `${error.message}: ${messageOf(error.cause)}` };
  throw error;
}

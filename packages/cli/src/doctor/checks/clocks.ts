/** Checks that the clocks of this machine, the hub and the members agree. */
import { Lease } from "@flotilla/kubernetes";
import { HUB } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { proxyPath } from "../../members/members-places.ts";
import { defineCheck } from "../doctor-check.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { membersIn } from "../context.ts";
import type { DoctorContext } from "../context.ts";
import { askRaw, objectOf } from "../raw-answers.ts";
import type { Answer } from "../raw-answers.ts";
import { renewalsOf, WRONG_CLOCK_MS } from "../../health/renewals.ts";
import { counted } from "../../text-layout.ts";

export interface ClockReading {
  /** `hub`, `member paris` */
  whose: string;
  /** How far it is ahead; negative when it is behind. */
  aheadMs: number;
  /** The uncertainty of the reading. */
  uncertainMs: number;
  /** The clock that it is compared with; this machine's if unset. */
  against?: string;
}

export interface ClockFacts {
  readings: readonly ClockReading[];
  unseen: readonly string[];
}

/** The Date header has whole seconds. */
const RESOLUTION_MS = 1_000;
const WARNING_MS = 5_000;
const PROBLEM_MS = WRONG_CLOCK_MS;

export const clocksCheck = defineCheck<ClockFacts>({
  name: "clocks",
  summary: "the clocks of this machine, the hub, the members and the agents agree",
  reports:
    "A warning from five seconds of difference, a problem from thirty: leases seem expired, and " +
    "certificates not yet valid. The clocks of the hub and the members are read from the `Date` header of " +
    "their responses; an agent's clock is compared with the hub's: the agent writes its time into its " +
    "lease, and the hub records when. Members that the hub cannot reach are not checked.",
  async gather(context) {
    const hub = await askRaw(context, "/version");
    const unseen: string[] = [];
    const members = await Promise.all(
      (await membersIn(context))
        .filter(({ spec }) => spec.syncMode === "Push")
        .map(async ({ metadata: { name } }) => {
          try {
            const answer = await askRaw(context, `${proxyPath(name)}/version`);
            // A rejection comes from the member, with the member's time; an unreachable member is reported by the hub,
            // with the hub's time.
            if (answer.status >= 500) objectOf(`querying ${name} through the hub`, answer);
            return readingOf(`member ${name}`, answer);
          } catch (error) {
            context.signal.throwIfAborted();
            unseen.push(`the clock of ${name}: ${messageOf(error)}`);
            return [];
          }
        }),
    );
    return { readings: [...readingOf(HUB, hub), ...members.flat(), ...(await agentReadings(context))], unseen };
  },
  judge({ readings, unseen }) {
    const findings: DoctorFinding[] = [];
    for (const { whose, aheadMs, uncertainMs, against = "this machine's" } of readings) {
      const off = Math.abs(aheadMs) - uncertainMs;
      if (off < WARNING_MS) continue;
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      findings.push({
        severity: off >= PROBLEM_MS ? "problem" : "warning",
        about: whose,
        seen: `Its clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} ${against}.`,
        fix: "Synchronize both clocks with a time service.",
        commands: ["timedatectl status"],
      });
    }
    const most = Math.max(
      0,
      ...readings.map(({ aheadMs, uncertainMs }) => Math.max(0, Math.abs(aheadMs) - uncertainMs)),
    );
    return {
      seen: `${counted(readings.length, "clock")}, at most ${Math.ceil(most / 1000)} s apart`,
      findings,
      unseen,
    };
  },
});

function readingOf(whose: string, { dateMs, middleMs, tookMs }: Answer): ClockReading[] {
  // The reported second began up to a second ago.
  return dateMs === undefined
    ? []
    : [{ whose, aheadMs: dateMs + RESOLUTION_MS / 2 - middleMs, uncertainMs: tookMs / 2 + RESOLUTION_MS / 2 }];
}

/** An agent writes its time into its lease, and the hub records when that was. */
async function agentReadings({ lists, only }: DoctorContext): Promise<ClockReading[]> {
  return Array.from(renewalsOf(await lists.all(Lease))).flatMap(([member, { clockAheadMs: aheadMs }]) =>
    aheadMs !== undefined && (!only || only.has(member))
      ? [{ whose: `agent of ${member}`, aheadMs, uncertainMs: RESOLUTION_MS, against: "the hub's" }]
      : [],
  );
}

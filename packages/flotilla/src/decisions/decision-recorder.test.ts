import { expect, test } from "vitest";
import { forbidden } from "@flotilla/apimachinery";
import { createFakeClock, createLog, MetricsText } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { createDecisions } from "./decision-recorder.ts";
import type { Decision } from "./decision-kind.ts";

const DECISION = {
  type: "Moved",
  controller: "schedule",
  object: { apiVersion: "apps/v1", kind: "Deployment", metadata: { namespace: "shop", name: "web" } },
  clusters: ["member1"],
  cause: { reason: "Rebalance", message: "asked for" },
} as const;
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve();
};

function start(answer: (count: number) => void, maxWaiting?: number) {
  const clock = createFakeClock();
  const sent: Decision[] = [];
  const logged: string[] = [];
  let count = 0;
  const decisions = createDecisions({
    client: {
      create: (async (_kind: unknown, _hub: string, decision: Decision) => {
        answer(++count);
        sent.push(decision);
        return decision;
      }) as never,
    },
    hub: "hub",
    clock,
    log: createLog({ level: "debug", clock, write: (line) => void logged.push(line) }),
    maxWaiting,
  });
  const lost = (): string => {
    const text = new MetricsText();
    decisions.write(text);
    return /flotilla_decisions_lost_total (\d+)/.exec(text.finish())?.[1] ?? "";
  };
  return { decisions, clock, sent, logged, lost };
}

test("sends decisions in order, and retries while the server does not answer", async () => {
  const { decisions, clock, sent } = start((count) => {
    if (count === 1) throw new UnreachableError("the hub is away");
  });

  decisions.record(DECISION);
  decisions.record({ ...DECISION, type: "Divided" });
  await turns();
  expect([sent.length, decisions.isQuiet()]).toEqual([0, false]);
  clock.advance(1_000);
  await turns();

  expect(sent.map(({ type, time }) => [type, time])).toEqual([
    ["Moved", "2024-05-01T12:00:00.000000Z"],
    ["Divided", "2024-05-01T12:00:00.000000Z"],
  ]);
  expect(decisions.isQuiet()).toBe(true);
});

test("what the server rejects, and what does not fit, is counted and logged once", async () => {
  const refusing = start(() => {
    throw forbidden({ group: "flotilla.dev", resource: "decisions" }, "", "no");
  });
  for (let count = 0; count < 5; count++) refusing.decisions.record(DECISION);
  await turns();
  expect([refusing.lost(), refusing.logged.length]).toEqual(["5", 1]);

  const full = start(() => {
    throw new UnreachableError("the hub is away");
  }, 2);
  for (let count = 0; count < 5; count++) full.decisions.record(DECISION);
  await turns();
  expect([full.lost(), full.logged.length]).toEqual(["3", 1]);
});

import { describe, expect, test } from "vitest";
import { notTried, runAttempts, verdictOf, type Attack, type Verdict } from "./attack.ts";
import { attacks } from "./catalogue.ts";
import { probeLimitMs, exitCodeOf, isOnlySlow, judge, type Latency, type Observation } from "./judge.ts";
import { renderJudgement, renderSummary } from "./report.ts";

const attack: Attack = { name: "bodies/large", claim: "it holds", run: async () => held };
const held: Verdict = verdictOf("a large body", [], "3 × 413");
const latency = (longestMs: number, more: Partial<Latency> = {}): Latency => ({
  longestReadMs: longestMs,
  longestWriteMs: longestMs,
  ownDelayMs: 0,
  reads: 100,
  writes: 100,
  failed: 0,
  ...more,
});
const observed = (more: Partial<Observation> = {}): Observation => ({
  isHubAlive: true,
  quiet: latency(20),
  during: latency(40),
  idleMiB: 200,
  peakMiB: 300,
  ...more,
});

const cases: Record<
  string,
  { verdict?: Verdict; observation?: Partial<Observation>; outcome: string; problem?: string }
> = {
  "held when its own verdict, the probe client and the memory are within limits": { outcome: "held" },
  "broken when its own verdict says so": { verdict: verdictOf("x", ["a token was stolen"], ""), outcome: "broken" },
  "broken when a probe client's read took longer than 500 ms": {
    observation: { during: latency(501) },
    outcome: "broken",
    problem: "a read took 501 ms, limit 500 ms",
  },
  "held when the machine is so busy that a probe client waits that long without an attack": {
    observation: { quiet: latency(200), during: latency(700) },
    outcome: "held",
  },
  "held when the probe client's own process was scheduled that late during the attack": {
    observation: { during: latency(700, { ownDelayMs: 200 }) },
    outcome: "held",
  },
  "broken when requests of the probe client failed": {
    observation: { during: latency(10, { failed: 2, firstFailure: "GET: 401" }) },
    outcome: "broken",
    problem: "2 requests of the probe client failed: GET: 401",
  },
  "broken when the probe client was never answered": {
    observation: { during: latency(10, { reads: 0, writes: 0 }) },
    outcome: "broken",
    problem: "the probe client was never answered",
  },
  "broken when the hub has ended": {
    observation: { isHubAlive: false },
    outcome: "broken",
    problem: "the hub's process has ended",
  },
  "broken when the memory grew by more than a GiB": {
    observation: { peakMiB: 1_300 },
    outcome: "broken",
    problem: "memory grew from 200 to 1300 MiB",
  },
  "broken when the memory is not given back within a minute": {
    observation: { peakMiB: 900, laterMiB: 800 },
    outcome: "broken",
    problem: "800 MiB 60 s later, 200 MiB before",
  },
  "not tried when it could not be carried out, whatever else is fine": {
    verdict: notTried("x", "no connection"),
    outcome: "not tried",
  },
  "broken when it could not be finished and a probe client waited": {
    verdict: notTried("x", "not finished within 30 s"),
    observation: { during: latency(9_000) },
    outcome: "broken",
    problem: "a read took 9000 ms, limit 500 ms",
  },
};
describe("an attack is", () => {
  for (const [what, { verdict = held, observation, outcome, problem }] of Object.entries(cases))
    test(what, () => {
      const judgement = judge(attack, verdict, observed(observation));

      expect(judgement.outcome).toBe(outcome);
      expect(judgement.problems[0]).toBe(problem);
    });
});

test("an attack is repeated when a probe client only waited, and not when something else failed", () => {
  const slow = judge(attack, held, observed({ during: latency(900) }));
  const failed = judge(attack, held, observed({ during: latency(900, { failed: 1 }) }));
  const broken = judge(attack, verdictOf("x", ["stolen"], ""), observed());

  expect([slow, failed, broken].map(isOnlySlow)).toEqual([true, false, false]);
});

test("the limit of a probe client rises only where it waits long without an attack", () => {
  expect([latency(5), latency(125), latency(300)].map((quiet) => probeLimitMs(quiet))).toEqual([500, 500, 1_200]);
});

describe("attempts", () => {
  const answer = (status: number) => async (): Promise<{ status: number; text: string }> => ({ status, text: "body" });
  const closed = async (): Promise<never> => {
    throw new Error("GET / failed on the wire");
  };

  test("hold when each is rejected or its connection is closed, and are counted", async () => {
    const verdict = await runAttempts("x", [
      { what: "a", send: answer(403) },
      { what: "b", send: answer(403) },
      { what: "c", send: closed },
      { what: "d", send: answer(200), expected: [200] },
    ]);

    expect(verdict).toEqual({ outcome: "held", tried: "x", seen: "2 × 403, 1 × connection closed, 1 × 200" });
  });

  test.each([200, 500])("do not hold when one is answered with %i", async (status) => {
    const verdict = await runAttempts("x", [{ what: "reads it", send: answer(status) }]);

    expect(verdict).toEqual({ outcome: "broken", tried: "x", seen: `reads it: ${status} body` });
  });

  test("do not hide a mistake of the attack itself", async () => {
    const mistake = async (): Promise<never> => {
      throw new TypeError("x is undefined");
    };

    await expect(runAttempts("x", [{ what: "a", send: mistake }])).rejects.toThrow("x is undefined");
  });
});

test("the report has what was tried, what was observed, and the figures", () => {
  const judgement = judge(attack, held, observed({ during: latency(501) }));

  expect(renderJudgement(judgement)).toBe(
    [
      "BROKEN     bodies/large: it holds",
      "           tried      a large body",
      "           observed   3 × 413",
      "           problem    a read took 501 ms, limit 500 ms",
      "           problem    a write took 501 ms, limit 500 ms",
      "           probe      longest read 501 ms, write 501 ms (without attack 20 ms, 20 ms)",
      "           memory     200 MiB before, 300 MiB at most, not measured later",
      "",
    ].join("\n"),
  );
  expect(renderSummary([judgement])).toBe("1 attacks: 0 held, 1 broken, 0 not tried\nbroken: bodies/large\n");
});

test("the summary and the exit code show attacks that were not tried", () => {
  const [good, bad, none] = [
    judge(attack, held, observed()),
    judge(attack, held, observed({ isHubAlive: false })),
    judge(attack, notTried("x", "no connection"), observed()),
  ];

  expect(renderSummary([good, none])).toBe("2 attacks: 1 held, 0 broken, 1 not tried\nnot tried: bodies/large\n");
  expect([[good], [good, none], [none, bad]].map(exitCodeOf)).toEqual([0, 3, 1]);
});

test("attacks have different names, with the family in front, and most families have some in the short form", () => {
  const names = attacks.map(({ name }) => name);
  const families = (some: readonly Attack[]): string[] => [
    ...new Set(some.map(({ name }) => name.split("/")[0] ?? "")),
  ];

  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z]+\/[a-z0-9-]+$/.test(name))).toEqual([]);
  expect(families(attacks.filter(({ short }) => short)).sort()).toEqual(
    families(attacks)
      .filter((family) => family !== "rollouts")
      .sort(),
  );
});

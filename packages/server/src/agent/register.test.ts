import { expect, test } from "vitest";
import { createFakeClock, UsageError } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import { runClock } from "@flotilla/testing/run-clock.ts";
import { addressOf, untilAnswered } from "./register.ts";

const settle = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const { signal } = new AbortController();
const away = (code: string): UnreachableError =>
  new UnreachableError("GET / at hub:6443: nothing listens there", { cause: Object.assign(new Error(code), { code }) });

/** Queries a hub with these responses in order; the last is repeated. */
function asked(...answers: (string | Error)[]) {
  const clock = createFakeClock(0);
  const reported: string[] = [];
  let calls = 0;
  const ask = async (): Promise<string> => {
    const answer = answers[Math.min(calls++, answers.length - 1)];
    if (typeof answer !== "string") throw answer;
    return answer;
  };
  return {
    clock,
    reported,
    calls: () => calls,
    answer: untilAnswered(ask, { timeoutMs: 10_000, onProblem: (text) => void reported.push(text), clock }, signal),
  };
}

test("an unreachable hub is retried, and the reason is reported once", async () => {
  const { answer, clock, reported } = asked(away("ECONNREFUSED"), away("ECONNREFUSED"), "here");

  await runClock(clock, 60_000, settle);

  expect(await answer).toBe("here");
  expect(reported).toEqual(["GET / at hub:6443: nothing listens there; retrying for 10 s (--discovery-timeout)"]);
});

test("a hub that does not respond within the timeout fails", async () => {
  const { answer, clock, calls } = asked(away("ECONNREFUSED"));

  const ended = answer.catch((error: unknown) => error);
  await runClock(clock, 60_000, settle);

  expect(await ended).toBeInstanceOf(UnreachableError);
  expect(calls()).toBe(6);
});

test("an unknown host name is not retried", async () => {
  const { answer, calls, reported } = asked(away("ENOTFOUND"));

  await expect(answer).rejects.toThrow(UnreachableError);
  expect([calls(), reported]).toEqual([1, []]);
});

const addresses: Record<string, { endpoint: string; want: string }> = {
  "host and port are enough": { endpoint: "hub.example.com:6443", want: "https://hub.example.com:6443/" },
  "a URL is accepted unchanged": {
    endpoint: "https://hub.example.com/clusters/hub",
    want: "https://hub.example.com/clusters/hub",
  },
};
for (const [behaviour, { endpoint, want }] of Object.entries(addresses)) {
  test(behaviour, () => {
    expect(addressOf(endpoint).href).toBe(want);
  });
}

test.each(["http://hub.example.com", "ht tp:/x", ""])("an invalid hub address is rejected: '%s'", (endpoint) => {
  expect(() => addressOf(endpoint)).toThrow(UsageError);
});

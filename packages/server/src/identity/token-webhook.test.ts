import { describe, expect, test, vi } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { createTokenWebhook, outcomeOf } from "./token-webhook.ts";

const ANN: Json = {
  status: { authenticated: true, user: { username: "ann", groups: ["shop"], extra: { "example.com/a": ["1"] } } },
};

function start(answer: () => Json | Promise<Json>) {
  const clock = createFakeClock();
  const sent: Json[] = [];
  const webhook = createTokenWebhook({
    post: async (body) => {
      sent.push(JSON.parse(body.toString()) as Json);
      return answer();
    },
    reservedGroups: ["system:flotilla"],
    clock,
    log: silentLog,
  });
  return { webhook, clock, sent };
}

test("asks with a TokenReview, and remembers the answer for two minutes", async () => {
  const { webhook, clock, sent } = start(() => ANN);

  const outcomes = await Promise.all([1, 2].map(() => webhook.authenticate("token", undefined, "digest")));
  await webhook.authenticate("token", undefined, "digest");

  expect(outcomes[0]).toEqual({
    user: { name: "ann", uid: undefined, groups: ["shop", "system:authenticated"], extra: { "example.com/a": ["1"] } },
    audiences: [],
  });
  expect(sent).toMatchObject([
    { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token: "token" } },
  ]);
  clock.advance(120_000);
  await webhook.authenticate("token", undefined, "digest");
  expect(sent).toHaveLength(2);
});

test("a webhook that fails rejects the token, and is asked again", async () => {
  let isUp = false;
  const { webhook } = start(() => {
    if (!isUp) throw new Error("connection refused");
    return ANN;
  });

  expect(await webhook.authenticate("token", undefined, "digest")).toEqual({
    error: "the token webhook cannot be called: connection refused",
  });
  isUp = true;
  expect(await webhook.authenticate("token", undefined, "digest")).toMatchObject({ user: { name: "ann" } });
});

test.each([
  ["no status", {}],
  ["no name", { status: { authenticated: true, user: {} } }],
  ["an error of the webhook", { status: { error: "the directory does not answer" } }],
])("a failure in an answer is not remembered: %s", async (_, failure: Json) => {
  const answers: Json[] = [failure, ANN];
  const { webhook } = start(() => answers.shift() ?? {});

  expect(await webhook.authenticate("token", undefined, "digest")).toHaveProperty("error");
  expect(await webhook.authenticate("token", undefined, "digest")).toMatchObject({ user: { name: "ann" } });
});

test("a token that waits too long for its turn is rejected with an error", async () => {
  const slow = Promise.withResolvers<Json>();
  const { webhook } = start(() => slow.promise);
  const others = Array.from({ length: 32 }, (_, index) => webhook.authenticate("token", undefined, String(index)));
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(limit.signal);

  const waiting = webhook.authenticate("token", undefined, "last");
  limit.abort(new Error("timed out"));

  expect(await waiting).toEqual({ error: "the token webhook cannot be called: timed out" });
  timeout.mockRestore();
  slow.resolve(ANN);
  await Promise.all(others);
  expect(await webhook.authenticate("token", undefined, "last")).toMatchObject({ user: { name: "ann" } });
});

describe("answers", () => {
  const cases: Record<string, [answer: Json, want: unknown]> = {
    "an unknown token": [{ status: { authenticated: false } }, undefined],
    "an error": [{ status: { error: "expired" } }, { error: "expired" }],
    "no status": [{}, { error: "the token webhook returned no status" }],
    "no name": [
      { status: { authenticated: true, user: {} } },
      { error: "the token webhook returned a user without a name" },
    ],
    "a reserved group": [
      { status: { authenticated: true, user: { username: "x", groups: ["system:flotilla"] } } },
      { error: "the group system:flotilla is reserved for the controllers of this server" },
    ],
  };
  test.each(Object.entries(cases))("%s", (_, [answer, want]) => {
    expect(outcomeOf(answer, undefined, ["system:flotilla"])).toEqual(want);
  });

  test("audiences must be among those of the request", () => {
    const answer: Json = { status: { authenticated: true, user: { username: "x" }, audiences: ["a", "b"] } };

    expect(outcomeOf(answer, ["b", "c"], [])).toMatchObject({ audiences: ["b"] });
    expect(outcomeOf(answer, ["c"], [])).toEqual({ error: "the token is not for the audiences of the request" });
  });
});

test("a client that sends unknown tokens neither delays the tokens of other addresses nor makes the server forget them", async () => {
  const unknown: Json = { status: { authenticated: false } };
  const waiting: ((answer: Json) => void)[] = [];
  let isSlow = false;
  const { webhook, sent } = start(() =>
    isSlow ? new Promise<Json>((resolve) => waiting.push(resolve)) : sent.length === 1 ? ANN : unknown,
  );
  await webhook.authenticate("known", undefined, "known");

  for (let at = 0; at < 10_001; at++) await webhook.authenticate("x", undefined, `x${at}`, "10.0.0.9");
  const calls = sent.length;
  const again = await webhook.authenticate("known", undefined, "known");
  isSlow = true;
  const flood = Array.from({ length: 2_000 }, (_, at) => webhook.authenticate("y", undefined, `y${at}`, "10.0.0.9"));
  const other = webhook.authenticate("z", undefined, "z", "10.0.0.1");
  await vi.waitFor(() => expect(waiting).toHaveLength(32));
  waiting.splice(0, 2).forEach((answer) => answer(unknown));
  await vi.waitFor(() => expect(waiting).toHaveLength(32));
  waiting.forEach((answer) => answer(ANN));

  expect(again).toMatchObject({ user: { name: "ann" } });
  expect(sent.length).toBeGreaterThan(calls);
  expect(await other).toMatchObject({ user: { name: "ann" } });
  expect(await flood.at(-1)).toEqual({
    error: "the token webhook cannot be called: 1024 requests are already waiting for it",
  });
});

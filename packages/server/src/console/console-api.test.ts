import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import { createConsoleApi } from "./console-api.ts";
import { createTestHub } from "./test-hub.ts";
import { makeSession } from "./test-page.ts";
import type { View } from "./viewers.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

async function ask(body: object): Promise<unknown> {
  const hub = createTestHub();
  hub.answer(REVIEWS, { status: { allowed: true } }, 201);
  const { viewer } = makeSession(hub.client, {} as View).session;
  const answer = await createConsoleApi({ clock: createFakeClock() }).handle(
    viewer,
    {
      method: "POST",
      path: "rights",
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.from(JSON.stringify(body)),
    },
    new AbortController().signal,
  );
  return JSON.parse(Buffer.from(answer.body as Uint8Array).toString("utf8"));
}
const questions = (count: number): object[] => Array.from({ length: count }, () => ({ verb: "get", resource: "pods" }));

describe("questions about rights", () => {
  test("have an answer each", async () => {
    expect(await ask({ questions: questions(100) })).toEqual(Array.from({ length: 100 }, () => true));
  });

  const rejected: Record<string, { body: object; reason: string }> = {
    "too many of them": { body: { questions: questions(101) }, reason: "101 questions are too many" },
    "one that is not an object": { body: { questions: ["get pods"] }, reason: "not a list of objects" },
    "none at all": { body: {}, reason: "not a list of objects" },
  };
  for (const [what, { body, reason }] of Object.entries(rejected)) {
    test(`are rejected: ${what}`, async () => {
      await expect(ask(body)).rejects.toThrow(reason);
    });
  }
});

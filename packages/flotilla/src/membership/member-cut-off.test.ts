import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { ResponseLimitError, UnreachableError } from "@flotilla/client";
import type { Transport, TransportRequest } from "@flotilla/client";
import { createMemberCutOff } from "./member-cut-off.ts";

const PATH = { cluster: "far", group: "", version: "v1", resource: "pods" };
const GET = { verb: "get", path: PATH } as const;
const list = (limit?: string): TransportRequest => ({ verb: "list", path: PATH, query: limit ? { limit } : undefined });
const OVER = "the response is longer than 5 bytes";

function setUp() {
  const clock = createFakeClock();
  let failure: Error | undefined;
  let sent = 0;
  const cuts: { reason: string; pauseMs: number }[] = [];
  const cutOff = createMemberCutOff({
    cluster: "far",
    clock,
    onCut: (reason, pauseMs) => void cuts.push({ reason, pauseMs }),
  });
  const answer = async (): Promise<JsonObject> => {
    sent++;
    if (failure) throw failure;
    return {};
  };
  const transport: Transport = {
    send: answer,
    async *watch() {
      await answer();
      yield [];
    },
    raw: async () => ({
      status: 200,
      headers: (await answer()) as Record<string, string>,
      body: (async function* () {})(),
    }),
    close: async () => {},
  };
  const guarded = cutOff.guard(transport);
  const watch = async (): Promise<void> => {
    for await (const _ of guarded.watch({ path: PATH }, new AbortController().signal)) break;
  };
  return { clock, cuts, cutOff, guarded, watch, sent: () => sent, fail: (error?: Error) => (failure = error) };
}

describe("a member", () => {
  test("whose response exceeds a limit is cut off: requests and watches fail with the reason, and none is sent", async () => {
    const { cuts, guarded, watch, sent, fail } = setUp();
    fail(new ResponseLimitError(OVER));
    const reason = `cluster far is cut off, because it exceeded a limit: ${OVER}`;

    await expect(guarded.send(GET)).rejects.toThrow(reason);
    fail();
    await expect(guarded.send(GET)).rejects.toThrow(reason);
    await expect(watch()).rejects.toThrow(reason);
    await expect(guarded.raw({ method: "GET", path: "/readyz", cluster: "far" })).rejects.toThrow(reason);

    expect(sent()).toBe(1);
    expect(cuts).toEqual([{ reason: OVER, pauseMs: 30_000 }]);
  });

  test("whose watch exceeds a limit is cut off", async () => {
    const { cuts, watch, fail } = setUp();
    fail(new ResponseLimitError(OVER));

    await expect(watch()).rejects.toThrow("is cut off");

    expect(cuts).toHaveLength(1);
  });

  test("is asked again after a pause, which doubles up to five minutes while it exceeds limits, and starts over later", async () => {
    const { clock, cuts, cutOff, guarded } = setUp();
    for (let round = 0; round < 6; round++) {
      cutOff.cut(OVER);
      clock.advance(cuts.at(-1)?.pauseMs ?? 0);
      await guarded.send(GET);
    }
    clock.advance(10 * 60_000);
    cutOff.cut(OVER);

    expect(cuts.map(({ pauseMs }) => pauseMs / 1000)).toEqual([30, 60, 120, 240, 300, 300, 30]);
  });

  test("is not cut off for a long page of a list, unless the page has few objects", async () => {
    const { cuts, guarded, fail } = setUp();
    fail(new ResponseLimitError(OVER));

    for (const request of [list(), list("500"), list("11")])
      await expect(guarded.send(request)).rejects.toBeInstanceOf(ResponseLimitError);
    const before = cuts.length;
    await expect(guarded.send(list("10"))).rejects.toThrow("is cut off");

    expect([before, cuts.length]).toEqual([0, 1]);
  });

  test("a member that is unreachable is not cut off", async () => {
    const { cuts, guarded, fail } = setUp();
    fail(new UnreachableError("no route"));

    await expect(guarded.send(GET)).rejects.toThrow("no route");

    expect(cuts).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Transport } from "@flotilla/client";
import { notFound, unauthorized } from "@flotilla/apimachinery";
import { createMemberBreaker } from "./member-breaker.ts";

const REQUEST = { verb: "get", path: { cluster: "far", group: "", version: "v1", resource: "pods" } } as const;

/** A member whose requests end when the test resolves them. */
function createMember(): {
  transport: Transport;
  waiting: { answer(): void; fail(error: Error): void }[];
  sent: () => number;
} {
  const waiting: { answer(): void; fail(error: Error): void }[] = [];
  let sent = 0;
  const transport: Transport = {
    send: () =>
      new Promise<JsonObject>((resolve, reject) => {
        sent++;
        waiting.push({ answer: () => resolve({}), fail: reject });
      }),
    async *watch() {},
    raw: () => Promise.reject(new Error("not asked")),
    close: async () => {},
  };
  return { transport, waiting, sent: () => sent };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a guard", () => {
  test("limits concurrent requests, and sends the next when one is answered", async () => {
    const member = createMember();
    const guard = createMemberBreaker(member.transport, "far", createFakeClock());

    const all = Array.from({ length: 20 }, () => guard.send(REQUEST));
    await settle();
    const atFirst = member.sent();
    member.waiting[0]?.answer();
    await settle();

    expect(atFirst).toBe(16);
    expect(member.sent()).toBe(17);
    while (member.sent() < 20 || member.waiting.length > 0) {
      member.waiting.splice(0).forEach(({ answer }) => answer());
      await settle();
    }
    await expect(Promise.all(all)).resolves.toHaveLength(20);
  });

  test.each([
    { verb: "patch", lost: true, want: true, what: "a write whose answer was lost may have been carried out" },
    { verb: "patch", lost: false, want: false, what: "a write that did not get there was not" },
    { verb: "get", lost: true, want: false, what: "a read changes nothing" },
  ] as const)("reports the result of a request: $what", async ({ verb, lost, want }) => {
    const member = createMember();
    const guard = createMemberBreaker(member.transport, "far", createFakeClock());

    const failed = guard.send({ ...REQUEST, verb }).catch((error: unknown) => error);
    await settle();
    member.waiting[0]?.fail(new UnreachableError("no answer", { mayHaveArrived: lost }));

    expect(await failed).toMatchObject({ mayHaveArrived: want });
  });

  test("fails at once after several unanswered requests, with a constant message, and probes again after a pause", async () => {
    const member = createMember();
    const clock = createFakeClock();
    const guard = createMemberBreaker(member.transport, "far", clock);
    const failures = Array.from({ length: 3 }, () =>
      expect(guard.send(REQUEST)).rejects.toThrow("cluster far does not answer"),
    );
    await settle();
    member.waiting.splice(0).forEach(({ fail }) => fail(new UnreachableError("no route")));
    await Promise.all(failures);

    await expect(guard.send(REQUEST)).rejects.toThrow(
      "cluster far does not answer; see the Ready condition of its Cluster for the reason",
    );
    const whileAway = member.sent();
    clock.advance(500);
    const probing = guard.send(REQUEST);
    await expect(guard.send(REQUEST)).rejects.toThrow(
      "cluster far does not answer; see the Ready condition of its Cluster for the reason",
    );
    await settle();
    member.waiting[0]?.answer();
    await probing;
    const after = guard.send(REQUEST);
    await settle();
    member.waiting[1]?.answer();

    expect(whileAway).toBe(3);
    await expect(after).resolves.toEqual({});
  });

  test("bounds the wait for a slow member", async () => {
    const member = createMember();
    const clock = createFakeClock();
    const guard = createMemberBreaker(member.transport, "far", clock);
    const all = Array.from({ length: 17 }, () =>
      guard.send(REQUEST).catch((error: unknown) => (error as Error).message),
    );
    await settle();

    clock.advance(1_000);
    const refused = await all[16];
    member.waiting.splice(0).forEach(({ answer }) => answer());

    expect(refused).toBe("cluster far is slow: 16 requests are in flight");
    expect((await Promise.all(all)).slice(0, 16)).toEqual(Array.from({ length: 16 }, () => ({})));
  });

  test("counts a rejection as an answer", async () => {
    const member = createMember();
    const guard = createMemberBreaker(member.transport, "far", createFakeClock());
    for (let count = 0; count < 5; count++) {
      const refused = guard.send(REQUEST).catch((error: unknown) => (error as Error).message);
      await settle();
      member.waiting.pop()?.fail(notFound({ group: "", resource: "pods" }, "web"));
      expect(await refused).toBe('pods "web" not found');
    }

    expect(member.sent()).toBe(5);
  });

  test("rejects waiting requests when the member turns out to be unreachable", async () => {
    const member = createMember();
    const guard = createMemberBreaker(member.transport, "far", createFakeClock());
    const all = Array.from({ length: 18 }, () =>
      guard.send(REQUEST).catch((error: unknown) => (error as Error).message),
    );
    await settle();

    member.waiting.splice(0).forEach(({ fail }) => fail(new UnreachableError("no route")));

    expect((await Promise.all(all)).slice(-2)).toEqual([
      "cluster far does not answer; see the Ready condition of its Cluster for the reason",
      "cluster far does not answer; see the Ready condition of its Cluster for the reason",
    ]);
    expect(member.sent()).toBe(16);
  });

  test("explains how to fix a rejected token, and keeps sending requests because a rejection is an answer", async () => {
    const member = createMember();
    const guard = createMemberBreaker(member.transport, "far", createFakeClock());
    for (let attempt = 0; attempt < 5; attempt++) {
      const refused = guard.send(REQUEST).catch((error: unknown) => error);
      await settle();
      member.waiting.splice(0).forEach(({ fail }) => fail(unauthorized()));
      expect(await refused).toMatchObject({
        status: { code: 401 },
        message: expect.stringContaining("cluster far rejects the hub's token (401); run 'flotilla join far") as string,
      });
    }

    expect(member.sent()).toBe(5);
  });
});

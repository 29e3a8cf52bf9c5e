import { expect, test } from "vitest";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Client, RawResponse } from "@flotilla/client";
import { createProber } from "./prober.ts";

/** A healthy member that serves the kinds that the test sets. */
function createMember(): { client: Client; serves: string[]; asked(): number } {
  let asked = 0;
  const member = {
    serves: ["v1"],
    asked: () => asked,
    client: {
      async raw({ path }: { path: string }): Promise<RawResponse> {
        if (path === "/apis") asked++;
        const versions = member.serves.map((version) => ({ version, resources: [] }));
        const body = {
          gitVersion: "v1.36.0",
          items: path === "/apis" ? [{ metadata: { name: "example.dev" }, versions }] : [],
        };
        return {
          status: 200,
          headers: {},
          body: (async function* () {
            yield Buffer.from(JSON.stringify(body));
          })(),
        };
      },
    } as unknown as Client,
  };
  return member;
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("discovery runs at once when a member's kinds change, once more after a period because the member may lag, and then at the normal interval", async () => {
  const clock = createFakeClock();
  const member = createMember();
  const prober = createProber({
    hub: "hub",
    periodMs: 10_000,
    factsEveryMs: () => 60_000,
    clock,
    random: createSeededRandom(1),
    log: silentLog,
  });
  const advance = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await settle();
    }
  };
  prober.follow("far", member.client);
  await settle();
  await advance(20_000);

  prober.refresh("far");
  await settle();
  const atOnce = member.asked();
  member.serves = ["v1", "v2"];
  await advance(12_000);
  const afterPeriod = member.asked();
  await advance(40_000);

  expect([atOnce, afterPeriod, member.asked()]).toEqual([2, 3, 3]);
  expect(prober.last("far")?.facts?.apiEnablements.map(({ groupVersion }) => groupVersion)).toEqual([
    "example.dev/v1",
    "example.dev/v2",
  ]);
  prober.close();
});

test("a failed request is followed by a probe at once, and a first failed probe by a second one a second later", async () => {
  const clock = createFakeClock();
  const member = createMember();
  const probes: number[] = [];
  let isAway = false;
  const client = {
    raw(request: { path: string }) {
      if (request.path === "/readyz") probes.push(clock.now());
      if (isAway) return Promise.reject(new UnreachableError("connection refused"));
      return (member.client as unknown as { raw(r: object): Promise<RawResponse> }).raw(request);
    },
  } as unknown as Client;
  const prober = createProber({
    hub: "hub",
    periodMs: 10_000,
    factsEveryMs: () => 60_000,
    clock,
    random: createSeededRandom(1),
    log: silentLog,
  });
  const advance = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.advance(100);
      await settle();
    }
  };
  prober.follow("far", client);
  await settle();
  await advance(2_000);
  probes.length = 0;
  const startMs = clock.now();

  isAway = true;
  for (let failed = 0; failed < 5; failed++) prober.check("far");
  await settle();
  await advance(5_000);
  prober.check("far");
  await advance(8_000);

  expect(probes.map((ms) => ms - startMs)).toEqual([0, 1_000, 11_000]);
  prober.close();
});

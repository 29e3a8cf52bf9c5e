import { expect, test } from "vitest";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
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

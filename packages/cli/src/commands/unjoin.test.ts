import { expect, test } from "vitest";
import { notFound } from "@flotilla/apimachinery";
import { createFakeClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { makeCluster } from "@flotilla/testing/builders.ts";
import type { CommandContext } from "../command.ts";
import { createOutput } from "../output.ts";
import { unjoinCommand } from "./unjoin.ts";

test("shows what a removal waits for, and reports it when the time is over", async () => {
  // The fake clock advances on every wait.
  const fake = createFakeClock();
  const clock: Clock = {
    ...fake,
    after: (delayMs, run) => (fake.advance(delayMs), queueMicrotask(run), { cancel: () => {} }),
  };
  const reasons = ["2 Works are left", "1 Work is left"];
  let reads = 0;
  const steps = new Set<string>();
  const get = (): Promise<unknown> =>
    Promise.resolve(
      makeCluster("oslo", (cluster) => {
        const message = reasons[reads++ < 3 ? 0 : 1] ?? "";
        cluster.status = { conditions: [{ type: "Unjoining", status: "True", reason: "Works", message }] as never };
      }),
    );
  const context = {
    args: ["oslo"],
    flags: { yes: true, purge: false, force: false, wait: 2, kubeconfig: "hub.kubeconfig", data: undefined },
    output: createOutput({
      format: "table",
      write: () => {},
      warn: () => {},
      showProgress: (step) => void steps.add(step),
    }),
    signal: new AbortController().signal,
    clock,
    connect: () =>
      Promise.resolve({
        client: { get, delete: () => Promise.resolve({}) },
        server: "https://hub",
        close: () => Promise.resolve(),
      }),
    environment: {},
  };

  const running = unjoinCommand.run(context as unknown as CommandContext<never>);

  await expect(running).rejects.toThrow("oslo is still being unjoined after 2 s: 1 Work is left");
  expect([...steps]).toEqual([
    "unjoining oslo",
    "waiting for oslo to be removed: 2 Works are left",
    "waiting for oslo to be removed: 1 Work is left",
  ]);
});

const answers: Record<string, { answer: string | undefined; want: number }> = {
  "removes nothing without a yes": { answer: "", want: 0 },
  "removes nothing when the input ends": { answer: undefined, want: 0 },
  "removes the member after a yes": { answer: "y", want: 1 },
};
for (const [behaviour, { answer, want }] of Object.entries(answers)) {
  test(`on a terminal it ${behaviour}`, async () => {
    let deleted = 0;
    const asked: string[] = [];
    const context = {
      args: ["oslo"],
      flags: { yes: false, purge: false, force: false, wait: 2, kubeconfig: "hub.kubeconfig", data: undefined },
      output: createOutput({ format: "table", write: () => {}, warn: () => {}, showProgress: () => {} }),
      signal: new AbortController().signal,
      clock: createFakeClock(),
      terminal: { canAsk: true, ask: (text: string) => (asked.push(text), Promise.resolve(answer)) },
      connect: () =>
        Promise.resolve({
          client: {
            get: () =>
              deleted === 0
                ? Promise.resolve(makeCluster("oslo"))
                : Promise.reject(notFound({ group: "cluster.karmada.io", resource: "clusters" }, "oslo")),
            delete: () => (deleted++, Promise.resolve({})),
          },
          server: "https://hub",
          close: () => Promise.resolve(),
        }),
      environment: {},
    };

    const code = await unjoinCommand.run(context as unknown as CommandContext<never>);

    expect([deleted, code]).toEqual([want, want === 1 ? 0 : 1]);
    expect(asked).toEqual(["Remove oslo from the fleet and leave its workloads running? [y/N] "]);
  });
}

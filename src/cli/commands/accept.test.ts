import { expect, test } from "vitest";
import { createFakeClock } from "../../base/index.ts";
import type { Clock } from "../../base/index.ts";
import { notFound } from "../../machinery/index.ts";
import type { CommandContext } from "../command.ts";
import { createOutput } from "../output.ts";
import { acceptCommand } from "./accept.ts";

test("whoever waits for a cluster that nobody knows is told so once, and what to do when it never asks", async () => {
  // Waiting takes no time, and passes all the same.
  const fake = createFakeClock();
  const clock: Clock = {
    ...fake,
    after: (delayMs, run) => (fake.advance(delayMs), queueMicrotask(run), { cancel: () => {} }),
  };
  let text = "";
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: "1" }),
    get: (_kind: unknown, { name }: { name: string }) =>
      Promise.reject(notFound({ group: "", resource: "managedclusters" }, name)),
  };
  const output = createOutput({
    format: "table",
    write: (part) => void (text += part),
    warn: () => {},
    showProgress: () => {},
  });
  const context = {
    args: ["nope"],
    flags: {
      wait: 5,
      "skip-approve-check": false,
      requesters: undefined,
      kubeconfig: "hub.kubeconfig",
      data: undefined,
    },
    output,
    signal: new AbortController().signal,
    clock,
    connect: () => Promise.resolve({ client, server: "https://hub", close: () => Promise.resolve() }),
    environment: {},
  };

  const running = acceptCommand.run(context as unknown as CommandContext<never>);

  await expect(running).rejects.toThrow("no cluster called nope has asked to join; start its agent");
  expect(text).toBe("no cluster called nope has asked to join yet; waiting for it to ask (Ctrl-C ends this)\n");
});

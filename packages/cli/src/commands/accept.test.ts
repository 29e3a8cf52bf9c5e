import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { notFound } from "@flotilla/apimachinery";
import type { CommandContext } from "../command.ts";
import { createOutput } from "../output.ts";
import { acceptCommand } from "./accept.ts";

test("waiting for an unknown cluster is reported once, and the timeout error states what to do", async () => {
  // The fake clock advances on every wait.
  const fake = createFakeClock();
  const clock: Clock = {
    ...fake,
    after: (delayMs, run) => (fake.advance(delayMs), queueMicrotask(run), { cancel: () => {} }),
  };
  let text = "";
  const steps = new Set<string>();
  const client = {
    list: () => Promise.resolve({ items: [], resourceVersion: "1" }),
    get: (_kind: unknown, { name }: { name: string }) =>
      Promise.reject(notFound({ group: "", resource: "managedclusters" }, name)),
  };
  const output = createOutput({
    format: "table",
    write: (part) => void (text += part),
    warn: () => {},
    showProgress: (step) => void steps.add(step),
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

  await expect(running).rejects.toThrow("no cluster named nope has asked to join; start its agent");
  expect([...steps]).toEqual(["accepting nope", "waiting for nope to ask to join", ""]);
  expect(text).toBe("no cluster named nope has asked to join yet; waiting (Ctrl-C to stop)\n");
});

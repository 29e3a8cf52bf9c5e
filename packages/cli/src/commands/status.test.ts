import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { createFakeClock } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { notFound } from "@flotilla/apimachinery";
import { makeCluster } from "@flotilla/testing/builders.ts";
import type { CommandContext } from "../command.ts";
import { createOutput } from "../output.ts";
import { statusCommand } from "./status.ts";

test("--watch prints what changed, and exits with 0 when interrupted", async () => {
  // Timers fire at once.
  const clock: Clock = { ...createFakeClock(), after: (_delayMs, run) => (queueMicrotask(run), { cancel: () => {} }) };
  const stop = new AbortController();
  let looks = 0;
  let text = "";
  const list = (kind: { plural: string }): Promise<unknown> => {
    if (kind.plural !== "clusters") return Promise.reject(notFound({ group: "", resource: kind.plural }, ""));
    looks += 1;
    if (looks === 4) stop.abort();
    return Promise.resolve({
      items: looks < 3 ? [makeCluster("paris")] : [makeCluster("paris"), makeCluster("oslo")],
      resourceVersion: "1",
    });
  };
  const raw = (): Promise<unknown> => Promise.resolve({ status: 200, headers: {}, body: Readable.from([]) });
  const output = createOutput({
    format: "table",
    write: (part) => void (text += part),
    warn: () => {},
    showProgress: () => {},
  });
  const context = {
    args: [],
    flags: { watch: true, all: false, kubeconfig: "hub.kubeconfig", data: undefined },
    output,
    signal: stop.signal,
    clock,
    connect: () => Promise.resolve({ client: { list, raw }, server: "https://hub", close: () => Promise.resolve() }),
    environment: {},
  };

  await statusCommand.run(context as unknown as CommandContext<never>);

  expect(text.match(/^MEMBER/gm)).toHaveLength(2);
  expect(text.indexOf("oslo")).toBeGreaterThan(text.lastIndexOf("hub https://"));
});

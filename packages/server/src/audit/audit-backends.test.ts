import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAuditErrors, IdentityMetrics } from "@flotilla/apiserver";
import { createFakeClock, createLog, systemClock } from "@flotilla/base";
import { createAuditLogFile } from "./audit-log-file.ts";
import { createAuditWebhook } from "./audit-webhook.ts";
import { openAudit } from "./open-audit.ts";
import { createLostEvents } from "./lost-events.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "flotilla-audit-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function createLosses(backend: string) {
  const clock = createFakeClock();
  const logged: string[] = [];
  const errors = createAuditErrors();
  const log = createLog({ level: "debug", clock, write: (line) => void logged.push(line) });
  return { clock, logged, errors, lost: createLostEvents(backend, errors, clock, log) };
}
const line = (text: string) => ({ text });
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

test("the log file has one line per record", async () => {
  const { lost } = createLosses("log");
  const path = join(folder, "audit.log");
  const backend = createAuditLogFile({ path }, { lost, clock: systemClock });

  backend.write(line('{"a":1}'));
  backend.write({ text: '{"kind":"Decision"}', asEvent: () => "{}" });
  await backend.close();

  expect(readFileSync(path, "utf8")).toBe('{"a":1}\n{"kind":"Decision"}\n');
});

test("records that the disk does not take are counted and logged", async () => {
  const { lost, errors, logged } = createLosses("log");
  const backend = createAuditLogFile({ path: join(folder, "missing", "audit.log") }, { lost, clock: systemClock });

  for (let count = 0; count < 3; count++) backend.write(line("{}"));
  await backend.close();

  expect(errors.get(["log"])).toBe(3);
  expect(logged.join("")).toContain("audit records were lost");
  expect(logged.join("")).toContain('"lost":3');
});

test("the webhook gets batches: a full one at once, a part after the wait, and decisions as events", async () => {
  const { lost, clock } = createLosses("webhook");
  const bodies: { kind: string; items: { n: number }[] }[] = [];
  const backend = createAuditWebhook({
    post: async (body) => void bodies.push(JSON.parse(body.toString()) as (typeof bodies)[number]),
    lost,
    clock,
    maxBatch: 2,
    maxWaitMs: 1_000,
  });

  for (const n of [1, 2, 3]) backend.write(line(`{"n":${n}}`));
  await turns();
  expect(bodies.map(({ items }) => items.map(({ n }) => n))).toEqual([[1, 2], [3]]);
  backend.write({ text: "{}", asEvent: () => '{"n":4}' });
  await turns();
  expect(bodies).toHaveLength(2);
  clock.advance(1_000);
  await turns();

  expect(bodies.at(-1)).toMatchObject({ kind: "EventList", items: [{ n: 4 }] });
});

test("what does not fit into the buffer of a slow webhook is counted, and a batch is retried", async () => {
  const { lost, clock, errors } = createLosses("webhook");
  let attempts = 0;
  const backend = createAuditWebhook({
    post: () => {
      attempts++;
      return Promise.reject(new Error("503"));
    },
    lost,
    clock,
    bufferSize: 3,
    maxBatch: 1,
    retries: 1,
    backoffMs: 10,
  });

  for (let count = 0; count < 10; count++) backend.write(line("{}"));
  await turns();
  // One is being sent, three wait.
  expect(errors.get(["webhook"])).toBe(6);
  for (let round = 0; round < 10; round++) {
    clock.advance(10);
    await turns();
  }

  expect([attempts, errors.get(["webhook"])]).toEqual([8, 10]);
});

test("large events that wait for a slow webhook are bounded by their size", async () => {
  const { lost, clock, errors } = createLosses("webhook");
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const backend = createAuditWebhook({
    post: async (body) => {
      await answered;
      sent += (JSON.parse(body.toString()) as { items: unknown[] }).items.length;
    },
    lost,
    clock,
    maxBatch: 1,
    maxBufferedCharacters: 10,
  });

  // The first is being sent, two wait.
  for (let count = 0; count < 5; count++) backend.write(line('"abc"'));
  expect(errors.get(["webhook"])).toBe(2);
  resolve();
  await turns();
  backend.write(line('"abc"'));
  await backend.close();

  expect([sent, errors.get(["webhook"])]).toEqual([4, 2]);
});

test("events that standard output does not take are bounded by their size and counted", async () => {
  const { lost, errors } = createLosses("log");
  const output = {
    written: [] as string[],
    writableLength: 0,
    write: (text: string) => void output.written.push(text),
  };
  const backend = createAuditLogFile({ path: "-" }, { lost, clock: systemClock }, output);

  backend.write(line("{}"));
  output.writableLength = 64 * 1024 * 1024;
  backend.write(line("{}"));
  await backend.close();

  expect([output.written, errors.get(["log"])]).toEqual([["{}\n"], 1]);
});

test("flags that cannot work together are rejected", async () => {
  const { clock } = createLosses("log");
  const environment = {
    clock,
    random: { next: () => 0 } as never,
    log: undefined as never,
    metrics: new IdentityMetrics(),
  };

  await expect(openAudit({ log: { path: "x" } }, environment)).rejects.toThrow("needs --audit-policy-file");
  await expect(openAudit({ policyFile: "x" }, environment)).rejects.toThrow("needs --audit-log-path");
  await expect(openAudit({ policyFile: join(folder, "none"), log: { path: "x" } }, environment)).rejects.toThrow(
    "cannot be read",
  );
  expect(await openAudit({}, environment)).toBeUndefined();
});

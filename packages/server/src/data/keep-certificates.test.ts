import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ensureCertificates } from "@flotilla/apimachinery";
import type { Certificates } from "@flotilla/apimachinery";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { FakeClock, Log } from "@flotilla/base";
import { keepCertificates } from "./keep-certificates.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let directory: string;
let clock: FakeClock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "flotilla-certificates-"));
  clock = createFakeClock();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const onDisk = (): Promise<Certificates> =>
  ensureCertificates({ directory, hosts: [], clients: {}, clock, log: silentLog });

/** Runs for this many days, with two checks a day while checks are scheduled. */
async function live(days: number, looked: () => Promise<unknown>[]): Promise<void> {
  for (let half = 0; half < days * 2; half++) {
    clock.advance(DAY_MS / 2);
    await Promise.all(looked());
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function keep(
  log: Log = silentLog,
): Promise<{ used: Certificates[]; stop(): void; looked(): Promise<unknown>[] }> {
  const current = await onDisk();
  const used: Certificates[] = [];
  const looks: Promise<unknown>[] = [];
  const ensure = (): Promise<Certificates> => {
    const look = onDisk();
    looks.push(look);
    return look;
  };
  const stop = keepCertificates({ current, ensure, use: (certificates) => void used.push(certificates), clock, log });
  return { used, stop, looked: () => looks.splice(0) };
}

test("a certificate that is about to expire is replaced once, by one of the same CA", async () => {
  const before = await onDisk();
  const { used, stop, looked } = await keep();

  await live(330, looked);
  const early = used.length;
  await live(20, looked);
  stop();

  expect(early).toBe(0);
  expect(used).toHaveLength(1);
  expect(used[0]?.serving.certificate).not.toBe(before.serving.certificate);
  expect(used[0]?.authority.certificate).toBe(before.authority.certificate);
});

test("a CA that expires soon is kept, and a warning is logged", async () => {
  const warnings: string[] = [];
  const before = await onDisk();
  clock.advance(3_600 * DAY_MS);
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), with: () => log };
  const { used, stop, looked } = await (async () => {
    const looks: Promise<unknown>[] = [];
    const taken: Certificates[] = [];
    return {
      used: taken,
      looked: () => looks,
      stop: keepCertificates({
        current: before,
        ensure: () => Promise.reject(new Error("must not be called")),
        use: (next) => void taken.push(next),
        clock,
        log,
      }),
    };
  })();

  await live(1, looked);
  stop();

  expect(warnings.length).toBeGreaterThan(0);
  expect(warnings[0]).toContain("certificate authority expires soon");
  expect(used).toEqual([]);
});

test("certificates are not checked after close", async () => {
  const { stop, looked } = await keep();
  stop();

  await live(2, looked);

  expect(looked()).toEqual([]);
  expect(clock.nextDue()).toBeUndefined();
});

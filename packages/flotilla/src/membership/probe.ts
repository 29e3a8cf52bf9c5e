/** One probe of a member: reachability, health, version and discovery. */
import { messageOf, isObject } from "@flotilla/base";
import type { Clock } from "@flotilla/base";
import { readJson, readText, UnreachableError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { Discovery, Enablements } from "./discovery.ts";
import { REFUSES_TOKEN } from "./ready.ts";
import type { Health } from "./ready.ts";

/** Facts that a healthy member reports. */
export interface Facts extends Enablements {
  version: string;
}

export interface Probe {
  health: Health;
  /** The error; empty on success. */
  detail: string;
}

/** Health and version responses are a line or two. */
const MAX_PAGE_BYTES = 1024 * 1024;

/** A member rejects a token with one word; this message explains the fix. */
export const refusedToken = (cluster: string): string =>
  `cluster ${cluster} ${REFUSES_TOKEN} (401); run 'flotilla join ${cluster} --cluster-kubeconfig FILE' to issue a new one`;

/** Requests `/readyz`, or `/healthz` where that is unknown. Never rejects: an unreachable member is a result too. */
export async function probe(
  client: Client,
  cluster: string,
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Probe> {
  const ask = async (path: string, stop: AbortSignal): Promise<number> => {
    const { status, body } = await client.raw({ method: "GET", path, cluster }, stop);
    await readText(body, MAX_PAGE_BYTES);
    return status;
  };
  try {
    return await within(timeoutMs, clock, signal, async (stop) => {
      const ready = await ask("/readyz", stop);
      const status = ready === 404 ? await ask("/healthz", stop) : ready;
      if (status === 200) return { health: "ready", detail: "" };
      return status === 401
        ? { health: "unauthorized", detail: refusedToken(cluster) }
        : { health: "unhealthy", detail: `it answered ${status}` };
    });
  } catch (error) {
    return { health: "unreachable", detail: messageOf(error) };
  }
}

/** Version and discovery; rejects when one of them is unavailable. */
export async function collectFacts(
  client: Client,
  cluster: string,
  discovery: Discovery,
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Facts> {
  return within(timeoutMs, clock, signal, async (stop) => {
    const { body } = await client.raw(
      { method: "GET", path: "/version", cluster, headers: { accept: "application/json" } },
      stop,
    );
    const version: unknown = await readJson(body, MAX_PAGE_BYTES);
    const gitVersion = isObject(version) ? version["gitVersion"] : undefined;
    return { version: typeof gitVersion === "string" ? gitVersion : "", ...(await discovery.read(stop)) };
  });
}

async function within<T>(
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const timer = clock.after(timeoutMs, () =>
    stop.abort(new UnreachableError(`no answer within ${timeoutMs / 1000} s`)),
  );
  const give = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", give, { once: true });
  if (signal.aborted) give();
  // A transport that ignores its signal must not block the probe.
  const given = new Promise<never>((_, reject) =>
    stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true }),
  );
  try {
    return await Promise.race([work(stop.signal), given]);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", give);
  }
}

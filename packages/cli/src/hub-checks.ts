/** The hub's own health checks, as `/readyz` reports them, and what they mean. */
import { HUB } from "@flotilla/apimachinery";
import type { Client } from "@flotilla/client";
import { readText } from "./members/ask.ts";

/** Requests every check by name. */
export const HUB_CHECKS_PATH = "/readyz?verbose";

/** The names of the failing checks. */
export function failedChecksOf(page: string): string[] {
  return Array.from(page.matchAll(/^\[-\]([\w./-]+)/gm), ([, name = ""]) => name);
}

/** Explanations of failed checks. Others are only named. */
const EXPLANATIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "store-writes":
      "its disk is full, so every change is rejected; free some space there (run 'flotilla doctor' for the path)",
    "store-quota":
      "its store is full or nearly full: above its quota nothing can be created; delete objects, or start it with a larger --store-quota",
    controllers: "its controllers are stuck, so nothing is propagated; check its log",
    shutdown: "it is stopping",
  }),
);

export const explainHubCheck = (name: string): string => EXPLANATIONS.get(name) ?? "the check fails; see the hub's log";

/**
 * The names of the hub's own failing checks, also of those that do not make it unready; none if the server has no such
 * checks, undefined if they may not be read.
 */
export async function readFailedChecks(client: Client, signal: AbortSignal): Promise<string[] | undefined> {
  const page = await readPage(client, HUB_CHECKS_PATH, signal);
  return page === undefined ? undefined : failedChecksOf(page);
}

/** The hub's metrics; undefined if they may not be read. */
export const readHubMetrics = (client: Client, signal: AbortSignal): Promise<string | undefined> =>
  readPage(client, "/metrics", signal);

async function readPage(client: Client, path: string, signal: AbortSignal): Promise<string | undefined> {
  const { status, body } = await client.raw(
    { method: "GET", path, cluster: HUB, headers: { accept: "text/plain" } },
    signal,
  );
  const page = await readText(body);
  return status === 401 || status === 403 ? undefined : page;
}

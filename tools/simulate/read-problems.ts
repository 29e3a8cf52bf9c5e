/** What `flotilla status` reports as wrong. */
import type { Clock } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { readStatus } from "../../packages/cli/src/status/read-status.ts";

export async function readProblems(client: Client, clock: Clock): Promise<string[]> {
  const { signal } = new AbortController();
  const { members, unhealthy } = await readStatus({ client, server: "https://hub.example.com", clock, signal });
  return [
    ...unhealthy.worst.map(({ problem }) => problem),
    ...members
      .filter(({ ready, available }) => ready !== "True" || (available !== undefined && available !== "True"))
      .map(({ name }) => name),
  ];
}

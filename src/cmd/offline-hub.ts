/** A temporary in-process hub: its API server, without network, files or running controllers. */
import { silentLog, systemClock, systemRandom } from "../base/index.ts";
import type { OfflineHub } from "../cli/index.ts";
import { createMemoryEngine } from "../store/index.ts";
import { createHub } from "./hub.ts";

export async function openOfflineHub(): Promise<OfflineHub> {
  const hub = await createHub({
    engine: createMemoryEngine(),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    kruise: "installed",
    nodes: 0,
  });
  return { client: hub.client, close: () => hub.stop() };
}

/**
 * A hub that lives in this process for as long as a question takes: its API server, without a network, files or
 * controllers at work.
 */
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

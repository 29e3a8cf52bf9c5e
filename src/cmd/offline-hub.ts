/** A temporary in-process hub: its API server, without network, files or running controllers. */
import { silentLog, systemClock, systemRandom } from "../base/index.ts";
import type { OfflineHub } from "../cli/index.ts";
import { createClient } from "../client/index.ts";
import { createMemoryEngine } from "../store/index.ts";
import { createHub } from "./hub.ts";

/** Not a controller of this server: those receive no admission warnings, which `flotilla lint` reports. */
const ADMINISTRATOR = { name: "admin", groups: ["system:masters", "system:authenticated"] };

export async function openOfflineHub(): Promise<OfflineHub> {
  const hub = await createHub({
    engine: createMemoryEngine(),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    kruise: "installed",
    nodes: 0,
  });
  const client = createClient({ transport: hub.server.transport(ADMINISTRATOR), fieldManager: "flotilla-cli" });
  return { client, close: () => hub.stop() };
}

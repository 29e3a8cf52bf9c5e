/** A temporary in-process hub: its API server, without network, files or running controllers. */
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "@flotilla/kubernetes";
import { silentLog, systemClock, systemRandom } from "@flotilla/base";
import type { OfflineHub } from "@flotilla/cli";
import { createClient } from "@flotilla/client";
import { createMemoryEngine } from "@flotilla/apiserver";
import { createHub } from "../hub.ts";

/** Not a controller of this server: those receive no admission warnings, which `flotilla lint` reports. */
const ADMINISTRATOR = { name: "admin", groups: [MASTERS_GROUP, AUTHENTICATED_GROUP] };

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

/** Runs the engine contract for every engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryEngine, openEtcdEngine, openSqliteEngine } from "@flotilla/apiserver";
import { silentLog, systemClock } from "@flotilla/base";
import { findPrograms } from "../e2e/real-programs.ts";
import { countedFromZero, startEtcd } from "./etcd-server.ts";
import { describeEngine } from "./engine.ts";

// Memory ends with the process, so there is nothing to reopen.
describeEngine("memory", { reopens: false, snapshots: false, ordersAll: true }, async () => ({
  engine: createMemoryEngine(),
  cleanup: async () => {},
}));

describeEngine("SQLite", { reopens: true, snapshots: true, ordersAll: true }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "flotilla-store-"));
  const path = join(directory, "store.db");
  return {
    engine: await openSqliteEngine({ path }),
    reopen: () => openSqliteEngine({ path }),
    async openSnapshot(engine) {
      const copy = join(directory, "copy.db");
      await engine.snapshot(copy);
      return openSqliteEngine({ path: copy });
    },
    cleanup: () => rm(directory, { recursive: true }),
  };
});

const binaries = findPrograms("the engine on etcd", "etcd");
if (binaries !== undefined)
  describeEngine("etcd", { reopens: true, snapshots: false, ordersAll: false }, async () => {
    const etcd = await startEtcd(binaries);
    const open = async () =>
      countedFromZero(
        await openEtcdEngine({ endpoints: [etcd.endpoint], prefix: "/flotilla", clock: systemClock, log: silentLog }),
      );
    return { engine: await open(), reopen: open, cleanup: () => etcd.stop() };
  });

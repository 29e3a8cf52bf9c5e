/** Runs the engine contract for every engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryEngine, openEtcdEngine, openSqliteEngine, shiftRevisions } from "@flotilla/apiserver";
import { silentLog, systemClock } from "@flotilla/base";
import { findPrograms } from "../programs/real-programs.ts";
import { startEtcd } from "../programs/etcd-server.ts";
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

// A shift and its opposite: what the suite states about revisions holds unchanged.
describeEngine("memory with shifted revisions", { reopens: false, snapshots: false, ordersAll: true }, async () => ({
  engine: shiftRevisions(shiftRevisions(createMemoryEngine(), { offset: 1000, compacted: 1000 }), {
    offset: -1000,
    compacted: 0,
  }),
  cleanup: async () => {},
}));

const binaries = findPrograms("the engine on etcd", "etcd");
if (binaries !== undefined)
  describeEngine("etcd", { reopens: true, snapshots: false, ordersAll: false }, async () => {
    const etcd = await startEtcd(binaries);
    const open = async () =>
      // An empty etcd is at revision 1, other engines at 0: the suite states revisions as numbers.
      shiftRevisions(
        await openEtcdEngine({ endpoints: [etcd.endpoint], prefix: "/flotilla", clock: systemClock, log: silentLog }),
        { offset: -1, compacted: 0 },
      );
    return { engine: await open(), reopen: open, cleanup: () => etcd.stop() };
  });

/** Runs the engine contract for every engine. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryEngine, openSqliteEngine } from "@flotilla/apiserver";
import { describeEngine } from "./engine.ts";

// Memory ends with the process, so there is nothing to reopen.
describeEngine("memory", { reopens: false, snapshots: false }, async () => ({
  engine: createMemoryEngine(),
  cleanup: async () => {},
}));

describeEngine("SQLite", { reopens: true, snapshots: true }, async () => {
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

/** A real etcd for tests: `etcd` in `$REAL_BIN`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, Entry, Outcome, PastChange, Write } from "@flotilla/apiserver";
import { CompactedError } from "@flotilla/apiserver";
import { freePort } from "../../tools/bench/kube.ts";
import { createPrograms } from "../e2e/real-programs.ts";

export interface EtcdServer {
  endpoint: URL;
  /** Like a power loss. */
  kill(): Promise<void>;
  /** With the data that it had. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEtcd(binaries: string): Promise<EtcdServer> {
  const directory = await mkdtemp(join(tmpdir(), "flotilla-etcd-"));
  const programs = createPrograms(binaries, directory);
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const flags = [
    `--name=one --data-dir=${join(directory, "data")} --log-level=error --unsafe-no-fsync`,
    `--listen-client-urls=${endpoint} --advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peer} --initial-advertise-peer-urls=${peer} --initial-cluster=one=${peer}`,
  ].flatMap((line) => line.split(" "));
  const start = (): Promise<void> => programs.run("etcd", flags, () => answers(endpoint));
  await start();
  return {
    endpoint: new URL(endpoint),
    kill: () => programs.kill("etcd"),
    start,
    async stop() {
      await programs.stop();
      await rm(directory, { recursive: true });
    },
  };
}

async function answers(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/health`)).ok;
  } catch {
    return false; // It does not listen yet.
  }
}

/** An empty etcd is at revision 1, other engines at 0: the suite states revisions as numbers. */
const EMPTY = 1;

export function countedFromZero(engine: Engine): Engine {
  const shown = (entry: Entry): Entry => ({ ...entry, revision: entry.revision - EMPTY });
  const meant = <T extends number | string>(expect: T): T =>
    (typeof expect === "number" && expect > 0 ? expect + EMPTY : expect) as T;
  return {
    isShared: engine.isShared,
    async commit(write) {
      return shownOutcome(await engine.commit(meantWrite(write)));
    },
    async *scan(prefix) {
      for await (const batch of engine.scan(prefix)) yield batch.map(shown);
    },
    async *changes(after, signal) {
      try {
        for await (const { changes, revision } of engine.changes(after + EMPTY, signal))
          yield {
            changes: changes.map((change) => ({ ...change, revision: change.revision - EMPTY })),
            revision: revision - EMPTY,
          };
      } catch (error) {
        throw error instanceof CompactedError ? new CompactedError(after, error.oldest - EMPTY) : error;
      }
    },
    async *past(upTo) {
      for await (const batch of engine.past(upTo + EMPTY)) yield batch.map(shownPast);
    },
    revision: async () => (await engine.revision()) - EMPTY,
    compact: (revision) => engine.compact(revision + EMPTY),
    snapshot: (path) => engine.snapshot(path),
    close: () => engine.close(),
  };

  function meantWrite(write: Write): Write {
    const guards = write.guards?.map(({ key, expect }) => ({ key, expect: meant(expect) }));
    return { ...write, expect: meant(write.expect), ...(guards && { guards }) };
  }

  function shownOutcome(outcome: Outcome): Outcome {
    if (outcome.ok || outcome.failedGuard !== undefined) return { ...outcome, revision: outcome.revision - EMPTY };
    return outcome.current ? { ok: false, current: shown(outcome.current) } : outcome;
  }

  function shownPast({ key, revision, previous }: PastChange): PastChange {
    return { key, revision: revision - EMPTY, previous: previous && shown(previous) };
  }
}

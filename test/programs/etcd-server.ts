/** A real etcd for tests: `etcd` in `$REAL_BIN`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./kube.ts";
import { createPrograms } from "./real-programs.ts";

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

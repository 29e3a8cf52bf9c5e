/** Several etcd, each a process on a disk of its own, with a link in front of what its peers send. */
import type { Socket } from "node:net";
import { join } from "node:path";
import { freePort } from "../../test/programs/kube.ts";
import { createDisk } from "./disk.ts";
import type { Disk } from "./disk.ts";
import type { createLink, Link, LinkState } from "./link.ts";
import { createMachine } from "./machine.ts";
import type { Machine } from "./machine.ts";
import { ownerOf } from "./peers.ts";

/** etcd allocates 64 MB for each file of its log. */
const ETCD_DISK_MIB = 512;

export interface EtcdCluster {
  machines: readonly Machine[];
  disks: readonly Disk[];
  urls: readonly string[];
  clientPorts: readonly number[];
  /** Between two of them, in both directions. */
  setPeers(one: number, other: number, state: LinkState): void;
  /** The index of the leader, if there is one. */
  leader(): Promise<number | undefined>;
}

interface Options {
  size: number;
  folder: string;
  /** The folder with etcd. */
  binaries: string;
  logFile(machine: string): string;
  onEnd(name: string, how: string): void;
  link(given: Parameters<typeof createLink>[0]): Promise<Link>;
}

export async function startEtcdCluster(options: Options): Promise<EtcdCluster> {
  const { size, folder, binaries, logFile, onEnd, link } = options;
  const range = Array.from({ length: size }, (_, index) => index);
  const disks = range.map((index) => createDisk(join(folder, `etcd${index}`), ETCD_DISK_MIB));
  const clientPorts = await Promise.all(range.map(() => freePort()));
  const peerPorts = await Promise.all(range.map(() => freePort()));
  const between = new Map<string, LinkState>();
  const pair = (one: number, other: number): string => `${Math.min(one, other)}-${Math.max(one, other)}`;
  const etcd: Machine[] = [];
  const sources = new WeakMap<Socket, number>();
  const peerLinks = await Promise.all(
    range.map((index) =>
      link({
        name: `etcd peers to etcd${index}`,
        target: () => peerPorts[index],
        stateOf(near) {
          let source = sources.get(near);
          if (source === undefined) {
            const pid = ownerOf(
              near,
              etcd.flatMap((machine) => machine.pid ?? []),
            );
            source = etcd.findIndex((machine) => machine.pid === pid);
            sources.set(near, source);
          }
          return source < 0 ? undefined : between.get(pair(source, index));
        },
      }),
    ),
  );
  const urlOf = (port: number | undefined): string => `http://127.0.0.1:${port ?? 0}`;
  const urls = clientPorts.map(urlOf);
  const cluster = peerLinks.map(({ port }, index) => `etcd${index}=${urlOf(port)}`).join(",");
  for (const index of range) {
    etcd.push(
      createMachine({
        name: `etcd${index}`,
        role: "etcd",
        command: join(binaries, "etcd"),
        args: [
          `--name=etcd${index}`,
          `--data-dir=${join(disks[index]?.path ?? "", "data")}`,
          `--listen-client-urls=${urlOf(clientPorts[index])}`,
          `--advertise-client-urls=${urlOf(clientPorts[index])}`,
          `--listen-peer-urls=${urlOf(peerPorts[index])}`,
          `--initial-advertise-peer-urls=${urlOf(peerLinks[index]?.port)}`,
          `--initial-cluster=${cluster}`,
          "--max-wals=1",
          "--log-level=warn",
        ],
        logFile: logFile(`etcd${index}`),
        isReady: () => isAnswering(`${urls[index]}/version`),
        onEnd,
      }),
    );
  }
  await Promise.all(etcd.map((machine) => machine.start()));
  return {
    machines: etcd,
    disks,
    urls,
    clientPorts,
    setPeers: (one, other, state) => void between.set(pair(one, other), state),
    leader: () => leaderOf(urls),
  };
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false; // It does not listen yet.
  }
}

async function leaderOf(urls: readonly string[]): Promise<number | undefined> {
  for (const [index, url] of urls.entries()) {
    try {
      const answer = await fetch(`${url}/v3/maintenance/status`, {
        method: "POST",
        body: "{}",
        signal: AbortSignal.timeout(1_000),
      });
      const { header, leader } = (await answer.json()) as { header?: { member_id?: string }; leader?: string };
      if (leader !== undefined && leader === header?.member_id) return index;
    } catch {
      continue; // It is not up.
    }
  }
  return undefined;
}

/**
 * The hub under test: three etcd, three API servers, two processes of controllers and one member, each a process, with a
 * link between any two that talk to each other. The member is an API server of its own, to which no faults happen.
 */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../test/programs/kube.ts";
import { createDisk } from "./disk.ts";
import type { Disk } from "./disk.ts";
import { startEtcdCluster } from "./etcd-cluster.ts";
import { createLink } from "./link.ts";
import type { Link, LinkState } from "./link.ts";
import { createMachine } from "./machine.ts";
import type { Machine } from "./machine.ts";

const run = promisify(execFile);

export const SIZES = { etcd: 3, apiservers: 3, controllers: 2 } as const;
export const MEMBER = "member1";
const SERVER_DISK_MIB = 64;

export interface Hub {
  etcd: readonly Machine[];
  apiservers: readonly Machine[];
  controllers: readonly Machine[];
  /** All of them but the member. */
  machines: readonly Machine[];
  /** From clients to each API server. */
  clientLinks: readonly Link[];
  /** From one API server to each etcd. */
  storeLinks: readonly (readonly Link[])[];
  /** From each process of controllers to the API servers, one after the other. */
  controllerLinks: readonly Link[];
  /** Between two etcd, in both directions. */
  setPeers(one: number, other: number, state: LinkState): void;
  /** Data of etcd, and data directories of API servers. */
  etcdDisks: readonly Disk[];
  serverDisks: readonly Disk[];
  /** The index of etcd's leader, if there is one. */
  leader(): Promise<number | undefined>;
  etcdUrls: readonly string[];
  /** Credentials of an administrator. */
  kubeconfig: string;
  member: { kubeconfig: string; port: number };
  logFile(machine: string): string;
  stop(): Promise<void>;
}

export interface HubOptions {
  folder: string;
  /** The folder with etcd. */
  binaries: string;
  /** The entry point of the program under test. */
  entry: string;
  /** A process ended although no fault has ended it. `wasReady` distinguishes a start that failed. */
  onEnd(name: string, how: string): void;
  progress(text: string): void;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export async function startHub(options: HubOptions): Promise<Hub> {
  const { folder, binaries, entry, onEnd, progress } = options;
  const at = (...names: string[]): string => join(folder, ...names);
  for (const name of ["logs", "clocks"]) mkdirSync(at(name), { recursive: true });
  const logFile = (machine: string): string => at("logs", `${machine}.log`);
  const links: Link[] = [];
  const link = async (given: Parameters<typeof createLink>[0]): Promise<Link> => {
    const created = await createLink(given);
    links.push(created);
    return created;
  };

  const node = [
    "--disable-warning=ExperimentalWarning",
    "--import",
    join(import.meta.dirname, "clock-offset.ts"),
    entry,
  ];
  const flotillaMachine = (name: string, role: Machine["role"], args: readonly string[]): Machine => {
    const clock = at("clocks", name);
    writeFileSync(clock, "0");
    return createMachine({
      name,
      role,
      command: process.execPath,
      args: [...node, ...args],
      environment: {
        FLOTILLA_CLOCK_OFFSET: clock,
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? at("compiled"),
      },
      logFile: logFile(name),
      isReady: (printed) => /^ready/m.test(printed),
      async setClock(pid, offsetMs) {
        writeFileSync(clock, String(offsetMs));
        if (pid !== undefined) process.kill(pid, "SIGUSR2");
      },
      onEnd,
    });
  };

  progress("starting etcd");
  const etcd = await startEtcdCluster({ size: SIZES.etcd, folder, binaries, logFile, onEnd, link });

  // API servers
  progress("starting API servers");
  await run(process.execPath, [...node, "keys", "create", "--keys", at("keys")]);
  const serverDisks = range(SIZES.apiservers).map((index) => createDisk(at(`apiserver${index}`), SERVER_DISK_MIB));
  const serverPorts = await Promise.all(range(SIZES.apiservers).map(() => freePort()));
  const storeLinks: Link[][] = [];
  const apiservers: Machine[] = [];
  for (const index of range(SIZES.apiservers)) {
    const own = await Promise.all(
      range(SIZES.etcd).map((other) =>
        link({ name: `apiserver${index} to etcd${other}`, target: () => etcd.clientPorts[other] }),
      ),
    );
    storeLinks.push(own);
    // Each begins with another one.
    const endpoints = range(SIZES.etcd).map((offset) => `127.0.0.1:${own[(index + offset) % SIZES.etcd]?.port ?? 0}`);
    apiservers.push(
      flotillaMachine(`apiserver${index}`, "apiserver", [
        "apiserver",
        "--data",
        join(serverDisks[index]?.path ?? "", "data"),
        "--keys",
        at("keys"),
        "--port",
        String(serverPorts[index]),
        "--store",
        `etcd://${endpoints.join(",")}`,
        "--log-level",
        "info",
      ]),
    );
  }
  await Promise.all(apiservers.map((machine) => machine.start()));
  const clientLinks = await Promise.all(
    range(SIZES.apiservers).map((index) =>
      link({ name: `clients to apiserver${index}`, target: () => serverPorts[index] }),
    ),
  );
  const kubeconfig = join(serverDisks[0]?.path ?? "", "data", "hub.kubeconfig");

  // Controllers and their member
  progress("starting controllers");
  const memberPort = await freePort();
  const member = flotillaMachine(MEMBER, "member", ["apiserver", "--data", at(MEMBER), "--port", String(memberPort)]);
  await member.start();
  const controllers: Machine[] = [];
  const controllerLinks: Link[] = [];
  for (const index of range(SIZES.controllers)) {
    let turn = index;
    const up = (): number | undefined => {
      for (const _ of apiservers) {
        const next = turn++ % apiservers.length;
        if (apiservers[next]?.pid !== undefined) return serverPorts[next];
      }
      return undefined;
    };
    const own = await link({ name: `controllers${index} to the API servers`, target: up });
    controllerLinks.push(own);
    const { stdout } = await run(process.execPath, [
      ...node,
      "keys",
      "kubeconfig",
      "--keys",
      at("keys"),
      "--server",
      `https://127.0.0.1:${own.port}`,
    ]);
    writeFileSync(at(`controllers${index}.kubeconfig`), stdout, { mode: 0o600 });
    controllers.push(
      flotillaMachine(`controllers${index}`, "controllers", [
        "controllers",
        "--kubeconfig",
        at(`controllers${index}.kubeconfig`),
        "--log-level",
        "info",
      ]),
    );
  }
  await Promise.all(controllers.map((machine) => machine.start()));
  await run(process.execPath, [
    ...node,
    "join",
    MEMBER,
    "--kubeconfig",
    kubeconfig,
    "--cluster-kubeconfig",
    at(MEMBER, "hub.kubeconfig"),
  ]);

  const machines = [...etcd.machines, ...apiservers, ...controllers];
  return {
    etcd: etcd.machines,
    apiservers,
    controllers,
    machines,
    clientLinks,
    storeLinks,
    controllerLinks,
    setPeers: etcd.setPeers,
    etcdDisks: etcd.disks,
    serverDisks,
    leader: etcd.leader,
    etcdUrls: etcd.urls,
    kubeconfig,
    member: { kubeconfig: at(MEMBER, "hub.kubeconfig"), port: memberPort },
    logFile,
    async stop() {
      await Promise.all([...controllers, ...apiservers, member].map((machine) => machine.kill()));
      await Promise.all(etcd.machines.map((machine) => machine.kill()));
      await Promise.all(links.map((each) => each.close()));
      for (const disk of [...etcd.disks, ...serverDisks]) disk.remove();
    },
  };
}

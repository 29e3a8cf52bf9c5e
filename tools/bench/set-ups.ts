/**
 * The setups in which control planes are measured: Flotilla with simulated members in its process, Flotilla with two
 * real kube-apiservers as members, and a real Karmada or Open Cluster Management with two of the same. The members run
 * no workloads, so only the control plane is measured.
 */
import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseYaml } from "@flotilla/apimachinery";
import { connectApi } from "../../test/programs/api-client.ts";
import { freePort, realBinaries, startKube } from "../../test/programs/kube.ts";
import type { RunningKube } from "../../test/programs/kube.ts";
import type { ClientTarget } from "./outside-client.ts";
import { SOURCE, startFlotilla } from "./process.ts";
import type { RunningFleet } from "./process.ts";
import { expect } from "./target.ts";

const run = promisify(execFile);
const MEMBERS = ["member1", "member2"];
const CLONE_SETS = "kruise-config/crd/bases/apps.kruise.io_clonesets.yaml";

export interface RunningSetUp {
  target: ClientTarget;
  /** Bytes on disk by process. */
  stored(): Record<string, number>;
  /** Stops the hub's deciding processes, and restarts them with their data. Members keep running. */
  stopHub(): Promise<void>;
  startHub(): Promise<void>;
  stop(): Promise<void>;
}

export interface SetUp {
  name: "in process" | "real members" | Peer["name"];
  /** Why it cannot be measured on this machine. */
  missing?: string;
  start(): Promise<RunningSetUp>;
}

/**
 * One after another, each started, measured and stopped. Setups that cannot be measured here are skipped with a
 * message.
 */
export async function measureEach<T>(
  wanted: readonly SetUp[],
  progress: (text: string) => void,
  measure: (running: RunningSetUp, report: (text: string) => void) => Promise<T>,
): Promise<Map<string, T>> {
  const measured = new Map<string, T>();
  for (const { name, missing, start } of wanted) {
    if (missing !== undefined) {
      progress(`${name} is skipped: ${missing}`);
      continue;
    }
    progress(`${name}: starting`);
    const running = await start();
    try {
      measured.set(name, await measure(running, (text) => progress(`${name}: ${text}`)));
    } finally {
      await running.stop();
    }
  }
  return measured;
}

/** A program that is compared with Flotilla: started by a script, without its own rate limits. */
interface Peer {
  name: "Karmada" | "OCM";
  /** In the directory `real` of the shared directory. */
  script: string;
  programs: readonly string[];
  firstPort: number;
  environment: Readonly<Record<string, string>>;
  /** The metrics endpoint of a process that counts its requests: `NAME`, and the port offset. */
  metrics?: { name: string; port: number };
  /** The processes that decide and deliver; its API server and etcd keep running, which is in its favour. */
  restarted: readonly string[];
}

/** The worker counts are those that were fastest here. */
const KARMADA: Peer = {
  name: "Karmada",
  script: "karmada",
  programs: ["kubectl", "karmadactl", "karmada-controller-manager", "karmada-scheduler"],
  firstPort: 31_000,
  environment: { PROFILE: "tuned", TEMPLATE_SYNCS: "5", BINDING_SYNCS: "5", WORK_SYNCS: "5" },
  metrics: { name: "manager", port: 80 },
  restarted: ["manager", "scheduler"],
};
/** It has no flags for worker counts. */
const OCM: Peer = {
  name: "OCM",
  script: "ocm",
  programs: ["kubectl", "kube-controller-manager", "ocm-registration", "ocm-placement", "ocm-work", "ocm-manifests"],
  firstPort: 29_000,
  environment: { PROFILE: "tuned" },
  restarted: ["registration", "placement", "work", ...MEMBERS.map((member) => `${member}-work`)],
};

/** Flotilla's two setups, and the peer's. `shared` is the value of `--shared`. */
export function setUps(shared: string, peerName: Peer["name"] = "Karmada"): SetUp[] {
  const peer = peerName === "Karmada" ? KARMADA : OCM;
  const binaries = realBinaries(["etcd", "kube-apiserver", CLONE_SETS]);
  const withPeer = realBinaries(["etcd", "kube-apiserver", CLONE_SETS, ...peer.programs]);
  const script = join(shared, "real", peer.script);
  const absent = "is not in $REAL_BIN";
  return [
    {
      name: "in process",
      start: () =>
        startOwn(["--members", String(MEMBERS.length), "--nodes", "0"], async (pids) => ({
          pids,
          members: undefined,
          stop: async () => {},
        })),
    },
    {
      name: "real members",
      missing: binaries === undefined ? `etcd, kube-apiserver or OpenKruise's CRDs ${absent}` : undefined,
      start: () => startOwn(["--members", "0"], (pids, fleet) => joinKubes(binaries ?? "", pids, fleet)),
    },
    {
      name: peer.name,
      missing:
        withPeer === undefined
          ? `one of ${peer.name}'s programs ${absent}`
          : existsSync(script)
            ? undefined
            : `${script} does not exist`,
      start: () => startPeer(peer, script, withPeer ?? ""),
    },
  ];
}

interface Members {
  /** Kubeconfigs by name; unset if the fleet has them. */
  members: Record<string, string> | undefined;
  stop(): Promise<void>;
}

async function startOwn(
  flags: readonly string[],
  addMembers: (pids: string, fleet: RunningFleet) => Promise<Members>,
): Promise<RunningSetUp> {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-bench-"));
  const data = join(folder, "data");
  const pids = join(folder, "pids");
  for (const directory of [data, pids]) mkdirSync(directory);
  const port = await freePort();
  let fleet: RunningFleet | undefined;
  const start = async (): Promise<RunningFleet> => {
    fleet = await startFlotilla(flags, { data, port });
    writeFileSync(join(pids, "flotilla.pid"), String(fleet.pid));
    return fleet;
  };
  let members: Members | undefined;
  const stop = async (): Promise<void> => {
    await fleet?.stop();
    await members?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const first = await start();
    members = await addMembers(pids, first);
    const kubeconfigs = members.members ?? Object.fromEntries(MEMBERS.map((name) => [name, first.kubeconfig(name)]));
    return {
      target: { hub: first.kubeconfig("hub"), members: kubeconfigs, pids },
      stored: () => ({ flotilla: bytesIn(data) }),
      async stopHub() {
        await fleet?.stop();
      },
      startHub: async () => void (await start()),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Two real API servers with OpenKruise's CloneSet, joined as a user would. */
async function joinKubes(binaries: string, pids: string, fleet: RunningFleet): Promise<Members> {
  const kubes: RunningKube[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(kubes.map((kube) => kube.stop())));
  try {
    const members: Record<string, string> = {};
    for (const name of MEMBERS) {
      const kube = await startKube(binaries);
      kubes.push(kube);
      kube.pids.forEach((pid, index) => writeFileSync(join(pids, `${name}-${index}.pid`), String(pid)));
      const api = await connectApi(kube.kubeconfig);
      await expect(
        api,
        201,
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        JSON.stringify(parseYaml(readFileSync(join(binaries, CLONE_SETS), "utf8"))),
      );
      api.close();
      await run(process.execPath, [
        SOURCE,
        "join",
        name,
        "--kubeconfig",
        fleet.kubeconfig("hub"),
        "--cluster-kubeconfig",
        kube.kubeconfig,
      ]);
      members[name] = kube.kubeconfig;
    }
    return { members, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

async function startPeer(
  { firstPort, environment, metrics, restarted }: Peer,
  script: string,
  binaries: string,
): Promise<RunningSetUp> {
  const folder = mkdtempSync(join(tmpdir(), "flotilla-bench-peer-"));
  const call = (...args: string[]): Promise<unknown> =>
    run(script, [folder, ...args], {
      env: {
        ...process.env,
        ...environment,
        REAL_BIN: binaries,
        BASE: String(firstPort),
        MEMBERS: String(MEMBERS.length),
        EXTRA_CRDS: join(binaries, CLONE_SETS),
      },
    });
  // Its processes are separate sessions, which an interrupted benchmark would leave behind.
  const onInterrupt = (): void => {
    execFileSync(script, [folder, "down"]);
    process.exit(1);
  };
  for (const signal of SIGNALS) process.once(signal, onInterrupt);
  const stop = async (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, onInterrupt);
    await call("down");
    rmSync(folder, { recursive: true, force: true });
  };
  const kubeconfig = (name: string): string => join(folder, "kube", `${name}.json`);
  try {
    await call("up");
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    target: {
      hub: kubeconfig("hub"),
      members: Object.fromEntries(MEMBERS.map((name) => [name, kubeconfig(name)])),
      pids: join(folder, "pids"),
      metrics: metrics ? `${metrics.name}=http://127.0.0.1:${firstPort + metrics.port}/metrics` : undefined,
    },
    stored: () =>
      Object.fromEntries(readdirSync(join(folder, "data")).map((name) => [name, bytesIn(join(folder, "data", name))])),
    async stopHub() {
      for (const name of restarted) await call("stop", name);
    },
    async startHub() {
      for (const name of restarted) await call("start", name);
    },
    stop,
  };
}

/** The disk usage of the files in a directory, which is less than their length for sparse files. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512,
    0,
  );
}

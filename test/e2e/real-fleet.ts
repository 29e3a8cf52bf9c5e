/** A hub of the shipped command with real clusters as members, and helpers for its tests. */
import { Deployment } from "@flotilla/kubernetes";
import { Work } from "@flotilla/karmada";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { connectionOf, createClient, createHttp2Transport, find, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { eventually } from "../programs/eventually.ts";
import { flotilla, temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Finished, Up } from "../programs/flotilla-process.ts";
import type { RealCluster } from "../programs/real-cluster.ts";

/** Members are probed every second, so that tests do not wait half a minute as users would. */
const PROBES = [
  "--cluster-status-update-frequency",
  "1",
  "--cluster-success-threshold",
  "1",
  "--cluster-failure-threshold",
  "2",
];

type Condition = DeepReadonly<{ type: string; status: string; reason?: string; message?: string }>;

export interface RealFleet {
  /** A client of the currently running hub. */
  hub(): Client;
  kubeconfig(): string;
  join(member: RealCluster, ...flags: string[]): Promise<void>;
  unjoin(member: RealCluster, ...flags: string[]): Promise<Finished>;
  killHub(): Promise<void>;
  startHub(): Promise<void>;
  /** A condition of the Work that propagates an object to a member; undefined while there is none. */
  workCondition(member: string, name: string, type: string): Promise<Condition | undefined>;
  /** Stops the hub; resolves with its output. */
  stop(): Promise<Finished | undefined>;
}

/** `flags` are passed to `flotilla up`. */
export async function startRealFleet(...flags: string[]): Promise<RealFleet> {
  const directory = temporaryDirectory();
  let running: Up | undefined;
  let transport: Transport;
  let hub: Client;

  async function startHub(): Promise<void> {
    running = await up(directory.path, ...flags, ...PROBES);
    transport = createHttp2Transport({
      ...(await connectionOf(await loadKubeconfig(running.kubeconfig("hub")))),
      cluster: { root: "hub" },
    });
    hub = createClient({ transport, fieldManager: "test" });
  }
  async function stopHub(signal: "SIGTERM" | "SIGKILL"): Promise<Finished | undefined> {
    await transport.close();
    const finished = await running?.stop(signal);
    running = undefined;
    return finished;
  }
  const kubeconfig = (): string => running?.kubeconfig("hub") ?? "";
  await startHub();

  return {
    hub: () => hub,
    kubeconfig,
    async join({ name, kubeconfig: member }, ...more) {
      const { code, stderr } = await flotilla(
        "join",
        name,
        "--kubeconfig",
        kubeconfig(),
        "--cluster-kubeconfig",
        member,
        ...more,
      );
      if (code !== 0) throw new Error(`flotilla join ${name}: ${stderr}`);
    },
    unjoin: ({ name, kubeconfig: member }, ...more) =>
      flotilla("unjoin", name, "--kubeconfig", kubeconfig(), "--cluster-kubeconfig", member, ...more),
    killHub: async () => void (await stopHub("SIGKILL")),
    startHub,
    async workCondition(member, name, type) {
      const { items } = await hub.list(Work, { cluster: "hub", namespace: `karmada-es-${member}` });
      return items
        .find(({ metadata }) => metadata.name.startsWith(`${name}-`))
        ?.status?.conditions?.find((condition) => condition.type === type);
    },
    async stop() {
      const finished = await stopHub("SIGTERM");
      directory.remove();
      return finished;
    },
  };
}

/** An object of the namespace `shop` on a member. */
export const onMember = <T extends KubernetesObject>(
  { name: cluster, client }: RealCluster,
  kind: Kind<T>,
  name: string,
): Promise<DeepReadonly<T> | undefined> => find(client, kind, { cluster, namespace: "shop", name });

/** Waits until a Deployment in namespace `shop` on a member has the expected status. */
export const deploymentBecomes = (
  member: RealCluster,
  name: string,
  isRight: (spec: DeepReadonly<Deployment>["spec"], deployment: DeepReadonly<Deployment>) => boolean,
): Promise<DeepReadonly<Deployment> | undefined> =>
  eventually(
    `Deployment ${name} on ${member.name}`,
    () => onMember(member, Deployment, name),
    (seen) => seen !== undefined && isRight(seen.spec, seen),
  );

export const isGone = <T extends KubernetesObject>(
  member: RealCluster,
  kind: Kind<T>,
  name: string,
): Promise<unknown> =>
  eventually(
    `${kind.kind} ${name} is deleted from ${member.name}`,
    () => onMember(member, kind, name),
    (seen) => seen === undefined,
  );

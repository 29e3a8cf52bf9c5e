/** A fleet whose members run workloads unknown to the hub, and `flotilla adopt` run against it. */
import { ControllerRevision, EndpointSlice, Namespace, Pod, ReplicaSet } from "@flotilla/kubernetes";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { copy } from "@flotilla/base";
import { commands, createOutput, parseCommandLine } from "@flotilla/cli";
import type { CommandContext } from "@flotilla/cli";
import { createKindResolver } from "@flotilla/client";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";

export const SETTLED_MS = 20_000;
const MEMBERS = ["member1", "member2", "member3"];

export interface AdoptionFleet extends TestFleet {
  /** Creates objects in a cluster, as its users would. */
  create(cluster: string, ...objects: KubernetesObject[]): Promise<void>;
  /** Runs the command in namespace `shop` while the fleet keeps running, and returns its output. */
  adopt(argv: readonly string[], options?: { onProgress?(text: string): void; signal?: AbortSignal }): Promise<string>;
  /** Everything that would reveal a pod that was replaced, restarted or changed in place. */
  running(): Promise<string[]>;
}

export async function startAdoptionFleet(): Promise<AdoptionFleet> {
  const fleet = await startTestFleet({ members: MEMBERS, nodes: 2 });
  await fleet.client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await fleet.run(SETTLED_MS);
  return {
    ...fleet,
    async create(cluster, ...objects) {
      const kinds = createKindResolver({ client: fleet.client, cluster });
      for (const object of objects) await fleet.client.create(await kinds.resolve(object), cluster, copy(object));
    },
    adopt: (argv, options) => adopt(fleet, argv, options),
    async running() {
      const kinds = [Pod, ReplicaSet, ControllerRevision, EndpointSlice] as Kind[];
      const lists = await Promise.all(
        MEMBERS.flatMap((cluster) =>
          kinds.map(async (kind) =>
            (await fleet.client.list(kind, { cluster, namespace: "shop" })).items.map((object) =>
              describeOne(cluster, object),
            ),
          ),
        ),
      );
      return lists.flat().sort();
    },
  };
}

async function adopt(
  fleet: TestFleet,
  argv: readonly string[],
  {
    onProgress = () => {},
    signal = new AbortController().signal,
  }: { onProgress?(text: string): void; signal?: AbortSignal } = {},
): Promise<string> {
  const command = await commands.find(({ name }) => name === "adopt")?.load();
  if (!command) throw new Error("there is no command adopt");
  const { args, flags, format } = parseCommandLine(command, [...argv, "-n", "shop", "--kubeconfig", "hub.kubeconfig"]);
  let text = "";
  const output = createOutput({
    format,
    write: (part) => (text += part),
    warn: (part) => (text += part),
    showProgress: onProgress,
  });
  const context = {
    args,
    flags,
    output,
    signal,
    clock: fleet.clock,
    connect: () =>
      Promise.resolve({ client: fleet.client, server: "https://hub.example.com", close: () => Promise.resolve() }),
    environment: {},
    readInput: () => Promise.resolve(""),
  };
  const done = new AbortController();
  const outcome = command.run(context as unknown as CommandContext<never>).then(
    () => ({ error: undefined }),
    (error: unknown) => ({ error }),
  );
  void outcome.then(() => done.abort());
  while (!done.signal.aborted) await fleet.run(500);
  await fleet.run(SETTLED_MS);
  const { error } = await outcome;
  if (error !== undefined) throw error;
  return text;
}

function describeOne(cluster: string, object: unknown): string {
  const { metadata, spec, status, endpoints } = object as KubernetesObject & {
    spec?: { containers?: { image: string }[] };
    status?: { containerStatuses?: { restartCount: number }[] };
    endpoints?: { addresses: string[] }[];
  };
  const details = [
    spec?.containers?.map(({ image }) => image),
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
    endpoints?.map(({ addresses }) => addresses).sort(),
  ];
  return `${cluster} ${metadata.name} ${metadata.uid} ${JSON.stringify(details)}`;
}

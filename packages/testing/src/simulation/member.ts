/** A simulated member for tests: a real API server with every Kubernetes kind, on a fake clock. */
import { Node, Pod, kubernetesKinds } from "@flotilla/kubernetes";
import { kindAdmissions } from "@flotilla/server";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { Pod as PodType } from "@flotilla/kubernetes";
import type { PodSpec } from "@flotilla/apimachinery/facts/core-v1.ts";
import { createApiServer, createCache, createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import { createInformers, createManager, createWriteThroughClient } from "@flotilla/controller-runtime";
import { countWrites } from "../count-writes.ts";
import { reconcileUntilQuiet } from "../reconcile-until-quiet.ts";
import { createSimulation, metricsKinds, standardStorageClass } from "@flotilla/simulation";
import type { NodeOptions, SimulationDependencies } from "@flotilla/simulation";
import { FLOTILLA_GROUP, flotillaUser } from "@flotilla/flotilla";

export const MEMBER = "paris";
export const NAMESPACE = "shop";
const USER = flotillaUser("test");

export interface TestMemberOptions extends Pick<SimulationDependencies, "times" | "hashes" | "bind"> {
  nodes?: number;
  nodeOptions?: NodeOptions;
  objects?: readonly KubernetesObject[];
}

export type TestMember = Awaited<ReturnType<typeof startTestMember>>;

export async function startTestMember(options: TestMemberOptions = {}) {
  const {
    nodes = 3,
    nodeOptions = {},
    objects = [],
    times = { startMs: 0, restartMs: 0, stopMs: 0 },
    hashes,
    bind,
  } = options;
  const clock = createFakeClock();
  const cache = await createCache(createMemoryEngine());
  const builtIns = [...kubernetesKinds, ...metricsKinds(() => simulation.metrics)];
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  const server = await createApiServer({
    controllerGroup: FLOTILLA_GROUP,
    cache,
    clock,
    random: createSeededRandom(3),
    log: silentLog,
    admissions: kindAdmissions,
    profiles: { member: { builtIns, customs: [], objects: [namespace, standardStorageClass(), ...objects] } },
    freeze: true,
  });
  await server.addCluster(MEMBER, "member");
  const writes = countWrites(server.transport(USER));
  const plain = createClient({ transport: writes.transport, fieldManager: "simulation" });
  const informers = createInformers({
    client: plain,
    clock,
    log: silentLog,
    scope: { cluster: "*" },
    random: createSeededRandom(1),
  });
  const controllerClient = createWriteThroughClient(plain, [informers]);
  const client = createClient({ transport: server.transport(USER), fieldManager: "user" });
  const events: string[] = [];
  const simulation = createSimulation({
    client: controllerClient,
    informers,
    clock,
    times,
    bind,
    hashes,
    events: () => ({
      record: (_cluster, { kind, metadata }, { type, reason, message }) =>
        void events.push(`${kind}/${metadata.name} ${type} ${reason}: ${message}`),
    }),
  });
  const manager = createManager({ client: controllerClient, informers, clock, log: silentLog });
  manager.add(...simulation.controllers);
  await simulation.ensureNodes(MEMBER, nodes, nodeOptions);
  manager.start(new AbortController().signal);
  const keyIn = (kind: Kind, name: string) => ({
    cluster: MEMBER,
    name,
    namespace: kind.scope === "Namespaced" ? NAMESPACE : undefined,
  });
  const settle = (): Promise<void> => reconcileUntilQuiet({ managers: [manager], server });
  await settle();
  writes.reset();

  const member = {
    client,
    clock,
    simulation,
    writes,
    events,
    settle,
    /** Advances the clock by this time and runs everything that is due. */
    async pass(ms: number): Promise<void> {
      const until = clock.now() + ms;
      await settle();
      for (let due = clock.nextDue(); due !== undefined && due <= until; due = clock.nextDue()) {
        clock.advance(Math.max(0, due - clock.now()));
        await settle();
      }
      clock.advance(until - clock.now());
      await settle();
    },
    get: <T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<DeepReadonly<T>> =>
      client.get(kind, keyIn(kind, name)),
    async change<T extends KubernetesObject>(
      kind: Kind<T>,
      name: string,
      edit: (object: DeepReadonly<T>) => DeepReadonly<T>,
    ): Promise<void> {
      await client.update(kind, MEMBER, edit(await member.get(kind, name)));
      await settle();
    },
    delete: (kind: Kind, name: string) => client.delete(kind, keyIn(kind, name)),
    pod: (name: string) => member.get(Pod, name),
    node: (name: string) => member.get(Node, name),
    async create(...made: KubernetesObject[]): Promise<void> {
      for (const object of made) await client.create({ ...kindOf(object) }, MEMBER, object);
      await settle();
    },
    /** A GET as an HTTP client sends it. */
    async read(path: string): Promise<JsonObject> {
      const { body } = await client.raw({ cluster: MEMBER, method: "GET", path });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
    },
    async stop(): Promise<void> {
      await manager.stop();
      informers.close();
      await server.close();
    },
  };
  return member;
}

function kindOf({ apiVersion, kind }: KubernetesObject): Kind {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  const found = kubernetesKinds.find(
    (candidate) => candidate.group === group && candidate.kind === kind && version in candidate.versions,
  );
  if (!found) throw new Error(`the test member has no ${apiVersion} ${kind}`);
  return found;
}

export function makePod(
  name: string,
  spec: Partial<PodSpec> = {},
  annotations: Record<string, string> = {},
  metadata: Partial<PodType["metadata"]> = {},
): PodType {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: NAMESPACE, annotations, ...metadata },
    spec: { containers: [{ name: "main", image: "web:1" }], ...spec },
  };
}

export const conditionsOf = ({ status }: DeepReadonly<PodType>): Record<string, string> =>
  Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status: value, reason }) => [type, reason ? `${value} ${reason}` : value]),
  );
export const isReady = (pod: DeepReadonly<PodType>): boolean => conditionsOf(pod)["Ready"] === "True";

/**
 * One simulated member on a fake clock: an API server with every Kubernetes kind, simulated nodes, and the controllers
 * that a test names. The controllers' writes are counted, and their events are recorded.
 */
import { CloneSet } from "@flotilla/openkruise";
import { kindAdmissions } from "@flotilla/server";
import { kubernetesKinds, Pod } from "@flotilla/kubernetes";
import type { Pod as PodType } from "@flotilla/kubernetes";
import type { AnyStep, Kind, KubernetesObject } from "@flotilla/apimachinery";
import { createApiServer, createCache, createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, formatTime, silentLog } from "@flotilla/base";
import type { Clock, DeepReadonly, FakeClock, Log, Random } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { createInformers, createManager, createWriteThroughClient } from "@flotilla/controller-runtime";
import type { Controller, EventRecorders, SharedInformers } from "@flotilla/controller-runtime";
import { createSimulation } from "@flotilla/simulation";
import type { ContainerHashes, KubeletTimes } from "@flotilla/simulation";
import { countWrites } from "../count-writes.ts";
import type { WriteCounter } from "../count-writes.ts";
import { reconcileUntilQuiet } from "../reconcile-until-quiet.ts";
import { FLOTILLA_GROUP, flotillaUser } from "@flotilla/flotilla";

export const MEMBER = "member1";
export const NAMESPACE = "shop";
const USER = flotillaUser("test");

interface TestMemberDependencies {
  client: Client;
  informers: SharedInformers;
  clock: Clock;
  random: Random;
  events: EventRecorders;
}

export interface TestMemberOptions {
  controllers(deps: TestMemberDependencies): readonly Controller[];
  /** 0 leaves pods unscheduled, for tests that play the kubelet themselves. */
  nodes?: number;
  times?: Partial<KubeletTimes>;
  /** For OpenKruise's node daemon; unset omits it. */
  hashes?: ContainerHashes;
  customs?: readonly Kind[];
  admissions?: readonly AnyStep[];
  /** The rules of the kinds. Unset: with OpenKruise's default gates. */
  rules?: readonly AnyStep[];
  objects?: readonly KubernetesObject[];
  seed?: number;
  log?: Log;
}

export interface TestMember {
  client: Client;
  clock: FakeClock;
  informers: SharedInformers;
  writes: WriteCounter;
  /** `Job/pi Normal Completed: Job completed`, in the order of emission. */
  events: string[];
  /** Advances the clock by this time and runs everything that is due. */
  pass(ms: number): Promise<void>;
  pods(): DeepReadonly<PodType>[];
  /** Changes an object as a user would, and settles. */
  change<T extends KubernetesObject>(
    kind: Kind<T>,
    name: string,
    edit: (object: DeepReadonly<T>) => DeepReadonly<T>,
  ): Promise<DeepReadonly<T>>;
  get<T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<DeepReadonly<T>>;
  list<T extends KubernetesObject>(kind: Kind<T>): Promise<readonly DeepReadonly<T>[]>;
  /** Plays the kubelet for a pod whose containers terminate. */
  finish(pod: DeepReadonly<PodType>, exitCode: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startTestMember(options: TestMemberOptions): Promise<TestMember> {
  const clock = createFakeClock();
  const log = options.log ?? silentLog;
  const seed = options.seed ?? 1;
  const cache = await createCache(createMemoryEngine());
  const namespaces = [NAMESPACE, "kube-system"].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  const profiles = {
    member: {
      builtIns: kubernetesKinds,
      customs: options.customs ?? [CloneSet],
      objects: [...namespaces, ...(options.objects ?? [])],
    },
  };
  const server = await createApiServer({
    controllerGroup: FLOTILLA_GROUP,
    cache,
    clock,
    random: createSeededRandom(seed),
    log,
    admissions: [...(options.rules ?? kindAdmissions), ...(options.admissions ?? [])],
    profiles,
    freeze: true,
  });
  await server.addCluster(MEMBER, "member");
  const writes = countWrites(server.transport(USER));
  const plain = createClient({ transport: writes.transport, fieldManager: "controllers" });
  const client = createClient({ transport: server.transport(USER), fieldManager: "user" });
  const informers = createInformers({
    client: plain,
    clock,
    log,
    scope: { cluster: "*", where: (cluster) => cluster !== "hub" },
    random: createSeededRandom(seed + 1),
  });
  const controllerClient = createWriteThroughClient(plain, [informers]);
  const reported: string[] = [];
  const events: EventRecorders = () => ({
    record: (_cluster, { kind, metadata }, { type, reason, message }) =>
      void reported.push(`${kind}/${metadata.name} ${type} ${reason}: ${message}`),
  });
  const manager = createManager({ client: controllerClient, informers, clock, log });
  const controllers = options.controllers({
    client: controllerClient,
    informers,
    clock,
    random: createSeededRandom(seed + 2),
    events,
  });
  const simulation = createSimulation({
    client: controllerClient,
    informers,
    clock,
    times: options.times,
    hashes: options.hashes,
  });
  const nodes = options.nodes ?? 3;
  manager.add(...controllers, ...(nodes > 0 ? simulation.controllers : []));
  await simulation.ensureNodes(MEMBER, nodes);
  manager.start(new AbortController().signal);

  const member: TestMember = {
    client,
    clock,
    informers,
    writes,
    events: reported,
    async pass(ms) {
      const until = clock.now() + ms;
      for (;;) {
        await reconcileUntilQuiet({ managers: [manager], server });
        const due = clock.nextDue();
        if (due === undefined || due > until) break;
        clock.advance(Math.max(0, due - clock.now()));
      }
      clock.advance(until - clock.now());
      await reconcileUntilQuiet({ managers: [manager], server });
    },
    pods: () =>
      informers
        .of(Pod)
        .list({ cluster: MEMBER })
        .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    async change(kind, name, edit) {
      return client.update(kind, MEMBER, edit(await member.get(kind, name)));
    },
    get: (kind, name) =>
      client.get(kind, { cluster: MEMBER, name, namespace: kind.scope === "Namespaced" ? NAMESPACE : undefined }),
    list: async (kind) => (await client.list(kind, { cluster: MEMBER })).items,
    async finish(pod, exitCode) {
      const finishedAt = formatTime(clock.now());
      const containerStatuses = pod.spec.containers.map(({ name, image = "" }) => ({
        name,
        image,
        imageID: "",
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode, finishedAt, reason: exitCode === 0 ? "Completed" : "Error" } },
      }));
      const conditions = pod.status?.conditions?.filter(({ type }) => type !== "Ready") ?? [];
      await client.updateStatus(Pod, MEMBER, {
        ...pod,
        status: { ...pod.status, phase: exitCode === 0 ? "Succeeded" : "Failed", containerStatuses, conditions },
      });
    },
    async stop() {
      await manager.stop();
      informers.close();
      await server.close();
    },
  };
  return member;
}

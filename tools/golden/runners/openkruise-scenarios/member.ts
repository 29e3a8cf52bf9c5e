/**
 * The cluster on which scenarios are played: ten nodes in three zones, every controller, OpenKruise's webhooks, and a
 * fake clock that only advances when a step waits. Its kubelet is as fast as that of the recordings.
 */
import { createKindAdmissions, createWorkloadControllers } from "@flotilla/server";
import { Event, kubernetesKinds, Pod } from "@flotilla/kubernetes";
import { createFeatureGates, createKruiseAdmissions, kruiseKinds } from "@flotilla/openkruise";
import { createApiServer, createCache, createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog, type JsonObject, defined } from "@flotilla/base";
import { createClient } from "@flotilla/client";
import {
  createEventRecorders,
  createInformers,
  createManager,
  createWriteThroughClient,
  type ObjectEvent,
} from "@flotilla/controller-runtime";
import { createSimulation, standardStorageClass } from "@flotilla/simulation";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { FLOTILLA_GROUP, flotillaUser } from "@flotilla/flotilla";

const CLUSTER = "member1";
export const NAMESPACE = "golden";
const NODES = 10;
const USER = flotillaUser("test");
/** As fast as in the recordings: a restart completes before the next pod is checked. */
const TIMES = { startMs: 0, restartMs: 0, stopMs: 0 };
/** A step ends when nothing has changed for this long. */
const QUIET_MS = 2_200;
/** Controllers that never settle do not match the recordings. */
const MAX_STEP_MS = 600_000;

interface Answer {
  status: number;
  body: JsonObject;
}

export interface ScenarioMember {
  send(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer>;
  /**
   * `Normal CloneSet SuccessfulCreate (cloneset-controller)` for every event that was created or whose count increased.
   */
  events: string[];
  onPodChange(listener: (event: ObjectEvent<Pod>) => void): void;
  /** Advances time until nothing changes any more, and at least this long. */
  settle(atLeastMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startMember(gateText: string | undefined): Promise<ScenarioMember> {
  const gates = createFeatureGates(parseGates(gateText));
  const clock = createFakeClock();
  const cache = await createCache(createMemoryEngine());
  const admissions = [
    ...createKindAdmissions({ kruiseGates: gates }),
    ...createKruiseAdmissions({
      appliesTo: () => true,
      gates,
      nowMs: () => clock.now(),
      recordEvent: (component, cluster, pod, event) => events.recorders(component).record(cluster, pod, event),
    }),
  ];
  const namespaces = [NAMESPACE, "default", "kruise-system", "kube-system"].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  const profiles = {
    member: { builtIns: kubernetesKinds, customs: [...kruiseKinds], objects: [...namespaces, standardStorageClass()] },
  };
  const server = await createApiServer({
    controllerGroup: FLOTILLA_GROUP,
    cache,
    clock,
    random: createSeededRandom(3),
    log: silentLog,
    admissions,
    profiles,
  });
  await server.addCluster(CLUSTER, "member");

  const transport = server.transport(USER);
  const plain = createClient({ transport, fieldManager: "controllers" });
  const informers = createInformers({
    client: plain,
    clock,
    log: silentLog,
    scope: { cluster: "*", where: (cluster) => cluster === CLUSTER },
    random: createSeededRandom(1),
  });
  const client = createWriteThroughClient(plain, [informers]);
  const recorded: string[] = [];
  const events = createEventRecorders({ client: plain, clock, log: silentLog });
  // Without OpenKruise's node daemon, as in the recordings.
  const simulation = createSimulation({ client, informers, clock, times: TIMES });
  const manager = createManager({ client, informers, clock, log: silentLog });
  manager.add(
    ...createWorkloadControllers({
      client,
      informers,
      clock,
      random: createSeededRandom(2),
      events: events.recorders,
      gates,
    }),
    ...simulation.controllers,
  );
  await simulation.ensureNodes(CLUSTER, NODES);
  manager.start(new AbortController().signal);
  // A separate watcher sees each change once; the controllers' informers also receive their own writes.
  const watcher = createInformers({ client: plain, clock, log: silentLog, scope: { cluster: CLUSTER } });
  watcher.of(Event).subscribe(({ object: { type, involvedObject, reason, source }, deleted }) => {
    if (!deleted) recorded.push(`${type} ${involvedObject.kind} ${reason} (${source?.component})`);
  });
  const quiet = (): Promise<void> => reconcileUntilQuiet({ managers: [manager], server, others: [watcher, events] });
  await quiet();

  return {
    events: recorded,
    async send(method, path, body, contentType = "application/json") {
      const response = await transport.raw({
        cluster: CLUSTER,
        method,
        path,
        headers: {
          accept: "application/json",
          ...defined({ "content-type": body === undefined ? undefined : contentType }),
        },
        body: body !== undefined ? new TextEncoder().encode(JSON.stringify(body)) : undefined,
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return { status: response.status, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject };
    },
    onPodChange: (listener) => void watcher.of(Pod).subscribe(listener),
    async settle(atLeastMs) {
      await quiet();
      const startedAt = clock.now();
      let changedAt = startedAt;
      let seen = cache.revision;
      for (;;) {
        const until = Math.max(changedAt + QUIET_MS, startedAt + atLeastMs);
        const due = clock.nextDue();
        clock.advance(Math.max(0, Math.min(due ?? until, until) - clock.now()));
        await quiet();
        const revision = cache.revision;
        if (revision !== seen) [seen, changedAt] = [revision, clock.now()];
        else if (clock.now() >= until) return;
        if (clock.now() - startedAt > MAX_STEP_MS) throw new Error("still changing after ten minutes");
      }
    },
    async stop() {
      await manager.stop();
      await events.stop();
      watcher.close();
      informers.close();
      await server.close();
    },
  };
}

function parseGates(text = ""): Record<string, boolean> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(pairs.map((pair) => [pair.split("=")[0] ?? "", pair.endsWith("=true")]));
}

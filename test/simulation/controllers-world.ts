/**
 * A hub's API server and several processes of `flotilla controllers`, on one fake clock: processes are killed, stopped
 * like with SIGSTOP and continued, and asked to end. Members are simulated in a fleet of their own.
 */
import { HUB } from "@flotilla/apimachinery";
import { createMemoryEngine } from "@flotilla/apiserver";
import { createFakeClock, createSeededRandom, silentLog } from "@flotilla/base";
import type { Clock, FakeClock, Timer } from "@flotilla/base";
import { UnreachableError } from "@flotilla/client";
import type { Client, Transport, TransportRequest } from "@flotilla/client";
import { flotillaUser } from "@flotilla/flotilla";
import type { ControllerGroup, Shard } from "@flotilla/flotilla";
import { startTestFleet } from "@flotilla/testing/fleet/fleet.ts";
import type { TestFleet } from "@flotilla/testing/fleet/fleet.ts";
import { joinPushMember } from "@flotilla/testing/fleet/join-push-member.ts";
import { reconcileUntilQuiet } from "@flotilla/testing/reconcile-until-quiet.ts";
import { runClock } from "@flotilla/testing/run-clock.ts";
import { createHubApiServer } from "../../packages/server/src/roles/api-server.ts";
import { runControllers } from "../../packages/server/src/roles/run-controllers.ts";
import type { ControllersTerm } from "../../packages/server/src/roles/run-controllers.ts";

export interface ControllersProcess {
  /** The groups that it leads. */
  leads(): ControllerGroup[];
  /** Writes that the hub or a member carried out, except those of Leases. */
  writes(): { atMs: number; cluster: string; resource: string }[];
  /** Like `kill -9`. */
  kill(): void;
  /** Like SIGSTOP and SIGCONT: nothing runs in between, and requests that were begun go on afterwards. */
  pause(): void;
  resume(): void;
  /** Its open watches of the hub deliver nothing more, as those of an API server that is cut off from its store. */
  stallWatches(): void;
  /** Like SIGTERM. */
  stop(): Promise<void>;
}

export interface ControllersWorld {
  clock: FakeClock;
  client: Client;
  members: TestFleet;
  startProcess(options?: { groups?: ControllerGroup[]; shard?: Shard }): ControllersProcess;
  run(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** More turns of the event loop than anything takes that does not wait for the clock. */
const TURNS = 300;
const READS: ReadonlySet<string> = new Set(["get", "list"]);

export async function startControllersWorld(names: readonly string[], seed = 1): Promise<ControllersWorld> {
  const clock = createFakeClock();
  const members = await startTestFleet({ members: names, nodes: 3, clock });
  const random = createSeededRandom(seed);
  const api = await createHubApiServer({
    engine: createMemoryEngine(),
    clock,
    random,
    log: silentLog,
    nodes: 0,
    runsKruise: () => false,
    freeze: true,
  });
  const stopping = new AbortController();
  api.start(stopping.signal);
  const client = api.connect("system", "test");
  const terms = new Map<object, ControllersTerm>();
  const ended: Promise<void>[] = [];
  let pauses = 0;
  const settle = async (): Promise<void> => {
    // A paused process reads no events, so the server is never done.
    if (pauses > 0) {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => void setImmediate(resolve));
      return;
    }
    await reconcileUntilQuiet({
      managers: [
        api.manager,
        ...members.hub.managers,
        ...Array.from(terms.values(), (term) => term.controllers.manager),
      ],
      server: api.server,
      others: [members.hub, ...terms.values()],
    });
  };
  const run = (ms: number): Promise<void> => runClock(clock, ms, settle);

  for (const name of names) await joinPushMember(client, HUB, name);

  function startProcess({ groups, shard }: { groups?: ControllerGroup[]; shard?: Shard } = {}): ControllersProcess {
    const self = {};
    const signal = new AbortController();
    const leads = new Set<ControllerGroup>();
    const writes: { atMs: number; cluster: string; resource: string }[] = [];
    let isDead = false;
    let stalls = 0;
    let paused: PromiseWithResolvers<void> | undefined;
    const own = pausable(clock, () => paused?.promise);
    const alive = async (): Promise<void> => {
      await paused?.promise;
      if (isDead) throw new UnreachableError("the process was killed");
    };
    const around = (transport: Transport): Transport => ({
      ...transport,
      async send(request: TransportRequest, ends) {
        await alive();
        const answer = await transport.send(request, ends);
        if (!READS.has(request.verb) && request.path.resource !== "leases")
          writes.push({ atMs: clock.now(), cluster: request.path.cluster, resource: request.path.resource });
        await alive();
        return answer;
      },
      async *watch(...request) {
        await alive();
        const opened = stalls;
        for await (const event of transport.watch(...request)) {
          await alive();
          if (opened < stalls && request[0].path.cluster === HUB) continue;
          yield event;
        }
      },
    });
    const finished = runControllers(
      {
        transport: around(api.server.transport(flotillaUser("controllers"))),
        leases: around(api.server.transport(flotillaUser("controllers"))),
        connectMember: () => Promise.resolve(around(members.hub.server.transport(flotillaUser("controllers")))),
        clock: own,
        elapsedMs: () => clock.now(),
        random: createSeededRandom(seed + ended.length),
        log: silentLog,
        identity: `process-${ended.length}`,
        groups,
        shard,
        elects: true,
        membership: { periodMs: 10_000, successMs: 0, failureMs: 30_000 },
        onStanding: (group, now) => void (now === "leading" ? leads.add(group) : leads.delete(group)),
        onTerm: (term) => void (term ? terms.set(self, term) : terms.delete(self)),
        onLost: () => leads.clear(),
      },
      signal.signal,
    ).finally(() => leads.clear());
    ended.push(finished);
    return {
      leads: () => [...leads],
      writes: () => writes,
      kill() {
        isDead = true;
        terms.delete(self);
        leads.clear();
      },
      stallWatches: () => void stalls++,
      pause() {
        paused = Promise.withResolvers();
        pauses++;
        terms.delete(self);
      },
      resume() {
        paused?.resolve();
        paused = undefined;
        pauses--;
      },
      stop() {
        signal.abort();
        return finished;
      },
    };
  }

  return {
    clock,
    client,
    members,
    startProcess,
    run,
    async stop() {
      stopping.abort();
      await members.stop();
      await api.stop();
    },
  };
}

/** Timers that are due during a pause fire after it. */
function pausable(clock: Clock, pause: () => Promise<void> | undefined): Clock {
  return {
    now: () => clock.now(),
    after(ms, due): Timer {
      let isCancelled = false;
      const timer = clock.after(ms, () => {
        const over = pause();
        if (!over) return due();
        void over.then(() => {
          if (!isCancelled) due();
        });
      });
      return {
        cancel() {
          isCancelled = true;
          timer.cancel();
        },
      };
    },
  };
}

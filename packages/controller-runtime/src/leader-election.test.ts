import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Lease } from "./kinds.ts";
import { createFakeClock, createSeededRandom, silentLog, type Clock, type FakeClock } from "@flotilla/base";
import { UnreachableError, type Client, type Transport } from "@flotilla/client";
import { createFakeClient, type FakeClient } from "@flotilla/testing/fake-client.ts";
import { fenceTransport } from "./fenced-transport.ts";
import { createLeaderElection, type LeaderElection, type Leadership } from "./leader-election.ts";

const LEASE = { cluster: "hub", namespace: "kube-system", name: "flotilla" };

async function turns(count = 30): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => void setImmediate(resolve));
}
/** Advances time in steps, so that all candidates act in between. */
async function pass(clock: FakeClock, ms: number, stepMs = 500): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    clock.advance(stepMs);
    await turns();
  }
}

interface Candidate {
  election: LeaderElection;
  ended: Promise<string>;
  stop(): void;
  /** Lets `lead` end after its signal was aborted. */
  finish(): void;
}

function setUp() {
  const clock = createFakeClock();
  const client = createFakeClient({ clock });
  const reported: string[] = [];
  const stand = (
    identity: string,
    {
      by = client,
      its = clock,
      holdsOn = false,
      seed = 1,
    }: { by?: Client; its?: Clock; holdsOn?: boolean; seed?: number } = {},
  ): Candidate => {
    const stopping = new AbortController();
    const finished = Promise.withResolvers<void>();
    const events = {
      record: (_cluster: string, _regarding: unknown, { message }: { message: string }) => void reported.push(message),
    };
    const election = createLeaderElection({
      client: by,
      clock: its,
      elapsedMs: its.now,
      random: createSeededRandom(seed),
      log: silentLog,
      lease: LEASE,
      identity,
      events,
    });
    const lead = async (signal: AbortSignal): Promise<void> => {
      await new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      if (holdsOn) await finished.promise;
    };
    return {
      election,
      ended: election.run(lead, stopping.signal),
      stop: () => stopping.abort(),
      finish: finished.resolve,
    };
  };
  return { clock, client, reported, stand };
}
const readLease = (client: FakeClient): Promise<unknown> => client.get(Lease, LEASE).then(({ spec }) => spec);

describe("one candidate", () => {
  test("becomes leader immediately, records itself in the Lease, and renews it every two seconds with one write", async () => {
    const { clock, client, reported, stand } = setUp();
    const a = stand("a");
    await turns();
    const first = await readLease(client);
    const writesBefore = client.writes.length;

    await pass(clock, 10_000);

    expect(a.election.isLeader).toBe(true);
    expect(first).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2024-05-01T12:00:00.000000Z",
      renewTime: "2024-05-01T12:00:00.000000Z",
      leaseTransitions: 0,
    });
    expect(await readLease(client)).toMatchObject({
      acquireTime: "2024-05-01T12:00:00.000000Z",
      renewTime: "2024-05-01T12:00:10.000000Z",
    });
    expect(client.writes.length - writesBefore).toBe(5);
    expect(client.count("get")).toBe(3);
    expect(reported).toEqual(["a became leader"]);
    a.stop();
    expect(await a.ended).toBe("ended");
  });

  test("releases the lease when it is stopped, and leaves no timer", async () => {
    const { clock, client, reported, stand } = setUp();
    const a = stand("a");
    await turns();

    a.stop();
    await turns();

    expect(await a.ended).toBe("ended");
    expect(await readLease(client)).toEqual({
      leaseDurationSeconds: 1,
      acquireTime: "2024-05-01T12:00:00.000000Z",
      renewTime: "2024-05-01T12:00:00.000000Z",
      leaseTransitions: 0,
    });
    expect(clock.nextDue()).toBeUndefined();
    expect(reported).toEqual(["a became leader", "a stopped leading"]);
  });

  test("keeps the lease until its work has ended", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a", { holdsOn: true });
    await turns();

    a.stop();
    await pass(clock, 20_000);
    const meanwhile = await readLease(client);
    a.finish();
    await turns();

    expect(meanwhile).toMatchObject({ holderIdentity: "a", renewTime: "2024-05-01T12:00:20.000000Z" });
    expect(await readLease(client)).not.toHaveProperty("holderIdentity");
  });

  test("rejects with the error of its work, and releases the lease", async () => {
    const { clock, client } = setUp();
    const election = createLeaderElection({
      client,
      clock,
      elapsedMs: clock.now,
      random: createSeededRandom(1),
      log: silentLog,
      lease: LEASE,
      identity: "a",
    });

    const ended = election.run(() => Promise.reject(new Error("broken")), new AbortController().signal);

    await expect(ended).rejects.toThrow("broken");
    expect(await readLease(client)).not.toHaveProperty("holderIdentity");
    expect(election.isLeader).toBe(false);
  });

  test("keeps leading through failures that are shorter than the deadline", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();

    client.failNext("update", ...Array.from({ length: 3 }, () => new UnreachableError("lost")));
    await pass(clock, 9_000);

    expect(a.election.isLeader).toBe(true);
    expect(await readLease(client)).toMatchObject({ holderIdentity: "a", leaseTransitions: 0 });
    a.stop();
  });

  test("stops ten seconds after its last renewal when the server is unreachable", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();
    await pass(clock, 2_000);

    client.disconnect({ down: true });
    await pass(clock, 9_500);
    const before = a.election.isLeader;
    await pass(clock, 500);

    expect([before, a.election.isLeader]).toEqual([true, false]);
    expect(await a.ended).toBe("lost");
    expect(clock.nextDue()).toBeUndefined();
  });

  test("may run again after it lost, and need not wait for its own lease", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();
    client.disconnect({ down: true });
    await pass(clock, 10_000);
    await a.ended;
    client.up();
    const stopping = new AbortController();

    const again = a.election.run(
      (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
      stopping.signal,
    );
    await turns();

    expect(a.election.isLeader).toBe(true);
    stopping.abort();
    expect(await again).toBe("ended");
  });
});

describe("two candidates", () => {
  test("one leads, and the other takes over as soon as the lease is released", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();
    const b = stand("b");
    await pass(clock, 60_000);
    expect([a.election.isLeader, b.election.isLeader, b.election.leader]).toEqual([true, false, "a"]);

    a.stop();
    await pass(clock, 5_000);

    expect([a.election.isLeader, b.election.isLeader]).toEqual([false, true]);
    expect(await readLease(client)).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    b.stop();
    await b.ended;
  });

  test("the other takes over fifteen seconds after the last renewal it observed, regardless of wall clocks", async () => {
    const { clock, client, stand } = setUp();
    const ahead: Clock = { now: () => clock.now() + 86_400_000, after: (ms, run) => clock.after(ms, run) };
    const offline = { ...client, update: () => Promise.reject(new UnreachableError("lost")) };
    const a = stand("a", { by: offline });
    await turns();
    const b = stand("b", { its: ahead });
    await turns();

    await pass(clock, 14_500);
    const before = [a.election.isLeader, b.election.isLeader];
    await pass(clock, 5_500);

    expect(before).toEqual([false, false]);
    expect(b.election.isLeader).toBe(true);
    b.stop();
    await b.ended;
  });

  test("a leader whose lease was taken stops at its next renewal", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();
    const lease = await client.get(Lease, LEASE);

    await client.update(Lease, "hub", { ...lease, spec: { ...lease.spec, holderIdentity: "thief" } });
    await pass(clock, 2_500);

    expect(await a.ended).toBe("lost");
    expect(await readLease(client)).toMatchObject({ holderIdentity: "thief" });
  });

  test("a leader recreates its deleted lease", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a");
    await turns();

    await client.delete(Lease, LEASE);
    await pass(clock, 2_500);

    expect(a.election.isLeader).toBe(true);
    expect(await readLease(client)).toMatchObject({ holderIdentity: "a" });
    a.stop();
    await a.ended;
  });

  test("of two candidates with the same identity still only one leads", async () => {
    const { clock, stand } = setUp();
    const first = stand("a");
    await turns();
    await pass(clock, 500);
    const second = stand("a");

    await pass(clock, 30_000);

    expect([first.election.isLeader, second.election.isLeader]).toEqual([true, false]);
    first.stop();
    second.stop();
    await Promise.all([first.ended, second.ended]);
  });

  test("a leader that was stopped rejects its writes when it continues, before any of its timers has fired", async () => {
    const { clock, client, stand } = setUp();
    const a = stopped(clock);
    let leadership: Leadership | undefined;
    const first = createLeaderElection({
      client,
      ...a,
      random: createSeededRandom(1),
      log: silentLog,
      lease: LEASE,
      identity: "a",
    });
    const sent: string[] = [];
    const ended = first.run(async (signal, its) => {
      leadership = its;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    }, new AbortController().signal);
    await turns();
    const b = stand("b", { seed: 2 });
    await pass(clock, 4_000);
    const transport = fenceTransport(transportInto(sent), leadership ?? { check: () => {} });
    await transport.send({ verb: "patch", path: PATH });

    a.stop();
    await pass(clock, 30_000);
    const takenOver = b.election.isLeader;
    const [patch, post, get] = await Promise.allSettled([
      transport.send({ verb: "patch", path: PATH }),
      transport.raw({ method: "POST", path: "/", cluster: "hub" }),
      transport.send({ verb: "get", path: PATH }),
    ]);
    const leads = first.isLeader;
    a.continue();
    await pass(clock, 2_500);

    expect(takenOver).toBe(true);
    expect([patch.status, post.status, get.status]).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(leads).toBe(false);
    expect(sent).toEqual(["patch", "get"]);
    expect(await ended).toBe("lost");
    expect(await readLease(client)).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
    b.stop();
    await b.ended;
  });

  test("a label change on the lease does not extend the term of a dead leader", async () => {
    const { clock, client, stand } = setUp();
    const a = stand("a", { by: { ...client, update: () => Promise.reject(new UnreachableError("lost")) } });
    await turns();
    const b = stand("b");

    for (let round = 0; round < 5; round++) {
      await pass(clock, 5_000);
      if (b.election.isLeader) break;
      await client.patch(Lease, LEASE, { metadata: { labels: { round: String(round) } } }, { type: "merge" });
    }

    expect([a.election.isLeader, b.election.isLeader]).toEqual([false, true]);
    b.stop();
    await b.ended;
  });
});

const PATH = { cluster: "hub", group: "", version: "v1", resource: "configmaps", namespace: "default", name: "a" };

/** Records what is sent. */
function transportInto(sent: string[]): Transport {
  return {
    send: ({ verb }) => (sent.push(verb), Promise.resolve({})),
    raw: ({ method }) => (
      sent.push(method),
      Promise.resolve({ status: 200, headers: {}, body: (async function* () {})() })
    ),
    watch: async function* () {},
    close: () => Promise.resolve(),
  };
}

/** The clocks of a process that SIGSTOP stops: time passes, and no timer fires until it continues. */
function stopped(clock: FakeClock): { clock: Clock; elapsedMs(): number; stop(): void; continue(): void } {
  let isStopped = false;
  const late = new Set<() => void>();
  return {
    clock: {
      now: clock.now,
      after(ms, run) {
        const fire = (): void => void (isStopped ? late.add(run) : run());
        const timer = clock.after(ms, fire);
        return {
          cancel() {
            timer.cancel();
            late.delete(run);
          },
        };
      },
    },
    elapsedMs: clock.now,
    stop: () => void (isStopped = true),
    continue() {
      isStopped = false;
      for (const run of late) {
        late.delete(run);
        run();
      }
    },
  };
}

/** The failure of one candidate's requests for a while. */
type Fault = "refused" | "answer lost" | "late";

test("under any network and clock faults, at most one candidate leads at a time, and eventually one does", async () => {
  const fault = fc.record({
    candidate: fc.nat(2),
    fault: fc.constantFrom<Fault>("refused", "answer lost", "late"),
    fromMs: fc.nat(60_000),
    forMs: fc.integer({ min: 500, max: 30_000 }),
  });
  const clocks = fc.array(
    fc.record({
      offsetMs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
      rate: fc.double({ min: 0.85, max: 1.15, noNaN: true }),
    }),
    { minLength: 3, maxLength: 3 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fault, { maxLength: 8 }),
      clocks,
      fc.array(fc.record({ candidate: fc.nat(2), atMs: fc.nat(60_000) }), { maxLength: 2 }),
      async (faults, skews, stops) => {
        const { clock, client, stand } = setUp();
        const startMs = clock.now();
        const candidates = skews.map(({ offsetMs, rate }, index) => {
          const its: Clock = {
            now: () => startMs + (clock.now() - startMs) * rate + offsetMs,
            after: (ms, run) => clock.after(ms / rate, run),
          };
          return stand(`c${index}`, {
            its,
            seed: index + 1,
            by: faulty(
              client,
              clock,
              () =>
                faults.find(
                  ({ candidate, fromMs, forMs }) =>
                    candidate === index && clock.now() - startMs >= fromMs && clock.now() - startMs < fromMs + forMs,
                )?.fault,
            ),
          });
        });
        const standing = new Set(candidates);
        let together = 0;

        for (let passed = 0; passed < 130_000; passed += 500) {
          for (const { candidate, atMs } of stops) {
            const stopped = candidates[candidate];
            if (atMs > passed || !stopped || standing.size === 1) continue;
            stopped.stop();
            standing.delete(stopped);
          }
          clock.advance(500);
          await turns(4);
          const leading = candidates.filter(({ election }) => election.isLeader).length;
          if (leading > 1) together++;
        }
        const leading = candidates.filter(({ election }) => election.isLeader);

        expect(together).toBe(0);
        // A candidate that lost does not run again here, so there is a leader only while a candidate is running.
        const waiting = await Promise.all(
          Array.from(standing, ({ ended }) => Promise.race([ended, Promise.resolve("standing")])),
        );
        expect(leading.length).toBe(waiting.includes("standing") ? 1 : 0);
        for (const { stop } of candidates) stop();
        await turns();
        await Promise.all(candidates.map(({ ended }) => ended));
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);

/** A client whose writes are rejected, executed without a response, or executed late. */
function faulty(client: FakeClient, clock: Clock, faultNow: () => Fault | undefined): Client {
  const wrapped = async <R>(act: () => Promise<R>, signal: AbortSignal | undefined): Promise<R> => {
    const fault = faultNow();
    if (fault === "refused") throw new UnreachableError("refused");
    if (fault === "late") await new Promise<void>((resolve) => void clock.after(7_000, resolve));
    const answer = await act();
    if (fault === "answer lost") throw new UnreachableError("answer lost");
    if (signal?.aborted) throw signal.reason;
    return answer;
  };
  return {
    ...client,
    get: (kind, key, options) => wrapped(() => client.get(kind, key), options?.signal),
    // Without the signal: a request in flight arrives, even when the caller has stopped waiting for it.
    create: (kind, cluster, object, options) => wrapped(() => client.create(kind, cluster, object), options?.signal),
    update: (kind, cluster, object, options) => wrapped(() => client.update(kind, cluster, object), options?.signal),
  };
}

import { HUB } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { createFakeClock, MetricsText } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { flowControlDefaults, FlowSchema, PriorityLevelConfiguration } from "@flotilla/kubernetes";
import { expect, test } from "vitest";
import type { ClusterRegistry } from "../clusters/clusters.ts";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { ObjectStore } from "../clusters/objects.ts";
import { encodeObject, ordered } from "../codec/render.ts";
import { createResources, createResourceTable } from "../resources/resources.ts";
import type { Resource } from "../resources/resources.ts";
import type { Cache } from "../store/cache.ts";
import { createFlowControl, TooBusyError } from "./flow-control.ts";
import type { FlowControl, FlowRequest } from "./flow-control.ts";
import type { Seat } from "./ticket.ts";

const table = createResourceTable(createResources([FlowSchema, PriorityLevelConfiguration]));
const clusterOf = (name: string): LogicalCluster => ({ name, table }) as unknown as LogicalCluster;
const hub = clusterOf(HUB);

type Listener = (events: { entry: { key: string } }[]) => void;

function make(
  serverSeats: number,
  objects: readonly KubernetesObject[] = flowControlDefaults("2024-01-01T00:00:00Z"),
  watchers = 0,
): {
  flow: FlowControl;
  clock: ReturnType<typeof createFakeClock>;
  /** Writes objects to the store of all clusters, and deletes those of a name; the event is of the hub. */
  change(written: readonly KubernetesObject[], deleted?: readonly string[]): void;
} {
  const clock = createFakeClock();
  let stored = objects;
  const listeners = new Map<string, Listener>();
  const store = {
    list: (_: LogicalCluster, { kind }: Resource) =>
      stored
        .filter((object) => object.kind === kind.kind)
        .map((object) => ({
          key: object.metadata.name,
          revision: 1,
          value: encodeObject(
            ordered({
              ...object,
              metadata: { ...object.metadata, uid: `${object.kind ?? ""}-${object.metadata.name}` },
            } as unknown as JsonObject),
          ),
        })),
    count: () => 0,
  } as unknown as ObjectStore;
  const cache = {
    revision: 1,
    watch(prefix: string, _: number, listener: Listener) {
      listeners.set(prefix, listener);
      return () => listeners.delete(prefix);
    },
    watchers: () => watchers,
  } as unknown as Cache;
  const clusters = { get: clusterOf } as unknown as ClusterRegistry;
  return {
    flow: createFlowControl({ cache, store, clusters, clock, serverSeats }),
    clock,
    change(written, deleted = []) {
      const gone = new Set([...deleted, ...written.map(nameOf)]);
      stored = [...stored.filter((object) => !gone.has(nameOf(object))), ...written];
      for (const { kind, metadata } of written.length > 0 ? written : objects.slice(0, 1)) {
        const { group, plural } = kind === FlowSchema.kind ? FlowSchema : PriorityLevelConfiguration;
        listeners.get(`/${group}/${plural}/`)?.([{ entry: { key: `/${group}/${plural}/${HUB}/${metadata.name}` } }]);
      }
    },
  };
}
const nameOf = ({ kind, metadata }: KubernetesObject): string => `${kind ?? ""}/${metadata.name}`;

const ADMIN = { name: "admin", groups: ["system:masters", "system:authenticated"] };
const ALICE = { name: "alice", groups: ["system:authenticated"] };
const BOB = { name: "bob", groups: ["system:authenticated"] };
const SCHEDULER = { name: "system:kube-scheduler", groups: ["system:authenticated"] };

function makeRequest(user: FlowRequest["user"], rest: Partial<FlowRequest> = {}): FlowRequest {
  return {
    user,
    verb: "get",
    path: "/api/v1/namespaces/default/pods/a",
    resource: { group: "", resource: "pods", namespace: "default" },
    query: new URLSearchParams(),
    isSingle: false,
    signal: new AbortController().signal,
    ...rest,
  };
}
const LEASE: Partial<FlowRequest> = {
  verb: "update",
  resource: { group: "coordination.k8s.io", resource: "leases", namespace: "kube-system" },
};

const SCHEMAS = { group: FlowSchema.group, resource: FlowSchema.plural };

/** Takes seats until a request has to wait; returns those that run. */
function fill(
  flow: FlowControl,
  cluster: LogicalCluster,
  user: FlowRequest["user"],
): { seats: Seat[]; next: Promise<Seat> } {
  const seats: Seat[] = [];
  for (;;) {
    const seat = flow.enter(cluster, makeRequest(user));
    if (seat instanceof Promise) return { seats, next: seat };
    if (seat) seats.push(seat);
  }
}

test("a request names the schema and the level that it belongs to", () => {
  const { flow } = make(600);
  const of = (request: FlowRequest): string => (flow.enter(hub, request) as Seat).schemaUid;

  expect(of(makeRequest(ADMIN))).toBe("FlowSchema-exempt");
  expect(of(makeRequest(ALICE))).toBe("FlowSchema-global-default");
  expect(of(makeRequest(SCHEDULER))).toBe("FlowSchema-kube-scheduler");
  expect(of(makeRequest(SCHEDULER, LEASE))).toBe("FlowSchema-system-leader-election");
  expect(of(makeRequest({ name: "system:serviceaccount:a:b", groups: ["system:serviceaccounts"] }))).toBe(
    "FlowSchema-service-accounts",
  );
});

test("requests above the seats of their level wait, and run when a seat is free", async () => {
  const { flow } = make(60);
  const { seats, next } = fill(flow, hub, ALICE);

  expect(seats.length).toBeGreaterThan(0);
  expect(flow.waiting).toBe(1);
  seats[0]?.leave();
  const seat = await next;
  expect([seat.levelUid, flow.waiting]).toEqual(["PriorityLevelConfiguration-global-default", 0]);
});

test("a seat that is left twice is free once", () => {
  const { flow } = make(60);
  const seat = flow.enter(hub, makeRequest(ALICE)) as Seat;
  const other = flow.enter(hub, makeRequest(ALICE)) as Seat;

  seat.leave();
  seat.leave();

  expect(flow.executing).toBe(1);
  other.leave();
  expect(flow.executing).toBe(0);
});

test("administrators of the hub and leader election run while another level is full", () => {
  const { flow } = make(60);
  const { next } = fill(flow, hub, ALICE);

  expect(flow.enter(hub, makeRequest(ADMIN))).not.toBeInstanceOf(Promise);
  expect(flow.enter(hub, makeRequest(SCHEDULER, LEASE))).not.toBeInstanceOf(Promise);
  expect(next).toBeInstanceOf(Promise);
});

test("another user's first request runs before most of one user's many", async () => {
  const { flow } = make(200);
  const { seats, next } = fill(flow, hub, ALICE);
  const order: string[] = [];
  const note = (name: string, entering: Seat | Promise<Seat> | undefined): void => {
    void Promise.resolve(entering).then(() => order.push(name));
  };
  note("alice", next);
  for (let index = 0; index < 60; index++) note("alice", flow.enter(hub, makeRequest(ALICE)));
  note("bob", flow.enter(hub, makeRequest(BOB)));

  for (let index = 0; index < 8; index++) seats[index]?.leave();
  await new Promise((resolve) => setImmediate(resolve));

  expect(order).toContain("bob");
});

test("a logical cluster has half of the seats of the server at most, also with exempt requests", async () => {
  const { flow } = make(20);
  const { seats, next } = fill(flow, clusterOf("loud"), ADMIN);
  const other = flow.enter(clusterOf("quiet"), makeRequest(ADMIN));

  expect([seats.length, flow.executing, flow.waiting]).toEqual([10, 11, 1]);
  expect(other).not.toBeInstanceOf(Promise);
  seats[0]?.leave();
  await next;
  expect([flow.executing, flow.waiting]).toEqual([11, 0]);
});

test("however many clusters want all seats, others and the hub still get some at once", () => {
  const { flow } = make(60);
  const taken = ["loud", "louder", "loudest"].map((name) => fill(flow, clusterOf(name), ADMIN).seats.length);
  const quiet = flow.enter(clusterOf("quiet"), makeRequest(ALICE));
  const ofHub = flow.enter(hub, makeRequest(ALICE));

  expect(taken).toEqual([30, 15, 8]);
  expect(quiet).not.toBeInstanceOf(Promise);
  expect(ofHub).not.toBeInstanceOf(Promise);
});

test("a cluster that has more than its share gives seats up to others as its requests end", () => {
  const { flow } = make(60);
  const { seats } = fill(flow, clusterOf("loud"), ADMIN);
  fill(flow, clusterOf("louder"), ADMIN);
  for (let index = 0; index < 20; index++) void flow.enter(clusterOf("louder"), makeRequest(ADMIN));
  const usage = (): number[] =>
    ["loud", "louder"].map((name) => flow.levels(name).reduce((sum, { executing }) => sum + executing, 0));
  const before = usage();

  for (const seat of seats.slice(0, 12)) seat.leave();

  expect(before).toEqual([30, 15]);
  expect(usage()).toEqual([19, 21]);
});

test("the users of the hub leave seats for the clusters", () => {
  const { flow } = make(60, []);
  const enter = (): unknown => flow.enter(hub, makeRequest(ALICE));
  expect(() => {
    for (;;) enter();
  }).toThrow(TooBusyError);

  expect(flow.executing).toBe(48);
  expect(flow.enter(clusterOf("quiet"), makeRequest(ALICE))).not.toBeInstanceOf(Promise);
});

test("leader election and exempt requests of the hub run when all seats of the server are taken", () => {
  const { flow } = make(200);
  while (flow.executing < 200) void flow.enter(hub, makeRequest(ADMIN));

  expect(flow.enter(hub, makeRequest(ADMIN))).not.toBeInstanceOf(Promise);
  expect(flow.enter(hub, makeRequest(SCHEDULER, LEASE))).not.toBeInstanceOf(Promise);
  expect(flow.enter(hub, makeRequest(ALICE))).toBeInstanceOf(Promise);
  expect(flow.enter(clusterOf("quiet"), makeRequest(SCHEDULER, LEASE))).toBeInstanceOf(Promise);
});

test("a level that rejects answers 429 at once, and full queues as well", async () => {
  const { flow } = make(60, []);
  const seats: Seat[] = [];
  const enter = (): void => {
    const seat = flow.enter(hub, makeRequest(ALICE));
    if (seat && !(seat instanceof Promise)) seats.push(seat);
  };

  // Without other objects the mandatory catch-all has all seats of the hub: four fifths of the server's.
  expect(() => {
    for (let index = 0; index < 100; index++) enter();
  }).toThrow(TooBusyError);
  expect(seats).toHaveLength(48);

  const other = make(60).flow;
  const results = await Promise.allSettled(
    Array.from({ length: 2000 }, async () => other.enter(hub, makeRequest(ALICE, { signal: AbortSignal.timeout(50) }))),
  );
  expect(results.some(({ status }) => status === "rejected")).toBe(true);
});

test("a request that waits too long or whose client left gives up its place", async () => {
  const { flow, clock } = make(60);
  const { next } = fill(flow, hub, ALICE);
  const client = new AbortController();
  const left = flow.enter(hub, makeRequest(ALICE, { signal: client.signal })) as Promise<Seat>;

  client.abort();
  await expect(left).rejects.toThrow(TooBusyError);
  clock.advance(15_000);
  await expect(next).rejects.toThrow("Too many requests");

  expect(flow.waiting).toBe(0);
  const text = new MetricsText();
  flow.writeMetrics(HUB, text);
  const page = text.finish();
  expect(page).toContain(
    'apiserver_flowcontrol_rejected_requests_total{priority_level="global-default",flow_schema="global-default",reason="time-out"} 1',
  );
  expect(page).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="catch-all"}');
});

test("a busy level borrows the seats that others lend", () => {
  const { flow, clock } = make(100);
  const { seats } = fill(flow, hub, ALICE);
  for (let index = 0; index < 40; index++) void flow.enter(hub, makeRequest(ALICE));
  clock.advance(10_000);

  seats[0]?.leave();

  const level = flow.levels(HUB).find(({ name }) => name === "global-default");
  expect(level?.current).toBeGreaterThan(level?.limits.nominal ?? 0);
  expect(level?.executing).toBeGreaterThan(seats.length);
});

test("the time after which rejected clients come back grows while rejections go on", () => {
  // Without other objects there is the mandatory catch-all, which rejects.
  const { flow, clock } = make(60, []);
  const rejection = (): number => {
    try {
      void flow.enter(hub, makeRequest(ALICE));
    } catch (error) {
      if (error instanceof TooBusyError) return error.retryAfterSeconds;
    }
    return 0;
  };
  for (let index = 0; index < 48; index++) rejection();

  const seconds = [1, 2, 3, 4].map(() => {
    for (let index = 0; index < 10; index++) rejection();
    clock.advance(1000);
    return rejection();
  });

  expect(seconds).toEqual([2, 2, 4, 4]);
});

test("a write that many watches see takes more seats", () => {
  const few = make(600);
  const many = make(600, undefined, 35);
  const seatsOf = ({ flow }: ReturnType<typeof make>): number => {
    void flow.enter(hub, makeRequest(ALICE, { verb: "create", resource: SCHEMAS }));
    return flow.executing;
  };

  expect([seatsOf(few), seatsOf(many)]).toEqual([1, 4]);
});

const limitedLevel = (name: string, shares: number, queues?: number): KubernetesObject =>
  ({
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "PriorityLevelConfiguration",
    metadata: { name },
    spec: {
      type: "Limited",
      limited: {
        nominalConcurrencyShares: shares,
        lendablePercent: 0,
        limitResponse: queues
          ? { type: "Queue", queuing: { queues, handSize: 1, queueLengthLimit: 50 } }
          : { type: "Reject" },
      },
    },
  }) as KubernetesObject;
const schemaFor = (user: string, level: string): KubernetesObject =>
  ({
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name: `of-${user}` },
    spec: {
      matchingPrecedence: 500,
      priorityLevelConfiguration: { name: level },
      distinguisherMethod: { type: "ByUser" },
      rules: [
        {
          subjects: [{ kind: "User", user: { name: user } }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
        },
      ],
    },
  }) as KubernetesObject;
const levelOf = (flow: FlowControl, name: string) => flow.levels(HUB).find((level) => level.name === name);

test("a change of the configuration does not free the seats of requests that run", () => {
  const { flow, change } = make(600);
  const { seats } = fill(flow, hub, ALICE);

  change([schemaFor("carol", "global-default")]);
  const more = fill(flow, hub, ALICE).seats;

  expect([seats.length > 10, more.length]).toEqual([true, 0]);
  expect(levelOf(flow, "global-default")?.executing).toBe(seats.length);
  expect(levelOf(flow, "global-default")?.running.size).toBe(seats.length);
});

test("requests that wait while the configuration changes run in their order, before new ones", async () => {
  const { flow, change } = make(60);
  const { seats, next } = fill(flow, hub, ALICE);

  change([schemaFor("carol", "global-default")]);
  const later = flow.enter(hub, makeRequest(ALICE)) as Promise<Seat>;
  const order: string[] = [];
  void next.then(() => order.push("first"));
  void later.then(() => order.push("later"));

  expect([flow.waiting, levelOf(flow, "global-default")?.waiting]).toEqual([2, 2]);
  seats[0]?.leave();
  seats[1]?.leave();
  await Promise.all([next, later]);
  expect(order).toEqual(["first", "later"]);
});

test("a level with other shares counts its requests against the new limit", () => {
  const objects = [limitedLevel("mine", 10), schemaFor("alice", "mine")];
  const { flow, change } = make(100, objects);
  const enter = (): void => void flow.enter(hub, makeRequest(ALICE));
  for (let index = 0; index < 20; index++) enter();

  change([limitedLevel("mine", 1)]);

  expect(enter).toThrow(TooBusyError);
  const level = levelOf(flow, "mine");
  expect([level?.executing, level?.limits.nominal]).toEqual([20, 17]);
});

test("requests wait on in a level whose queues change, and in one that no longer has queues", async () => {
  const { flow, change } = make(60, [limitedLevel("mine", 5, 4), schemaFor("alice", "mine")]);
  const { seats, next } = fill(flow, hub, ALICE);

  change([limitedLevel("mine", 5, 2)]);
  const second = flow.enter(hub, makeRequest(ALICE)) as Promise<Seat>;
  expect([levelOf(flow, "mine")?.waiting, levelOf(flow, "mine")?.queues?.queues.length]).toEqual([2, 2]);
  change([limitedLevel("mine", 5)]);

  expect(() => flow.enter(hub, makeRequest(ALICE))).toThrow(TooBusyError);
  seats[0]?.leave();
  seats[1]?.leave();
  await Promise.all([next, second]);
  expect([flow.waiting, levelOf(flow, "mine")?.waiting]).toEqual([0, 0]);
});

test("a deleted level stays until its requests have ended, and takes no more", async () => {
  const { flow, change, clock } = make(60, [limitedLevel("mine", 5, 4), schemaFor("alice", "mine")]);
  const { seats, next } = fill(flow, hub, ALICE);

  change([], ["PriorityLevelConfiguration/mine"]);
  const other = flow.enter(hub, makeRequest(ALICE)) as Seat;
  expect(other.levelUid).not.toBe("PriorityLevelConfiguration-mine");
  const level = levelOf(flow, "mine");
  expect([level?.isQuiescing, level?.executing, level?.waiting]).toEqual([true, seats.length, 1]);

  for (const seat of seats) seat.leave();
  (await next).leave();
  clock.advance(10_000);
  other.leave();
  void flow.enter(hub, makeRequest(ALICE));
  expect(flow.levels(HUB).map(({ name }) => name)).not.toContain("mine");
});

test("seats are borrowed at the same times, however often the configuration changes", () => {
  const { flow, clock, change } = make(100);
  fill(flow, hub, ALICE);
  for (let index = 0; index < 40; index++) void flow.enter(hub, makeRequest(ALICE));

  for (let second = 0; second < 10; second++) {
    clock.advance(1000);
    change([schemaFor("carol", "global-default")]);
    void flow.enter(hub, makeRequest(BOB));
  }

  const level = levelOf(flow, "global-default");
  expect(level?.current).toBeGreaterThan(level?.limits.nominal ?? 0);
});

import { beforeEach, expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import { createTestHub } from "./test-hub.ts";
import type { TestHub } from "./test-hub.ts";
import { createViewerPool } from "./viewer-pool.ts";
import type { ViewerPool } from "./viewer-pool.ts";
import type { Viewer } from "./viewers.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

let hub: TestHub;
let connections: { opened: number; closed: number };
let withSession: Set<Viewer>;
beforeEach(() => {
  hub = createTestHub();
  hub.answer(WHO, { status: { userInfo: { username: "ann" } } }, 201);
  connections = { opened: 0, closed: 0 };
  withSession = new Set();
});
const create = (isShared = false): ViewerPool =>
  createViewerPool({
    data: undefined,
    isShared,
    hasSession: (viewer) => withSession.has(viewer),
    onRejected: () => {},
    clock: createFakeClock(),
    log: silentLog,
  });
/** Resolves when the test says so. */
function makeToken() {
  const connecting = Promise.withResolvers<void>();
  const connect = async (): Promise<HubConnection> => {
    connections.opened += 1;
    await connecting.promise;
    return {
      client: hub.client,
      server: "https://hub",
      upgrade: () => Promise.reject(new Error("not part of this test")),
      close: async () => void (connections.closed += 1),
    };
  };
  return { credentials: { key: "token", connect }, connect: connecting.resolve };
}
const { signal } = new AbortController();
function open(viewer: Viewer): Viewer {
  withSession.add(viewer);
  return viewer;
}

test("two sign-ins with one token share a connection, which is closed with the last session", async () => {
  const pool = create();
  const token = makeToken();
  const both = Promise.all([1, 2].map(() => pool.signIn(token.credentials, signal, open)));
  token.connect();
  const [one, two] = await both;

  if (one) pool.left(one);
  const early = connections.closed;
  withSession.clear();
  if (one) pool.left(one);

  expect(one).toBe(two);
  expect([early, connections]).toEqual([0, { opened: 1, closed: 1 }]);
});

test("a sign-in succeeds when another one with the same token is given up", async () => {
  const pool = create();
  const token = makeToken();
  const gone = new AbortController();
  const first = pool.signIn(token.credentials, gone.signal, open);
  const second = pool.signIn(token.credentials, signal, open);

  gone.abort(new Error("the client disconnected"));
  token.connect();

  await expect(first).rejects.toThrow("the client disconnected");
  expect((await second).user).toBe("ann");
  await hub.settle();
  expect(connections).toEqual({ opened: 1, closed: 0 });
});

test("a connection is closed whose sign-ins were all given up, or whose token the hub rejects", async () => {
  const pool = create();
  const [given, wrong] = [makeToken(), makeToken()];
  const gone = new AbortController();
  const first = pool.signIn(given.credentials, gone.signal, open);
  gone.abort(new Error("the client disconnected"));
  given.connect();
  await expect(first).rejects.toThrow("the client disconnected");
  await hub.settle();
  const afterGone = { ...connections };

  hub.answer(WHO, { message: "no" }, 401);
  wrong.connect();
  await expect(pool.signIn(wrong.credentials, signal, open)).rejects.toThrow("rejects these credentials");

  expect(afterGone).toEqual({ opened: 1, closed: 1 });
  expect(connections).toEqual({ opened: 2, closed: 2 });
});

test("the connection that all sessions share stays", async () => {
  const pool = create(true);
  const token = makeToken();
  token.connect();
  const viewer = await pool.signIn(token.credentials, signal, open);

  withSession.clear();
  pool.left(viewer);

  expect(connections.closed).toBe(0);
});

/**
 * The network between two processes: a TCP proxy that can lose what is sent, in both directions or in one, delay it, or
 * close and refuse connections. What was lost stays lost, as if a route had vanished: a connection that lost something
 * never delivers anything again, and only the timeouts of both sides end it.
 */
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

export type LinkState =
  /** Everything passes. */
  | "open"
  /** Connections are closed, and new ones refused. */
  | "refused"
  /** Nothing arrives, in either direction. */
  | "silent"
  /** Requests arrive, and answers do not. */
  | "half-open"
  /** Everything arrives later. */
  | "slow";

export interface Link {
  readonly name: string;
  readonly port: number;
  set(state: LinkState): void;
  close(): Promise<void>;
}

export interface LinkOptions {
  name: string;
  /** The port that a new connection is made to; undefined refuses it. */
  target(): number | undefined;
  /** Unset: any free one. */
  port?: number;
  /** The state that a connection has because of who made it, if it is not that of the link. */
  stateOf?(near: Socket): LinkState | undefined;
}

const SLOW_MS = 300;

interface Connection {
  near: Socket;
  far: Socket;
  /** It has lost something. */
  isBroken: boolean;
}

export async function createLink({ name, target, port = 0, stateOf }: LinkOptions): Promise<Link> {
  let common: LinkState = "open";
  const connections = new Set<Connection>();
  const stateNow = (near: Socket): LinkState => {
    const own = stateOf?.(near);
    return own === undefined || own === "open" ? common : own;
  };
  const server = createServer((near) => {
    const to = target();
    if (stateNow(near) === "refused" || to === undefined) {
      near.on("error", () => {}).destroy();
      return;
    }
    const far = connect(to, "127.0.0.1");
    const connection = { near, far, isBroken: false };
    connections.add(connection);
    const end = (): void => {
      connections.delete(connection);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.setNoDelay(true).on("error", end);
    carry(connection, near, far, () => stateNow(near), "request", end);
    carry(connection, far, near, () => stateNow(near), "answer", end);
  }).listen(port, "127.0.0.1");
  await new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  return {
    name,
    port: (server.address() as AddressInfo).port,
    set(state) {
      common = state;
      if (state === "refused") for (const { near } of connections) near.destroy(new Error("the network is cut"));
    },
    async close() {
      for (const { near, far } of connections) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function carry(
  connection: Connection,
  from: Socket,
  to: Socket,
  stateNow: () => LinkState,
  direction: "request" | "answer",
  end: () => void,
): void {
  const isLost = (): boolean => {
    const state = stateNow();
    return state === "silent" || (state === "half-open" && direction === "answer");
  };
  let last = Promise.resolve();
  from.on("data", (chunk) => {
    if (isLost()) connection.isBroken = true;
    if (connection.isBroken && (isLost() || direction === "answer")) return;
    const send = (): void => {
      if (to.destroyed) return;
      if (!to.write(chunk)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    };
    if (stateNow() !== "slow") {
      last = last.then(send);
      return;
    }
    // In order: what follows waits for what is late.
    const dueMs = performance.now() + SLOW_MS;
    last = last
      .then(() => new Promise<void>((resolve) => void setTimeout(resolve, Math.max(0, dueMs - performance.now()))))
      .then(send);
  });
  // The end of a connection is lost like everything else.
  const finish = (): void => void (connection.isBroken || isLost() ? (connection.isBroken = true) : last.then(end));
  from.on("end", finish).on("close", finish);
}

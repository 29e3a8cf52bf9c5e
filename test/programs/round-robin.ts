/** A load balancer as users have one: TCP connections go in turn to the servers whose `/readyz` succeeds. */
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { request } from "node:https";

export interface RoundRobin {
  port: number;
  /** Replaces the ports that connections go to. */
  use(ports: readonly number[]): void;
  close(): Promise<void>;
}

const CHECK_MS = 100;

export async function createRoundRobin(): Promise<RoundRobin> {
  let ports: readonly number[] = [];
  let ready: readonly number[] = [];
  let turn = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const port = ready[turn++ % Math.max(1, ready.length)];
    if (port === undefined) {
      near.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    const end = (): void => {
      sockets.delete(near);
      near.destroy();
      far.destroy();
    };
    sockets.add(near);
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const check = async (): Promise<void> => {
    const answers = await Promise.all(ports.map(isReady));
    ready = ports.filter((_, index) => answers[index]);
  };
  const checks = setInterval(() => void check(), CHECK_MS);
  return {
    port: (server.address() as AddressInfo).port,
    use: (next) => void (ports = next),
    async close() {
      clearInterval(checks);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request(
      // A load balancer does not know the authority of the hub.
      { host: "127.0.0.1", port, path: "/readyz", rejectUnauthorized: false, agent: false, timeout: 1_000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    probe.on("error", () => resolve(false)).on("timeout", () => probe.destroy());
    probe.end();
  });
}

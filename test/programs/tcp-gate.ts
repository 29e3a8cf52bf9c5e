/**
 * A TCP connection to a server that can be cut: connections are closed and rejected until it is opened again. It also
 * counts them.
 */
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

export interface TcpGate {
  port: number;
  /** Closes all connections, and every new one at once. */
  cut(): void;
  open(): void;
  /** The number of connections made, and of open ones. */
  counts(): { made: number; open: number };
  close(): Promise<void>;
}

export async function createTcpGate(targetPort: number): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  let made = 0;
  const server = createServer((near) => {
    if (!isOpen) {
      near.destroy();
      return;
    }
    made++;
    const far = connect(targetPort, "127.0.0.1");
    const end = (): void => {
      sockets.delete(near);
      near.destroy();
      far.destroy();
    };
    sockets.add(near);
    // An error on one side closes the connection of the other.
    for (const socket of [near, far]) socket.on("error", end).on("close", end);
    near.pipe(far).pipe(near);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const cut = (): void => {
    isOpen = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    open: () => void (isOpen = true),
    counts: () => ({ made, open: sockets.size }),
    async close() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

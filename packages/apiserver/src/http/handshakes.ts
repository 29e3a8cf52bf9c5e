/**
 * Connections whose TLS handshake is not finished. Anyone can open them, so they have a bound of their own: the oldest one
 * is closed for the next, and a server that stops waits for none of them.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

export interface Handshakes {
  begin(socket: Socket): void;
  finish(socket: TLSSocket): void;
  /** Closes all connections whose handshake is not finished, and later ones at once. */
  close(): void;
}

export function createHandshakes(max: number): Handshakes {
  /** By the client's address: Node does not report which connection a TLS socket belongs to. In order of arrival. */
  const pending = new Map<string, Socket>();
  let isClosed = false;
  return {
    begin(socket) {
      const address = addressOf(socket);
      if (isClosed || address === undefined) {
        socket.destroy();
        return;
      }
      pending.set(address, socket);
      socket.once("close", () => {
        if (pending.get(address) === socket) pending.delete(address);
      });
      if (pending.size > max) pending.values().next().value?.destroy();
    },
    finish(socket) {
      const address = addressOf(socket);
      if (address !== undefined) pending.delete(address);
    },
    close() {
      isClosed = true;
      for (const socket of pending.values()) socket.destroy();
    },
  };
}

/** Undefined once the client has closed the connection. */
function addressOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}

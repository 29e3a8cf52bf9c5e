/** One HTTP/2 session, whose streams are counted. */
import http2 from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock, Timer } from "@flotilla/base";
import { UnreachableError } from "./errors.ts";
import { firstEvent } from "./http-sockets.ts";

/** How soon a peer that does not answer is noticed. */
export interface ConnectionTimeouts {
  /** A connection that is not established by then is given up. */
  connectMs: number;
  /** While requests are active, a ping is sent this often, */
  pingAfterMs: number;
  /** and a connection on which it is not answered by then is closed. */
  pingMs: number;
}

/** client-go's intervals of pings. */
export const DEFAULT_TIMEOUTS: ConnectionTimeouts = { connectMs: 10_000, pingAfterMs: 30_000, pingMs: 15_000 };
/** Large enough for a large list from a distant server; a reader that pauses a stream buffers no more than this. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** A thousand watches reach Node's default limit of 10 MB per session. */
const SESSION_MEMORY_MB = 512;

export interface Session {
  http2: http2.ClientHttp2Session;
  active: number;
  limit: number;
}

/** Resolves when the server's settings have arrived. */
export async function openSession(
  server: URL,
  socket: TLSSocket,
  clock: Clock,
  { connectMs }: Pick<ConnectionTimeouts, "connectMs"> = DEFAULT_TIMEOUTS,
): Promise<Session> {
  const session: Session = {
    http2: http2.connect(server, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      maxSessionMemory: SESSION_MEMORY_MB,
    }),
    active: 0,
    limit: 0,
  };
  // A session error also ends its streams, and they report it. Registered before anything is awaited: an error that no
  // listener receives ends the process.
  session.http2.on("error", () => {});
  const setLimit = ({ maxConcurrentStreams = Number.MAX_SAFE_INTEGER }: http2.Settings): void => {
    session.limit = Math.max(1, maxConcurrentStreams);
  };
  // The server's settings contain its stream limit; before they arrive, Node would assume a hundred.
  setLimit(await firstEvent<http2.Settings>(session.http2, "remoteSettings", clock, connectMs));
  // The connection may have ended while this function waited; its streams report that.
  if (!session.http2.destroyed) session.http2.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  session.http2.on("remoteSettings", setLimit);
  return session;
}

/** Pings a silent peer while requests are active. Returns a function that stops it. */
export function pingWhileBusy(
  session: Session,
  clock: Clock,
  { pingAfterMs, pingMs }: Pick<ConnectionTimeouts, "pingAfterMs" | "pingMs"> = DEFAULT_TIMEOUTS,
): () => void {
  let timer: Timer;
  const next = (): void => {
    timer = clock.after(pingAfterMs, () => {
      // A destroyed session closes later, and rejects pings until then.
      if (session.http2.destroyed) return;
      if (session.active === 0) return next();
      timer = clock.after(pingMs, () =>
        session.http2.destroy(
          new UnreachableError("the server stopped answering pings; the connection was closed", {
            mayHaveArrived: true,
          }),
        ),
      );
      session.http2.ping(() => {
        timer.cancel();
        if (!session.http2.destroyed) next();
      });
    });
  };
  next();
  return () => timer.cancel();
}

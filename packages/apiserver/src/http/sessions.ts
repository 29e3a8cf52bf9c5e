/** The HTTP/2 connections of a server. Idle ones are closed, silent ones are pinged. */
import type { Http2Session, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Clock } from "@flotilla/base";
import { peerOf } from "./peer.ts";
import type { Peer, PeerAuthorities } from "./peer.ts";

const PING_AFTER_SWEEPS = 3;

interface SessionState {
  peer: Peer;
  streams: number;
  idleSinceMs: number;
  /** Sweeps since the client last showed activity. */
  quietSweeps: number;
}

export interface Sessions {
  add(session: Http2Session): void;
  /** Counts a new stream until it closes; returns its client, or undefined if its session is closed. */
  addStream(stream: ServerHttp2Stream): Peer | undefined;
  /**
   * Closes idle connections, and those of clients that do not answer a ping: a client behind a NAT may have vanished
   * long ago.
   */
  sweep(): void;
  /** Accepts no new streams. */
  close(): void;
  destroy(): void;
}

export function createSessions({
  clock,
  idleTimeoutMs,
  authorities,
}: {
  clock: Clock;
  idleTimeoutMs: number;
  authorities?: PeerAuthorities | undefined;
}): Sessions {
  const sessions = new Map<Http2Session, SessionState>();

  function sweepSession(session: Http2Session, state: SessionState, nowMs: number): void {
    if (session.closed || session.destroyed) return;
    if (state.streams === 0 && nowMs - state.idleSinceMs > idleTimeoutMs) return session.close();
    state.quietSweeps++;
    if (state.quietSweeps > 2 * PING_AFTER_SWEEPS) return session.destroy();
    if (state.quietSweeps % PING_AFTER_SWEEPS === 0)
      session.ping((error) => (state.quietSweeps = error ? state.quietSweeps : 0));
  }

  return {
    add(session) {
      const peer = peerOf(session.socket as TLSSocket, authorities);
      sessions.set(session, { peer, streams: 0, idleSinceMs: clock.now(), quietSweeps: 0 });
      session.once("close", () => sessions.delete(session));
    },
    addStream(stream) {
      const state = stream.session && sessions.get(stream.session);
      if (!state) return undefined;
      state.streams++;
      stream.once("close", () => {
        state.streams--;
        state.idleSinceMs = clock.now();
      });
      return state.peer;
    },
    sweep() {
      const nowMs = clock.now();
      for (const [session, state] of sessions) sweepSession(session, state, nowMs);
    },
    close() {
      for (const session of sessions.keys()) session.close();
    },
    destroy() {
      for (const session of sessions.keys()) session.destroy();
    },
  };
}

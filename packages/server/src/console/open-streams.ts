/** The open streams and terminals of the web UI, and how many there may be. */
import type { Duplex } from "node:stream";
import type { Log } from "@flotilla/base";
import type { Session } from "./sessions.ts";

const MAX_STREAMS = 500;
const MAX_STREAMS_OF_SESSION = 50;
/** Of everyone who signs in with a token. */
const MAX_STREAMS_OF_USER = 100;

interface OpenStream {
  session: Session;
  stop(): void;
}

export interface OpenStreams {
  hasRoomFor(session: Session): boolean;
  /**
   * Keeps the socket until `closed` is called. One that is opening counts as well: a terminal waits for its member. Returns
   * what ends it.
   */
  open(session: Session, socket: Duplex, start: (closed: () => void) => Promise<() => void>): () => void;
  close(): void;
}

/** `isShared`: all sessions are of one user. */
export function createOpenStreams(isShared: boolean, log: Log): OpenStreams {
  const streams = new Set<OpenStream>();
  return {
    hasRoomFor({ id, viewer }) {
      const open = [...streams];
      const ofSession = open.filter(({ session }) => session.id === id).length;
      const ofUser = open.filter(({ session }) => session.viewer.user === viewer.user).length;
      const isFull = open.length >= MAX_STREAMS || ofSession >= MAX_STREAMS_OF_SESSION;
      return !isFull && (isShared || ofUser < MAX_STREAMS_OF_USER);
    },
    open(session, socket, start) {
      const stream: OpenStream = { session, stop: () => socket.destroy() };
      streams.add(stream);
      const closed = (): void => void streams.delete(stream);
      start(closed).then(
        (stop) => (stream.stop = stop),
        (error: unknown) => {
          log.debug("a stream of the console failed", { error });
          closed();
          socket.destroy();
        },
      );
      return () => stream.stop();
    },
    close() {
      for (const { stop } of Array.from(streams)) stop();
    },
  };
}

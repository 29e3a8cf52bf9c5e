/**
 * Sessions of the console: a one-time code or a token becomes a session, which only this process knows.
 *
 * The browser holds a random id in a cookie and no credentials. A session ends when it is idle, on sign-out, when its
 * credentials are rejected, and with the process.
 */
import { createHash } from "node:crypto";
import type { Clock, Random } from "@flotilla/base";
import type { Viewer } from "./viewers.ts";

export interface Session {
  id: string;
  /** Required on every request that is not a GET: pages of other origins cannot read it. */
  csrf: string;
  viewer: Viewer;
  /** Aborted when the session ends, with a sentence as its reason. */
  ended: AbortSignal;
}

export interface Sessions {
  /** A code that signs in once, within a minute. */
  issueCode(): string;
  /** Undefined for a code that is wrong, used or expired. */
  redeemCode(code: string): boolean;
  open(viewer: Viewer): Session;
  has(viewer: Viewer): boolean;
  /** The session of this id, which is then not idle. */
  find(id: string): Session | undefined;
  end(id: string, reason: string): void;
  /** Ends all sessions of this viewer. */
  endAll(viewer: Viewer, reason: string): void;
  close(): void;
}

export interface SessionsOptions {
  clock: Clock;
  random: Random;
  idleMs: number;
  /** Sessions of one user; the one that is idle for the longest ends for a new one. */
  maxOfUser: number;
  /** Called when the last session of a viewer has ended. */
  onLeft(viewer: Viewer): void;
}

const CODE_MS = 60_000;
const CODE_BYTES = 16;
const ID_BYTES = 32;
/** Of all users. A browser has one. */
export const MAX_SESSIONS = 1_000;
const MAX_CODES = 16;

interface Kept extends Session {
  usedMs: number;
  ending: AbortController;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { clock, random, idleMs, maxOfUser, onLeft } = options;
  const codes = new Map<string, number>();
  /** By the hash of the id, so that a lookup takes the same time whatever the id is. */
  const sessions = new Map<string, Kept>();
  const token = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString("base64url");

  const has = (viewer: Viewer): boolean => sessions.values().some((session) => session.viewer === viewer);
  const drop = (key: string, reason: string): void => {
    const session = sessions.get(key);
    sessions.delete(key);
    if (!session) return;
    session.ending.abort(reason);
    if (!has(session.viewer)) onLeft(session.viewer);
  };
  const dropIdle = (): void => {
    for (const [key, { usedMs }] of sessions)
      if (clock.now() - usedMs > idleMs) drop(key, "the session was idle for too long");
  };

  return {
    issueCode() {
      for (const [code, atMs] of codes) if (clock.now() - atMs > CODE_MS || codes.size >= MAX_CODES) codes.delete(code);
      const code = token(CODE_BYTES);
      codes.set(digest(code), clock.now());
      return code;
    },
    redeemCode(code) {
      const key = digest(code);
      const atMs = codes.get(key);
      codes.delete(key);
      return atMs !== undefined && clock.now() - atMs <= CODE_MS;
    },
    open(viewer) {
      dropIdle();
      const isOwn = ({ viewer: { user } }: Session): boolean => user === viewer.user;
      const own = sessions.values().reduce((count, each) => count + (isOwn(each) ? 1 : 0), 0);
      if (own >= maxOfUser || sessions.size >= MAX_SESSIONS) {
        const candidates = [...sessions].filter(([, each]) => own < maxOfUser || isOwn(each));
        const [oldest] = candidates.sort(([, a], [, b]) => a.usedMs - b.usedMs);
        if (oldest) drop(oldest[0], "there are too many sessions");
      }
      const id = token(ID_BYTES);
      const ending = new AbortController();
      const session: Kept = {
        id,
        csrf: token(CODE_BYTES),
        viewer,
        ended: ending.signal,
        ending,
        usedMs: clock.now(),
      };
      sessions.set(digest(id), session);
      return session;
    },
    has,
    find(id) {
      dropIdle();
      const session = sessions.get(digest(id));
      if (session) session.usedMs = clock.now();
      return session;
    },
    end: (id, reason) => drop(digest(id), reason),
    endAll(viewer, reason) {
      for (const [key, session] of sessions) if (session.viewer === viewer) drop(key, reason);
    },
    close() {
      for (const key of sessions.keys()) drop(key, "the server stopped");
    },
  };
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

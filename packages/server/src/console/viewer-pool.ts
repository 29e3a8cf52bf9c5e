/**
 * The viewers of a console by their credentials. One that signed in with a token has a connection of its own, which is closed
 * with the last session.
 */
import { abortable } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import type { Viewer } from "./viewers.ts";

export interface ViewerPool {
  /**
   * Calls back with the viewer of these credentials, which keeps its connection while it has a session; `connect` is called
   * for the first one. Rejects when the hub rejects the credentials. The signal ends the waiting of this caller only.
   */
  signIn<T>(
    credentials: { key: string; connect(): Promise<HubConnection> },
    signal: AbortSignal,
    open: (viewer: Viewer) => T,
  ): Promise<T>;
  /** Its last session has ended. */
  left(viewer: Viewer): void;
  close(): Promise<void>;
}

interface ViewerPoolOptions {
  data: string | undefined;
  /** All sessions have one connection, which stays. */
  isShared: boolean;
  hasSession(viewer: Viewer): boolean;
  /** The hub no longer accepts the credentials of a viewer. */
  onRejected(viewer: Viewer): void;
  clock: Clock;
  log: Log;
}

interface Entry {
  viewer: Promise<Viewer>;
  /** Callers that are signing in. */
  waiting: number;
}

/** A token may lose its rights at any time; a kubeconfig is mostly an administrator's. */
const RIGHTS_MS = { shared: 30_000, own: 1_500 };
const SIGN_IN_MS = 20_000;

export function createViewerPool(options: ViewerPoolOptions): ViewerPool {
  const { data, isShared, hasSession, onRejected, clock, log } = options;
  const entries = new Map<string, Entry>();
  const closing = new AbortController();

  async function create(key: string, connect: () => Promise<HubConnection>): Promise<Viewer> {
    const hub = await connect();
    const rightsMs = isShared ? RIGHTS_MS.shared : RIGHTS_MS.own;
    try {
      const { createViewer } = await import("./viewers.ts");
      const viewer: Viewer = await createViewer(
        { key, hub, data, rightsMs, onRejected: () => onRejected(viewer), clock, log },
        AbortSignal.any([closing.signal, AbortSignal.timeout(SIGN_IN_MS)]),
      );
      return viewer;
    } catch (error) {
      if (!isShared) await hub.close();
      throw error;
    }
  }
  function entryOf(key: string, connect: () => Promise<HubConnection>): Entry {
    const known = entries.get(key);
    if (known) return known;
    const entry: Entry = { viewer: create(key, connect), waiting: 0 };
    entries.set(key, entry);
    entry.viewer.catch(() => entries.delete(key));
    return entry;
  }
  function left(viewer: Viewer): void {
    const entry = entries.get(viewer.key);
    if (isShared || !entry || entry.waiting > 0 || hasSession(viewer)) return;
    entries.delete(viewer.key);
    viewer.close().catch((error: unknown) => log.debug("closing the connection of a viewer failed", { error }));
  }

  return {
    async signIn({ key, connect }, signal, open) {
      const entry = entryOf(key, connect);
      entry.waiting += 1;
      try {
        return open(await abortable(entry.viewer, signal));
      } finally {
        entry.waiting -= 1;
        // A caller that has gone leaves a viewer without a session.
        entry.viewer.then(left, () => {});
      }
    },
    left,
    async close() {
      closing.abort();
      for (const { viewer } of entries.values())
        await viewer.then(
          (each) => each.close(),
          () => {},
        );
    },
  };
}

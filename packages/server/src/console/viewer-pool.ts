/**
 * The viewers of a console by their credentials. One that signed in with a token has a connection of its own, which is closed
 * with the last session.
 */
import type { Clock, Log } from "@flotilla/base";
import type { HubConnection } from "@flotilla/cli";
import { createViewer } from "./viewers.ts";
import type { Viewer } from "./viewers.ts";

export interface ViewerPool {
  /** The viewer of these credentials; `connect` is called for the first one. Rejects when the hub rejects them. */
  open(key: string, connect: () => Promise<HubConnection>, signal: AbortSignal): Promise<Viewer>;
  /** Its last session has ended. */
  left(viewer: Viewer): void;
  close(): Promise<void>;
}

interface ViewerPoolOptions {
  data: string | undefined;
  /** All sessions have one connection, which stays. */
  isShared: boolean;
  /** The hub no longer accepts the credentials of a viewer. */
  onRejected(viewer: Viewer): void;
  clock: Clock;
  log: Log;
}

/** A token may lose its rights at any time; a kubeconfig is mostly an administrator's. */
const RIGHTS_MS = { shared: 30_000, own: 1_500 };

export function createViewerPool({ data, isShared, onRejected, clock, log }: ViewerPoolOptions): ViewerPool {
  const viewers = new Map<string, Promise<Viewer>>();

  async function create(key: string, connect: () => Promise<HubConnection>, signal: AbortSignal): Promise<Viewer> {
    const hub = await connect();
    const rightsMs = isShared ? RIGHTS_MS.shared : RIGHTS_MS.own;
    try {
      const viewer: Viewer = await createViewer(
        { key, hub, data, rightsMs, onRejected: () => onRejected(viewer), clock, log },
        signal,
      );
      return viewer;
    } catch (error) {
      if (!isShared) await hub.close();
      throw error;
    }
  }

  return {
    open(key, connect, signal) {
      let viewer = viewers.get(key);
      if (!viewer) {
        viewer = create(key, connect, signal);
        viewers.set(key, viewer);
        viewer.catch(() => viewers.delete(key));
      }
      return viewer;
    },
    left(viewer) {
      if (isShared) return;
      viewers.delete(viewer.key);
      viewer.close().catch((error: unknown) => log.debug("closing the connection of a viewer failed", { error }));
    },
    async close() {
      for (const viewer of viewers.values())
        await viewer.then(
          (each) => each.close(),
          () => {},
        );
    },
  };
}

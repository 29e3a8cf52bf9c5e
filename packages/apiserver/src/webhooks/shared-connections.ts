/**
 * Connections that the webhooks of a cluster share. A program often has dozens of webhooks at one address (OpenKruise has
 * 35): calls about one write then travel together over one connection, as from kube-apiserver.
 */
import { createWebhookConnection } from "@flotilla/client";
import type { BlockedSet, WebhookConnection } from "@flotilla/client";

export interface SharedConnections {
  /** A connection that trusts `caBundle`. Its `close` ends this use; the last one closes the connection. */
  open(cluster: string, caBundle: string | undefined, blocked: BlockedSet | undefined): WebhookConnection;
}

interface Shared {
  readonly connection: WebhookConnection;
  users: number;
}

export function createSharedConnections(connect = createWebhookConnection): SharedConnections {
  const all = new Map<string, Shared>();
  return {
    open(cluster, caBundle, blocked) {
      const key = `${cluster} ${caBundle ?? ""}`;
      const shared = all.get(key) ?? { connection: connect(caBundle, blocked), users: 0 };
      all.set(key, shared);
      shared.users++;
      let isOpen = true;
      return {
        post: (...call) => shared.connection.post(...call),
        close() {
          if (!isOpen) return;
          isOpen = false;
          if (--shared.users > 0) return;
          all.delete(key);
          shared.connection.close();
        },
      };
    },
  };
}

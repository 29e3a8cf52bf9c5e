/** The server on which the recordings are replayed: a fleet with one empty member, reached over TLS like any other. */
import { mkdtemp, rm } from "node:fs/promises";
import https from "node:https";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectionOf, loadKubeconfig } from "@flotilla/client";
import { startFleet } from "@flotilla/server";
import { startPlayWebhooks } from "./webhooks.ts";
import type { PlayWebhooks } from "./webhooks.ts";

export interface HttpRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
  /** The request has its own credentials or none: the administrator's are not sent. */
  anonymous?: boolean;
}

export interface PlayServer {
  readonly webhooks: PlayWebhooks;
  send(request: HttpRequest): Promise<IncomingMessage>;
  close(): Promise<void>;
}

/** A fresh cluster as the recordings expect it: no workload controller changes an object. */
export async function startPlayServer(): Promise<PlayServer> {
  const data = await mkdtemp(join(tmpdir(), "flotilla-golden-"));
  const fleet = await startFleet(
    { data, members: 1, nodes: 0, kruise: "none", port: 0, ephemeral: true, logLevel: "error" },
    () => {},
    new AbortController().signal,
  );
  const {
    server: url,
    ca,
    cert,
    key,
    token,
  } = await connectionOf(await loadKubeconfig(fleet.kubeconfigs.get("member1") ?? ""));
  const agent = new https.Agent({ keepAlive: true, maxSockets: 200, ca, cert, key });
  const anonymousAgent = new https.Agent({ keepAlive: true, ca });
  const webhooks = await startPlayWebhooks();
  return {
    webhooks,
    send: ({ method, path, headers, body, anonymous = false }) =>
      new Promise((resolve, reject) => {
        const request = https.request(
          {
            host: url.hostname,
            port: url.port,
            method,
            path: url.pathname.replace(/\/$/, "") + path,
            headers:
              anonymous || typeof token !== "string" ? headers : { authorization: `Bearer ${token}`, ...headers },
            agent: anonymous ? anonymousAgent : agent,
          },
          resolve,
        );
        request.on("error", reject);
        request.end(body);
      }),
    async close() {
      agent.destroy();
      anonymousAgent.destroy();
      webhooks.close();
      await fleet.stop();
      await rm(data, { recursive: true });
    },
  };
}

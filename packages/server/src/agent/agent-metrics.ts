/**
 * Serves an agent's metrics for Prometheus, on a separate port. It exposes only metrics, so there is no authentication;
 * it listens only on the given address.
 */
import type { Server } from "node:http";
import {
  buildMetrics,
  createDeliveryMeter,
  createExecutionMeter,
  deliveryMetrics,
  executionMetrics,
  laneMetrics,
  writeBuild,
  writeLanes,
} from "@flotilla/flotilla";
import type { Agent, AgentMembers, ExecutionMeter, HubApis } from "@flotilla/flotilla";
import {
  FlotillaError,
  gauge,
  METRICS_CONTENT_TYPE,
  MetricsText,
  UsageError,
  writeGauge,
  writeProcessMetrics,
  VERSION,
} from "@flotilla/base";
import type { Log, Metric } from "@flotilla/base";
import { writeControllerMetrics } from "@flotilla/controller-runtime";

/**
 * An import would create a module namespace of `node:http`, for which Node also loads its fetch and WebSocket: 10 MB.
 */
const { createServer } = process.getBuiltinModule("node:http");

const SERVING = gauge(
  "flotilla_agent_serving",
  "1 while the agent serves works of this API: Work or ManifestWork.",
  "kind",
);

/** Metrics that only agents have. */
export const agentMetrics: readonly Metric[] = [SERVING];
/** Metrics that agents share with hubs, besides those of controllers, scripts and the process. */
export const sharedAgentMetrics: readonly Metric[] = [
  ...buildMetrics,
  ...executionMetrics,
  ...deliveryMetrics,
  ...laneMetrics,
];

export interface AgentMetrics {
  meter: ExecutionMeter;
  /** Wraps the members to measure their deliveries. */
  around(members: AgentMembers): AgentMembers;
  /** The agent now serves. */
  follow(agent: Agent, apis: HubApis): void;
  render(): string;
}

export function createAgentMetrics(): AgentMetrics {
  const execution = createExecutionMeter();
  const deliveries = createDeliveryMeter();
  let serving: { agent: Agent; apis: HubApis } | undefined;
  return {
    meter: execution.meter,
    around(members) {
      const known = new WeakMap<object, NonNullable<ReturnType<AgentMembers["memberFor"]>>>();
      return {
        ...members,
        memberFor(name) {
          const member = members.memberFor(name);
          if (!member) return undefined;
          let measured = known.get(member);
          if (!measured)
            known.set(member, (measured = { ...member, delivery: deliveries.around(name, member.delivery) }));
          return measured;
        },
      };
    },
    follow(agent, apis) {
      serving = { agent, apis };
    },
    render() {
      const text = new MetricsText();
      writeBuild(text, VERSION);
      writeProcessMetrics(text);
      writeGauge(text, SERVING, [
        [["Work"], serving?.apis.karmada ? 1 : 0],
        [["ManifestWork"], serving?.apis.ocm ? 1 : 0],
      ]);
      execution.write(text);
      deliveries.write(text);
      writeLanes(text, serving?.agent.lanes() ?? []);
      writeControllerMetrics(text, serving ? [serving.agent.manager] : []);
      serving?.agent.writeMetrics(text);
      return text.finish();
    },
  };
}

/** `9102`, `:9102`, `127.0.0.1:9102` or `[::1]:9102`; without a host, only this machine. */
export function parseMetricsAddress(text: string): { host: string; port: number } {
  const [, host = "127.0.0.1", port = ""] = /^(?:(\[[0-9a-fA-F:]+\]|[^:\s[\]]+)?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535)
    throw new UsageError(
      `--metrics-address ${text} is not a valid address: use HOST:PORT, for example 127.0.0.1:9102, or 0.0.0.0:9102 for all interfaces`,
    );
  return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
}

/** Pages besides `/metrics`. */
export interface MorePages {
  /** For `/readyz`: why this process is not ready. */
  problems?(): readonly string[];
  /** `/metrics/members`, of all members or of one; undefined while this process does not know them. */
  members?(only: string | undefined): string | undefined;
}

/** Serves `/metrics`, `/healthz` and `/readyz`; resolves with a stop function when it listens. */
export async function serveMetrics(
  address: string,
  render: () => string,
  log: Log,
  { problems = () => [], members }: MorePages = {},
): Promise<{ port: number; close(): Promise<void> }> {
  const { host, port } = parseMetricsAddress(address);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const [path, query] = (request.url ?? "").split("?", 2);
    if (isRead && path === "/metrics") response.writeHead(200, { "content-type": METRICS_CONTENT_TYPE }).end(render());
    else if (isRead && path === "/metrics/members" && members) {
      // A process that stands by has no members; the scrape of the one that leads has them, so that none counts twice.
      const page = members(new URLSearchParams(query).get("cluster") ?? undefined) ?? "";
      response.writeHead(200, { "content-type": METRICS_CONTENT_TYPE }).end(page);
    } else if (isRead && path === "/readyz") {
      const found = problems();
      response
        .writeHead(found.length === 0 ? 200 : 503, { "content-type": "text/plain" })
        .end(found.length === 0 ? "ok" : `${found.join("\n")}\n`);
    } else if (isRead && path === "/healthz") response.writeHead(200, { "content-type": "text/plain" }).end("ok");
    else
      response
        .writeHead(isRead ? 404 : 405, { "content-type": "text/plain" })
        .end(isRead ? "404 page not found\n" : "405 method not allowed\n");
  });
  server.maxConnections = 64;
  await listening(server, host, port);
  server.on("error", (error) => log.error("metrics server failed", { error }));
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void =>
      reject(
        new FlotillaError("Listen", `cannot serve metrics on ${host}:${port}; choose another --metrics-address`, {
          cause: error,
        }),
      );
    server.once("error", refuse);
    server.listen(port, host, () => {
      server.off("error", refuse);
      resolve();
    });
  });
}

/**
 * What controllers do with the faults: one client counts in a few templates that a policy propagates, and a watcher at the
 * member sees what arrives. A count on the member never decreases, whichever process leads, and at the end it is the last one.
 */
import { setTimeout as delay } from "node:timers/promises";
import { connectApi } from "./api.ts";
import type { Api } from "./api.ts";
import { MEMBER } from "./hub.ts";

const NAMESPACE = "reliability-fleet";
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const TEMPLATES = ["template-0", "template-1", "template-2", "template-3"];
const PAUSE_MS = 250;
const WATCH_SILENCE_MS = 120_000;
const CONVERGENCE_LIMIT_MS = 120_000;

export interface Deliveries {
  /** Counts that the hub acknowledged. */
  released: number;
  /** Changes that arrived on the member. */
  arrived: number;
  /** Counts that went back on the member. */
  wentBack: string[];
  /** Templates whose last count is not on the member after everything was repaired. */
  notArrived: string[];
}

export async function prepareReleases(api: Api): Promise<void> {
  await expectDone(api, "POST", "/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  await expectDone(api, "POST", `/apis/policy.karmada.io/v1alpha1/namespaces/${NAMESPACE}/propagationpolicies`, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: { name: "all" },
    spec: {
      resourceSelectors: [
        { apiVersion: "v1", kind: "ConfigMap", labelSelector: { matchLabels: { released: "true" } } },
      ],
      placement: { clusterAffinity: { clusterNames: [MEMBER] } },
    },
  });
}

export async function expectDone(api: Api, method: string, path: string, body?: object): Promise<void> {
  for (let tries = 1; ; tries++) {
    const answer = await api.call(method, path, body);
    if (answer && (answer.status < 300 || answer.status === 409)) return;
    if (tries === 20) throw new Error(`${method} ${path}: ${JSON.stringify(answer?.body)}`);
    await delay(PAUSE_MS);
  }
}

/** Releases until the signal aborts; then waits for the last counts. */
export async function runReleases(
  options: { kubeconfig: string; ports: readonly number[]; member: { kubeconfig: string; port: number } },
  signal: AbortSignal,
): Promise<Deliveries> {
  const servers = await Promise.all(options.ports.map((port) => connectApi(options.kubeconfig, port)));
  const member = await connectApi(options.member.kubeconfig, options.member.port);
  const deliveries: Deliveries = { released: 0, arrived: 0, wentBack: [], notArrived: [] };
  const seen = new Map<string, number>();
  const over = new AbortController();
  const watching = watchMember(member, seen, deliveries, over.signal);
  let at = 0;
  for (let count = 1; !signal.aborted; count++) {
    const name = TEMPLATES[count % TEMPLATES.length] ?? "";
    const server = servers[at % servers.length];
    const body = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, labels: { released: "true" } },
      data: { count: String(count) },
    };
    const patched = await server?.call("PATCH", `${MAPS}/${name}`, { data: body.data }, "application/merge-patch+json");
    const answer = patched?.status === 404 ? await server?.call("POST", MAPS, body) : patched;
    if (answer && answer.status < 300) deliveries.released++;
    else at++;
    await delay(PAUSE_MS);
  }
  deliveries.notArrived = await missingCounts(servers, seen);
  over.abort();
  member.close();
  for (const server of servers) server.close();
  await watching;
  return deliveries;
}

async function watchMember(
  member: Api,
  seen: Map<string, number>,
  deliveries: Deliveries,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await member.watch(`${MAPS}?watch=true&timeoutSeconds=600`, WATCH_SILENCE_MS, (line) => {
      const { type, object } = JSON.parse(line) as {
        type: string;
        object: { metadata?: { name: string }; data?: { count?: string } };
      };
      const name = object.metadata?.name ?? "";
      const count = Number(object.data?.count ?? 0);
      if (!TEMPLATES.includes(name) || (type !== "ADDED" && type !== "MODIFIED")) return;
      const before = seen.get(name) ?? 0;
      if (count < before) deliveries.wentBack.push(`${name} went from ${before} back to ${count}`);
      if (count !== before) deliveries.arrived++;
      seen.set(name, count);
    });
    await delay(PAUSE_MS);
  }
}

async function missingCounts(servers: readonly Api[], seen: ReadonlyMap<string, number>): Promise<string[]> {
  const untilMs = performance.now() + CONVERGENCE_LIMIT_MS;
  for (;;) {
    const missing: string[] = [];
    for (const name of TEMPLATES) {
      const answer = await servers[0]?.call("GET", `${MAPS}/${name}`);
      if (answer?.status === 404) continue;
      const wanted = Number((answer?.body["data"] as { count?: string } | undefined)?.count ?? NaN);
      if (seen.get(name) !== wanted)
        missing.push(`${name} is ${wanted} on the hub and ${seen.get(name) ?? "not"} on ${MEMBER}`);
    }
    if (missing.length === 0 || performance.now() > untilMs) return missing;
    await delay(PAUSE_MS);
  }
}

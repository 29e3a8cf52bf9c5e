/**
 * `metrics.k8s.io` of the hub: the usage of the pods and nodes of all members, for `kubectl top` and autoscalers. Read
 * from the members' metrics servers on each request, with the credentials of the hub; nothing is kept. Each object names
 * its member in an annotation, as Karmada's metrics adapter does.
 */
import { conflict, notFound, unavailable } from "@flotilla/apimachinery";
import type { ObjectSource, SourceQuery } from "@flotilla/apimachinery";
import { compareText, FlotillaError, isObject } from "@flotilla/base";
import type { Clock, JsonObject } from "@flotilla/base";
import { readJson, readText } from "@flotilla/client";
import type { Lister } from "@flotilla/controller-runtime";
import type { Cluster } from "@flotilla/karmada";
import { askMembers, missingAnswers, someOf } from "../membership/ask-members.ts";
import type { Answers } from "../membership/ask-members.ts";
import { connectionOf } from "../membership/member.ts";
import type { MemberSource } from "../membership/member.ts";

/** Karmada's annotation for the member that an answer is from. */
const QUERIED_FROM = "resource.karmada.io/query-from-cluster";
const ROOT = "/apis/metrics.k8s.io/v1beta1";
/** Of one member: the usage of 20,000 pods. */
const MAX_BYTES = 16 * 2 ** 20;

export interface FleetMetricsDependencies {
  hub: string;
  clusters: Pick<Lister<Cluster>, "get" | "list">;
  members: Pick<MemberSource, "find">;
  clock: Clock;
}

export function createFleetMetrics(deps: FleetMetricsDependencies): { pods: ObjectSource; nodes: ObjectSource } {
  const { hub, clusters, members, clock } = deps;

  /** Undefined if the member answers 404. */
  async function read(name: string, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
    const cluster = clusters.get({ cluster: hub, name });
    const member = cluster && connectionOf(members.find(cluster));
    if (!member) throw new FlotillaError("MemberMetrics", "the hub does not reach it");
    const headers = { accept: "application/json" };
    const { status, body } = await member.client.raw({ method: "GET", cluster: name, path, headers }, signal);
    if (status !== 200) {
      await readText(body);
      if (status === 404) return undefined;
      throw new FlotillaError("MemberMetrics", `metrics.k8s.io answered ${status}`);
    }
    const answer = await readJson(body, MAX_BYTES);
    return isObject(answer) ? answer : undefined;
  }

  const ask = ({ signal }: SourceQuery, path: string): Promise<Answers<JsonObject | undefined>> =>
    askMembers({ clusters: clusters.list({ cluster: hub }), clock, signal }, (name, until) => read(name, path, until));

  const source = (resource: "pods" | "nodes"): ObjectSource => ({
    async get(_cluster, namespace, name, query) {
      const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
      const path = `${ROOT}${where}/${resource}/${encodeURIComponent(name)}`;
      const { answers, missing } = await ask(query, path);
      const [found, ...others] = answers.flatMap(({ cluster, answer }) =>
        answer ? [{ cluster, metrics: withOrigin(answer, cluster) }] : [],
      );
      const gone = { group: "metrics.k8s.io", resource };
      if (found && others.length > 0) {
        const holders = [found, ...others].map(({ cluster }) => cluster);
        throw conflict(gone, name, `it exists in more than one cluster: ${someOf(holders, ", ")}`);
      }
      if (!found && missing.length > 0) throw unavailable(missingAnswers(missing), 0);
      if (!found) throw notFound(gone, name);
      return found.metrics;
    },
    async list(_cluster, namespace, query) {
      const where = namespace === undefined ? "" : `/namespaces/${namespace}`;
      const search = new URLSearchParams(query.labelSelector ? { labelSelector: query.labelSelector } : {});
      const { answers, missing } = await ask(query, `${ROOT}${where}/${resource}?${search.toString()}`);
      missing.push(...answers.flatMap(({ cluster, answer }) => (answer ? [] : [`${cluster} (no metrics server)`])));
      if (missing.length > 0 && answers.every(({ answer }) => !answer)) throw unavailable(missingAnswers(missing), 0);
      if (missing.length > 0) query.warn(missingAnswers(missing));
      return answers
        .flatMap(({ cluster, answer }) => itemsOf(answer).map((metrics) => withOrigin(metrics, cluster)))
        .toSorted((a, b) => compareText(keyIn(a), keyIn(b)));
    },
  });
  return { pods: source("pods"), nodes: source("nodes") };
}

const itemsOf = (list: JsonObject | undefined): JsonObject[] =>
  Array.isArray(list?.["items"]) ? list["items"].filter(isObject) : [];

const metadataIn = ({ metadata }: JsonObject): JsonObject => (isObject(metadata) ? metadata : {});

/** Lists of members have no kind on their items. */
function withOrigin(metrics: JsonObject, cluster: string): JsonObject {
  const metadata = metadataIn(metrics);
  const annotations = isObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const { apiVersion: _version, kind: _kind, ...rest } = metrics;
  return {
    apiVersion: "metrics.k8s.io/v1beta1",
    kind: Array.isArray(metrics["containers"]) ? "PodMetrics" : "NodeMetrics",
    ...rest,
    metadata: { ...metadata, annotations: { ...annotations, [QUERIED_FROM]: cluster } },
  };
}

function keyIn(metrics: JsonObject): string {
  const { namespace, name } = metadataIn(metrics);
  return `${typeof namespace === "string" ? namespace : ""}/${typeof name === "string" ? name : ""}`;
}

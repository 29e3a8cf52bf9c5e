/**
 * Emulates Open Cluster Management's webhooks for ManagedCluster: it belongs to a set, the server sets the time of its
 * taints, and accepting it or moving it between sets needs a permission.
 *
 * Upstream validates the name only when there are client configs. A cluster whose name is invalid for a namespace is
 * unusable, so it is always rejected here.
 */
import { formatTime, type DeepReadonly, type JsonObject, defined } from "@flotilla/base";
import { decodedPart, dnsLabelProblems, parseGoUrl } from "@flotilla/apimachinery";
import type { AnyAdmission, Review } from "@flotilla/apimachinery";
import { Namespace } from "@flotilla/kubernetes";
import type { Taint } from "@flotilla/apimachinery/facts/cluster-ocm-v1.ts";
import { ManagedCluster } from "./managedcluster-kind.ts";
import { CLUSTER_GROUP, CLUSTER_SET_LABEL, DEFAULT_CLUSTER_SET, REGISTER_GROUP } from "../ocm-names.ts";
import { ocmAdmission, rejectionsOf, type Rejections } from "../webhook/webhook.ts";

type Read = DeepReadonly<ManagedCluster>;
type ReadTaint = DeepReadonly<Taint>;

const MUTATOR = "managedclustermutators.admission.cluster.open-cluster-management.io";
const VALIDATOR = "managedclustervalidators.admission.cluster.open-cluster-management.io";
const mutation = rejectionsOf(MUTATOR);
const ACCEPT = { group: CLUSTER_GROUP, resource: "managedclusters/accept" };
const JOIN = { group: CLUSTER_GROUP, resource: "managedclustersets/join" };

export const managedClusterRules: AnyAdmission[] = [
  ocmAdmission(ManagedCluster, { validator: VALIDATOR, complete, check, reads: [Namespace] }),
];

function complete(review: Review<ManagedCluster>): Read {
  return inSet(withDatedTaints(decoded(review), review));
}

/**
 * The webhook decodes the spec as a Go struct and adds fields that Go always writes. In Go a null is an empty struct.
 */
function decoded({ object, settled }: Review<ManagedCluster>): Read {
  const { spec } = object as { spec?: Read["spec"] | null };
  if (spec && spec === settled?.spec) return object;
  decodedPart("cluster-ocm-v1", "ManagedCluster", { spec: (spec ?? {}) as JsonObject }, mutation.unreadable);
  const given = Object.fromEntries(Object.entries(spec ?? {}).filter(([, value]) => value !== null)) as Read["spec"];
  const { managedClusterClientConfigs: configs, taints } = given;
  return {
    ...object,
    spec: {
      ...given,
      hubAcceptsClient: given.hubAcceptsClient ?? false,
      ...defined({
        managedClusterClientConfigs: configs?.map((config) => ({ ...config, url: config?.url ?? "" })),
        taints: taints?.map((taint) => ({ ...taint, key: taint?.key ?? "", effect: taint?.effect ?? "" })),
      }),
    },
  };
}

function inSet(cluster: Read): Read {
  const { labels } = cluster.metadata;
  if (labels?.[CLUSTER_SET_LABEL]) return cluster;
  return {
    ...cluster,
    metadata: { ...cluster.metadata, labels: { ...labels, [CLUSTER_SET_LABEL]: DEFAULT_CLUSTER_SET } },
  };
}

function withDatedTaints(cluster: Read, { oldObject, nowMs }: Review<ManagedCluster>): Read {
  const { taints = [] } = cluster.spec;
  if (taints.length === 0 || taints === oldObject?.spec.taints) return cluster;
  const times = new Map((oldObject?.spec.taints ?? []).map((taint) => [idOf(taint), taint.timeAdded]));
  // An unchanged taint keeps its time, and a new or changed one gets the current time.
  const refused = oldObject
    ? taints.filter((taint) => instantOf(taint.timeAdded) !== instantOf(times.get(idOf(taint)))).map(({ key }) => key)
    : [];
  if (refused.length > 0)
    throw mutation.badRequest(`It is not allowed to set TimeAdded of Taint "${refused.join(",")}".`);
  const now = formatTime(nowMs());
  return {
    ...cluster,
    spec: { ...cluster.spec, taints: taints.map((taint) => ({ ...taint, timeAdded: times.get(idOf(taint)) ?? now })) },
  };
}

const idOf = ({ key, value = "", effect }: ReadTaint): string => JSON.stringify([key, value, effect]);
const instantOf = (time: string | null | undefined): number | undefined => (time ? Date.parse(time) : undefined);

function check(review: Review<ManagedCluster>, refuse: Rejections): void {
  const { object, oldObject, allows, read, user } = review;
  const { name } = object.metadata;
  const problems = problemsOf(object, oldObject === undefined);
  if (problems.length > 0) throw refuse.badRequest(problems.toSorted().join("\n"));

  if (object.spec.hubAcceptsClient && !oldObject?.spec.hubAcceptsClient) {
    const namespace = read.get(Namespace, undefined, name);
    if (namespace?.status?.phase === "Terminating")
      throw refuse.forbidden(ACCEPT, name, `cluster namespace ${JSON.stringify(name)} is terminating`);
    if (!allows({ verb: "update", group: REGISTER_GROUP, resource: "managedclusters", subresource: "accept", name })) {
      throw refuse.forbidden(
        ACCEPT,
        name,
        `user ${JSON.stringify(user.name)} cannot update the HubAcceptsClient field`,
      );
    }
  }

  const [set, oldSet] = [object, oldObject].map((cluster) => cluster?.metadata.labels?.[CLUSTER_SET_LABEL] ?? "");
  if (set === oldSet) return;
  for (const one of [oldSet, set]) {
    if (
      one &&
      !allows({ verb: "create", group: CLUSTER_GROUP, resource: "managedclustersets", subresource: "join", name: one })
    ) {
      throw refuse.forbidden(
        JOIN,
        one,
        `user ${JSON.stringify(user.name)} cannot add/remove a ManagedCluster to/from ManagedClusterSet ${JSON.stringify(one)}`,
      );
    }
  }
}

function problemsOf({ metadata: { name }, spec }: Read, isNew: boolean): string[] {
  const { managedClusterClientConfigs: configs = [] } = spec;
  const wrongName = isNew || configs.length > 0 ? dnsLabelProblems(name) : [];
  return [
    ...(wrongName.length > 0 ? [`metadata.name format is not correct: ${wrongName.join(",")}`] : []),
    ...new Set(
      configs
        .filter(({ url }) => !isHttps(url))
        .map(({ url }) => `url ${JSON.stringify(url)} is invalid in client configs`),
    ),
  ];
}

function isHttps(text: string): boolean {
  const url = parseGoUrl(text);
  return !("problem" in url) && url.scheme === "https";
}

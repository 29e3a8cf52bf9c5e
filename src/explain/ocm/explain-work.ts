/** What became of each object of a ManifestWork on its member, and what is in the way. Pure: everything is read from the hub's objects. */
import type { Cluster, ManagedCluster, ManifestWork } from "../../api/index.ts";
import { isObject, type DeepReadonly, type JsonObject } from "../../base/index.ts";
import { findCondition } from "../../machinery/index.ts";
import { optionsOf } from "../../ocm/index.ts";
import type { ExplainedManifest, Explanation, Problem } from "../explanation.ts";
import { plainMessage, saidOf } from "./work-verdict.ts";

type Work = DeepReadonly<ManifestWork>;
type Told = NonNullable<NonNullable<NonNullable<Work["status"]>["resourceStatus"]>["manifests"]>[number];

export interface WorkViews {
  /** The two faces of the member. */
  managedCluster: DeepReadonly<ManagedCluster> | undefined;
  cluster: DeepReadonly<Cluster> | undefined;
  /** Who brings this object to the member by Karmada's API; undefined when nobody does. */
  otherOwner(object: { apiVersion: string; kind: string; namespace?: string; name: string }): string | undefined;
}

export type WorkExplanation = Required<Pick<Explanation, "manifests" | "problems">>;

/** A work may have thousands of small objects; those that are in trouble are among the first. */
const MAX_MANIFESTS = 100;
const MAX_PROBLEMS = 50;
const KNOWN_CONDITIONS = new Set(["Applied", "Available", "StatusFeedbackSynced"]);

export function explainWork(work: Work, views: WorkViews): WorkExplanation {
  const told = new Map(work.status?.resourceStatus?.manifests?.map((manifest) => [manifest.resourceMeta.ordinal ?? 0, manifest]));
  const all = (work.spec.workload?.manifests ?? []).map((manifest, ordinal) => explainManifest(work, manifest, told.get(ordinal), views));
  const [failing, fine] = [all.filter((manifest) => manifest.applied !== true || manifest.available === false), all.filter((manifest) => manifest.applied === true && manifest.available !== false)];
  const manifests = all.length > MAX_MANIFESTS ? [...failing, ...fine].slice(0, MAX_MANIFESTS) : all;
  return { manifests, problems: [...workProblems(work, views), ...failing.flatMap(manifestProblems)].slice(0, MAX_PROBLEMS) };
}

function explainManifest({ metadata: { generation }, spec }: Work, manifest: DeepReadonly<JsonObject>, told: Told | undefined, views: WorkViews): ExplainedManifest {
  const { apiVersion, kind, metadata } = manifest as { apiVersion?: unknown; kind?: unknown; metadata?: unknown };
  const { name, namespace } = isObject(metadata) ? metadata : {};
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const object = { apiVersion: text(apiVersion), kind: text(kind), ...(text(namespace) && { namespace: text(namespace) }), name: text(name) };
  const [applied, available] = [saidOf(told?.conditions, "Applied", generation), saidOf(told?.conditions, "Available", undefined)];
  const silent = findCondition(told?.conditions, "StatusFeedbackSynced");
  const message = applied === false ? findCondition(told?.conditions, "Applied")?.message : available === false ? findCondition(told?.conditions, "Available")?.message : silent?.status === "False" ? silent.message : undefined;
  const alsoBy = views.otherOwner(object);
  return {
    ...object,
    strategy: (told && optionsOf(told.resourceMeta, spec.manifestConfigs)?.updateStrategy?.type) ?? "Update",
    ...(applied !== undefined && { applied }),
    ...(available !== undefined && { available }),
    conditions: Object.fromEntries((told?.conditions ?? []).filter(({ type }) => !KNOWN_CONDITIONS.has(type)).map(({ type, status }) => [type, status])),
    feedback: Object.fromEntries((told?.statusFeedback?.values ?? []).map(({ name: value, fieldValue }) => [value, String(fieldValue.integer ?? fieldValue.string ?? fieldValue.boolean ?? fieldValue.jsonRaw ?? "")])),
    ...(message && { message: plainMessage(message) ?? message }),
    ...(alsoBy !== undefined && { alsoBy }),
  };
}

function workProblems({ metadata, status }: Work, { managedCluster, cluster }: WorkViews): Problem[] {
  const name = metadata.namespace ?? "";
  const problems: Problem[] = [];
  const applied = findCondition(status?.conditions, "Applied");
  if (!managedCluster && !cluster) problems.push({ what: `no cluster is called ${name}, so nobody takes works of this namespace`, try: "create the work in the namespace of a cluster; 'kubectl get managedclusters' lists them" });
  else problems.push(...clusterProblems(name, managedCluster, cluster));
  if (metadata.deletionTimestamp) problems.push({ what: "it is being deleted, and waits for its objects to go from the member", try: "see whether the member is reachable, and whether finalizers hold the objects there" });
  else if (findCondition(status?.conditions, "Complete")?.status === "True") problems.push({ what: "it has reached its end: changes are not carried out any more", try: "create another work for another run" });
  else if (applied?.reason === "ClusterLabelsNotMatched") problems.push({ what: applied.message ?? "", try: `label the ManagedCluster ${name}, or change the annotation of the work` });
  else if (!applied || (applied.observedGeneration ?? 0) < (metadata.generation ?? 0)) problems.push({ what: `${name} has not taken ${applied ? "this version of it" : "it"} yet`, try: "wait a moment; then see whether the cluster is available and its agent runs" });
  return problems;
}

function clusterProblems(name: string, managedCluster: WorkViews["managedCluster"], cluster: WorkViews["cluster"]): Problem[] {
  if (managedCluster && managedCluster.spec.hubAcceptsClient !== true) return [{ what: `the hub has not accepted ${name}`, try: `accept it: flotilla accept ${name}, or set hubAcceptsClient of the ManagedCluster to true` }];
  // Where nobody serves works, it is known how the member is all the same.
  const said = managedCluster ? findCondition(managedCluster.status?.conditions, "ManagedClusterConditionAvailable") : findCondition(cluster?.status?.conditions, "Ready");
  return said && said.status !== "True" ? [{ what: `${name} is not available: ${said.message || said.reason}`, try: "it keeps what it runs; see that the member is up and its agent reaches the hub" }] : [];
}

function manifestProblems({ kind, namespace, name, applied, available, message, alsoBy }: ExplainedManifest): Problem[] {
  const place = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
  if (applied === false && alsoBy !== undefined) return [{ what: `${place} was not applied: ${alsoBy} has it on this member, and an object has one owner`, try: "take it out of that policy, or out of this work" }];
  if (applied === false) return [{ what: `${place} was not applied: ${message ?? "no reason given"}`, try: remedyFor(message ?? "") }];
  return available === false ? [{ what: `${place} is not on the member`, try: "see who deletes it there, or, with the strategy ReadOnly, create it" }] : [];
}

function remedyFor(message: string): string {
  if (message.includes("have a resource type")) return "install the kind's CustomResourceDefinition on the member, for example with a work";
  if (/^Apply failed with \d+ conflict/.test(message)) return "let whoever has the field give it up, leave it to them with ignoreFields, or set serverSideApply.force";
  return "correct what the member refuses; it is tried again by itself";
}

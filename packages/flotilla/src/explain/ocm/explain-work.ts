/**
 * Explains the state of each manifest of a ManifestWork on its member, and what blocks it. Pure: everything is read
 * from hub objects.
 */
import type { Cluster } from "@flotilla/karmada";
import type { ManagedCluster, ManifestWork } from "@flotilla/ocm";
import { isObject, type DeepReadonly, type JsonObject } from "@flotilla/base";
import { findCondition, formatAge, formatApiVersion, parseApiVersion, referenceTitle } from "@flotilla/apimachinery";
import { unhealthyForMs } from "../../health/healthy-condition.ts";
import { runsToCompletion } from "../../health/run-to-completion.ts";
import { DELETION_REFUSED } from "../../ocm/work/plan-work-status.ts";
import { optionsOf } from "../../ocm/work/manifest-options.ts";
import type { ExplainedManifest, Explanation, Problem, UnhealthyObject } from "../explanation.ts";
import { plainMessage, conditionStatusOf } from "./work-verdict.ts";

type Work = DeepReadonly<ManifestWork>;
type ReportedManifest = NonNullable<NonNullable<NonNullable<Work["status"]>["resourceStatus"]>["manifests"]>[number];

export interface WorkViews {
  /** The member's two registrations. */
  managedCluster: DeepReadonly<ManagedCluster> | undefined;
  cluster: DeepReadonly<Cluster> | undefined;
  nowMs: number;
  /** The Karmada owner that delivers this object to the member; undefined if there is none. */
  otherOwner(object: { apiVersion: string; kind: string; namespace?: string; name: string }): string | undefined;
}

export type WorkExplanation = Required<Pick<Explanation, "manifests" | "problems">>;

/** A work may have thousands of small objects; failing objects are listed first. */
const MAX_MANIFESTS = 100;
const MAX_PROBLEMS = 50;
const MAX_NAMED = 3;
const KNOWN_CONDITIONS = new Set(["Applied", "Available", "StatusFeedbackSynced"]);

export function explainWork(work: Work, views: WorkViews): WorkExplanation {
  const reported = new Map(
    work.status?.resourceStatus?.manifests?.map((manifest) => [manifest.resourceMeta.ordinal ?? 0, manifest]),
  );
  const all = (work.spec.workload?.manifests ?? []).map((manifest, ordinal) =>
    explainManifest(work, manifest, reported.get(ordinal), views),
  );
  const failing = all.filter((manifest) => !isFine(manifest));
  const manifests = all.length > MAX_MANIFESTS ? [...failing, ...all.filter(isFine)].slice(0, MAX_MANIFESTS) : all;
  return {
    manifests,
    problems: [
      ...workProblems(work, failing, views),
      ...failing.flatMap(manifestProblems),
      ...all.flatMap((manifest) => healthProblems(manifest, work.metadata.namespace ?? "", views.nowMs)),
    ].slice(0, MAX_PROBLEMS),
  };
}

const isFine = ({ applied, available, leaving }: ExplainedManifest): boolean =>
  leaving ? available === false : applied === true && available !== false;

/** One object of a work: its state, and what is wrong with it and with the work. */
export function explainOneOf(
  work: Work,
  ordinal: number,
  views: WorkViews,
): { manifest: ExplainedManifest; problems: Problem[] } {
  const reported = work.status?.resourceStatus?.manifests?.find(
    ({ resourceMeta }) => (resourceMeta.ordinal ?? 0) === ordinal,
  );
  const manifest = explainManifest(work, work.spec.workload?.manifests?.[ordinal] ?? {}, reported, views);
  const failing = isFine(manifest) ? [] : [manifest];
  return {
    manifest,
    problems: [
      ...workProblems(work, failing, views),
      ...failing.flatMap(manifestProblems),
      ...healthProblems(manifest, work.metadata.namespace ?? "", views.nowMs),
    ],
  };
}

function explainManifest(
  { metadata, spec }: Work,
  manifest: DeepReadonly<JsonObject>,
  reported: ReportedManifest | undefined,
  views: WorkViews,
): ExplainedManifest {
  const { apiVersion, kind, metadata: own } = manifest as { apiVersion?: unknown; kind?: unknown; metadata?: unknown };
  const { name, namespace } = isObject(own) ? own : {};
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const object = {
    apiVersion: text(apiVersion),
    kind: text(kind),
    // A manifest may name a namespace for an object that has none; the agent knows the kind.
    namespace: (reported?.resourceMeta.resource ? reported.resourceMeta.namespace : text(namespace)) || undefined,
    name: text(name),
  };
  const isLeaving = metadata.deletionTimestamp !== undefined;
  // Deleting a work increments its generation, and agents do not apply that generation.
  const [applied, available] = [
    conditionStatusOf(reported?.conditions, "Applied", isLeaving ? undefined : metadata.generation),
    conditionStatusOf(reported?.conditions, "Available", undefined),
  ];
  const silent = findCondition(reported?.conditions, "StatusFeedbackSynced");
  const message = isLeaving
    ? undefined
    : applied === false
      ? findCondition(reported?.conditions, "Applied")?.message
      : available === false
        ? findCondition(reported?.conditions, "Available")?.message
        : silent?.status === "False"
          ? silent.message
          : undefined;
  const alsoBy = views.otherOwner(object);
  return {
    ...object,
    strategy: (reported && optionsOf(reported.resourceMeta, spec.manifestConfigs)?.updateStrategy?.type) ?? "Update",
    applied,
    available,
    conditions: Object.fromEntries(
      (reported?.conditions ?? [])
        .filter(({ type }) => !KNOWN_CONDITIONS.has(type))
        .map(({ type, status }) => [type, status]),
    ),
    feedback: Object.fromEntries(
      (reported?.statusFeedback?.values ?? []).map(({ name: value, fieldValue }) => [
        value,
        String(fieldValue.integer ?? fieldValue.string ?? fieldValue.boolean ?? fieldValue.jsonRaw ?? ""),
      ]),
    ),
    ...unhealthyOf(isLeaving ? undefined : reported),
    message: message ? (plainMessage(message) ?? message) : undefined,
    leaving: isLeaving ? (true as const) : undefined,
    alsoBy,
  };
}

function workProblems(
  work: Work,
  failing: readonly ExplainedManifest[],
  { managedCluster, cluster }: WorkViews,
): Problem[] {
  const { metadata, status } = work;
  const name = metadata.namespace ?? "";
  const applied = findCondition(status?.conditions, "Applied");
  const isNobodys = !managedCluster && !cluster;
  const problems = isNobodys
    ? [
        {
          what: `there is no cluster named ${name}, so no agent applies works of this namespace`,
          try: "create the work in the namespace of a cluster; 'kubectl get managedclusters' lists them",
        },
      ]
    : clusterProblems(name, managedCluster, cluster);
  if (metadata.deletionTimestamp) problems.push(leavingProblem(work, failing));
  else if (findCondition(status?.conditions, "Complete")?.status === "True")
    problems.push({
      what: "it has completed: changes are no longer applied",
      try: "create another work to run it again",
    });
  else if (applied?.reason === "ClusterLabelsNotMatched")
    problems.push({
      what: applied.message ?? "",
      try: `label the ManagedCluster ${name}, or change the annotation of the work`,
    });
  else if (!isNobodys && (!applied || (applied.observedGeneration ?? 0) < (metadata.generation ?? 0)))
    problems.push({
      what: `${name} has not applied ${applied ? "this version of it" : "it"} yet`,
      try: "wait a moment, then check that the cluster is available and its agent is running",
    });
  return problems;
}

/** Why a deleted work still exists: the member's error, or else the objects that remain. */
function leavingProblem({ status }: Work, failing: readonly ExplainedManifest[]): Problem {
  const [, refusal] = findCondition(status?.conditions, "Deleting")?.message.split(DELETION_REFUSED) ?? [];
  if (refusal !== undefined)
    return {
      what: `it is being deleted, and the member rejects the deletion: ${refusal}`,
      try: "allow the deletion there, or keep the object: set spec.deleteOption.propagationPolicy of the work to Orphan",
    };
  const left = failing.map(referenceTitle);
  const what =
    left.length === 0
      ? "its objects"
      : left.length > MAX_NAMED
        ? `${left.slice(0, MAX_NAMED).join(", ")} and ${left.length - MAX_NAMED} more`
        : left.join(", ");
  return {
    what: `it is being deleted and waits for ${what} to be removed from the member`,
    try: "check that the member is reachable, and whether finalizers block the objects there",
  };
}

function clusterProblems(
  name: string,
  managedCluster: WorkViews["managedCluster"],
  cluster: WorkViews["cluster"],
): Problem[] {
  if (managedCluster && managedCluster.spec.hubAcceptsClient !== true)
    return [
      {
        what: `the hub has not accepted ${name}`,
        try: `accept it: flotilla accept ${name}, or set hubAcceptsClient of the ManagedCluster to true`,
      },
    ];
  // The member's availability is known even where no agent serves works.
  const said = managedCluster
    ? findCondition(managedCluster.status?.conditions, "ManagedClusterConditionAvailable")
    : findCondition(cluster?.status?.conditions, "Ready");
  return said && said.status !== "True"
    ? [
        {
          what: `${name} is not available: ${said.message || said.reason}`,
          try: "its workloads keep running; check that the member is up and its agent can reach the hub",
        },
      ]
    : [];
}

function manifestProblems(manifest: ExplainedManifest): Problem[] {
  const { applied, available, message, leaving, alsoBy } = manifest;
  if (leaving) return [];
  const place = referenceTitle(manifest);
  if (applied === false && alsoBy !== undefined)
    return [
      {
        what: `${place} was not applied: ${alsoBy} already owns it on this member, and an object has one owner`,
        try: "remove it from that policy, or from this work",
      },
    ];
  if (applied === false)
    return [{ what: `${place} was not applied: ${message ?? "no reason given"}`, try: remedyFor(message ?? "") }];
  return available === false
    ? [
        {
          what: `${place} does not exist on the member`,
          try: "check what deletes it there, or, with the strategy ReadOnly, create it",
        },
      ]
    : [];
}

/** The objects of a work that are degraded or not up to date on its member. A run that has not failed is neither. */
export function unhealthyObjects({ status }: Work): UnhealthyObject[] {
  return (status?.resourceStatus?.manifests ?? []).flatMap((reported) => {
    const { group = "", version = "", kind = "", namespace, name = "" } = reported.resourceMeta;
    const { unhealthy, unhealthySince } = unhealthyOf(reported);
    const apiVersion = formatApiVersion(group, version);
    const isRunning =
      runsToCompletion({ apiVersion, kind }) && findCondition(reported.conditions, "Degraded")?.status !== "True";
    if (unhealthy === undefined || isRunning) return [];
    return [{ apiVersion, kind, namespace: namespace || undefined, name, unhealthy, unhealthySince }];
  });
}

function unhealthyOf(reported: ReportedManifest | undefined): Pick<ExplainedManifest, "unhealthy" | "unhealthySince"> {
  const wrong = ["Degraded", "Progressing"]
    .map((type) => findCondition(reported?.conditions, type))
    .find((condition) => condition?.status === "True");
  return wrong ? { unhealthy: wrong.message, unhealthySince: wrong.lastTransitionTime } : {};
}

function healthProblems(manifest: ExplainedManifest, cluster: string, nowMs: number): Problem[] {
  const { unhealthy, unhealthySince: lastTransitionTime, apiVersion, kind, namespace, name, conditions } = manifest;
  const { group } = parseApiVersion(apiVersion);
  const isRunning = runsToCompletion(manifest) && conditions["Degraded"] !== "True";
  const forMs =
    unhealthy === undefined || isRunning
      ? undefined
      : unhealthyForMs({ status: "False", lastTransitionTime: lastTransitionTime ?? "" }, nowMs);
  if (forMs === undefined) return [];
  const place = namespace ? ` -n ${namespace}` : "";
  return [
    {
      what: `${referenceTitle(manifest)} has not been healthy on the member for ${formatAge(forMs)}: ${unhealthy ?? ""}`,
      try: `inspect it there: 'flotilla describe ${kind.toLowerCase()}${group ? `.${group}` : ""}/${name}${place} --clusters ${cluster}'`,
    },
  ];
}

function remedyFor(message: string): string {
  if (message.includes("have a resource type"))
    return "install the kind's CustomResourceDefinition on the member, for example with a ManifestWork";
  if (/^Apply failed with \d+ conflict/.test(message))
    return "release the field in the other field manager, leave it to that manager with ignoreFields, or set serverSideApply.force";
  if (message.includes("is also held by")) return "remove it from one of the two works, or make both specify the same";
  const [, namespace] = /^namespaces "([^"]+)" not found/.exec(message) ?? [];
  if (namespace !== undefined) return `add the Namespace ${namespace} to the work, or create it on the member`;
  return "correct what the member rejects; the agent retries automatically";
}

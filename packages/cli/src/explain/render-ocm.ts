/** Renders explanations of Open Cluster Management's objects, and of objects they apply, as text. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { ExplainedManifest, ExplainedRollout, Explanation } from "@flotilla/flotilla";
import { renderTable } from "../text-table.ts";

type Read = DeepReadonly<Explanation>;

/** Policies do not apply to these kinds, nor to objects that exist only on members. */
export const isManagedByPolicy = (read: Read): boolean => {
  const { prioritizers, manifests, rollout, works, policy, otherPolicies, decision } = read;
  return (
    !prioritizers &&
    !manifests &&
    !rollout &&
    (!works || policy !== undefined || otherPolicies.length > 0 || decision !== undefined)
  );
};

/** The sections for an Open Cluster Management object: a title and its lines each. */
export function renderOcm({ decision, prioritizers, manifests, rollout }: Read, width?: number): string[][] {
  return [
    prioritizers && decision ? renderClusters(decision, prioritizers, width) : [],
    manifests ? ["OBJECTS", ...manifests.flatMap(renderManifest)] : [],
    ...(rollout ?? []).map((each) => renderRollout(each, width)),
  ];
}

function renderClusters(
  { kept, rejected }: NonNullable<Read["decision"]>,
  prioritizers: NonNullable<Read["prioritizers"]>,
  width: number | undefined,
): string[] {
  const rows = [
    ...kept.map(({ cluster, score }) => [
      cluster,
      "selected",
      score === undefined ? "-" : String(score),
      ...prioritizers.map(({ weight, scores }) =>
        scores[cluster] === undefined ? "-" : `${scores[cluster]}${weight === 1 ? "" : ` x${weight}`}`,
      ),
      "",
    ]),
    ...rejected.map(({ by, reason, count, clusters }) => [
      namesOf(clusters, count),
      "rejected",
      "-",
      ...prioritizers.map(() => "-"),
      `${by}: ${reason}`,
    ]),
  ];
  return [
    "CLUSTERS (computed now)",
    rows.length > 0
      ? renderTable(
          ["CLUSTER", "VERDICT", "SCORE", ...prioritizers.map(({ name }) => name.toUpperCase()), "REASON"],
          rows,
          3,
          width,
        )
      : "none",
  ];
}

function namesOf(clusters: readonly string[], count: number): string {
  if (clusters.length === 0) return `${count} ${count === 1 ? "cluster" : "clusters"}`;
  return `${clusters.join(", ")}${count > clusters.length ? ` and ${count - clusters.length} more` : ""}`;
}

function renderManifest(manifest: DeepReadonly<ExplainedManifest>): string[] {
  const { kind, namespace, name, strategy, applied, available, conditions, feedback, message, leaving, alsoBy } =
    manifest;
  const state = leaving
    ? [available === false ? "deleted" : available ? "still exists" : "being deleted"]
    : [appliedText(applied), ...(available === undefined ? [] : [available ? "available" : "not available"])];
  const facts = [...state, ...(strategy === "Update" ? [] : [strategy])];
  const pairs = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}`)
      .join(" ");
  return [
    `${kind} ${namespace ? `${namespace}/` : ""}${name}: ${facts.join(", ")}${message ? `: ${message}` : ""}`,
    ...(Object.keys(conditions).length > 0 ? [`  conditions  ${pairs(conditions)}`] : []),
    ...(Object.keys(feedback).length > 0 ? [`  feedback    ${pairs(feedback)}`] : []),
    ...(alsoBy === undefined ? [] : [`  also owned by ${alsoBy}`]),
  ];
}

const appliedText = (applied: boolean | undefined): string =>
  applied === undefined ? "not applied yet" : applied ? "applied" : "not applied";

function renderRollout(
  { placement, strategy, counts, clusters }: DeepReadonly<ExplainedRollout>,
  width: number | undefined,
): string[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const summary = Object.entries(counts)
    .map(([state, count]) => `${count} ${state}`)
    .join(", ");
  const rows = clusters.map(({ cluster, state, since = "-", work = "-", message = "" }) => [
    cluster,
    state,
    since,
    work,
    message,
  ]);
  return [
    `ROLLOUT to Placement ${placement} (${strategy}): ${total === 0 ? "no clusters" : summary}`,
    ...(rows.length > 0 ? [renderTable(["CLUSTER", "STATE", "SINCE", "WORK", "MESSAGE"], rows, 3, width)] : []),
    ...(total > rows.length ? [`and ${total - rows.length} more`] : []),
  ];
}

/** ManifestWorks that apply the object to members. */
export function renderWorks({ works }: Read): string[] {
  if (!works) return [];
  const rows = works.map(
    ({ cluster, name, applied, message }) =>
      `${cluster}: ManifestWork ${cluster}/${name}, ${appliedText(applied)}${message ? `: ${message}` : ""}`,
  );
  return ["PROPAGATED BY", ...rows];
}

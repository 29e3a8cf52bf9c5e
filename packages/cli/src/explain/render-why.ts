/** Renders an explanation as text. Pure. */
import { isObject, type DeepReadonly } from "@flotilla/base";
import { Job, Pod } from "@flotilla/kubernetes";
import { SidecarSet } from "@flotilla/openkruise";
import { isScheduled, MOST_REPLICAS, runsOnEveryNode, runsToCompletion } from "@flotilla/flotilla";
import type { ExplainedMember, ExplainedPolicy, Explanation, FieldChange } from "@flotilla/flotilla";
import type { SeenExplanation } from "./look-at-copies.ts";
import { renderTable } from "../text-table.ts";
import { nameMembers } from "../health/name-members.ts";
import { withoutCause } from "../health/collect-releases.ts";
import { waveState } from "../rollout/wave-state.ts";
import { wrapLines } from "../text-layout.ts";
import { renderField } from "./render-fields.ts";
import { isManagedByPolicy, renderOcm, renderWorks } from "./render-ocm.ts";

type Read = DeepReadonly<Explanation>;

/** Fits the terminal width, if there is one. */
export function renderWhy(explanation: SeenExplanation, width?: number): string {
  const { kind, namespace, name, apiVersion } = explanation.resource;
  // Sections are indented.
  const room = width === undefined ? undefined : width - 2;
  const sections = [
    [`${kind} ${namespace ? `${namespace}/` : ""}${name} (${apiVersion})`],
    // Before everything else: what follows says nothing about it.
    renderNotChecked(explanation),
    // The cause is what most readers look for.
    ...(hasCause(explanation) ? [renderProblems(explanation)] : []),
    ...(isManagedByPolicy(explanation)
      ? [renderPolicies(explanation), renderRequirers(explanation), renderDecision(explanation, room)]
      : renderOcm(explanation, room)),
    renderWorks(explanation),
    renderRelease(explanation, room),
    renderMembers(explanation),
    explanation.scaling ? ["SCALING", ...explanation.scaling] : [],
    renderMoves(explanation),
    ...(hasCause(explanation) ? [] : [renderProblems(explanation)]),
  ];
  const text = sections
    .filter((lines) => lines.length > 0)
    .map(([title, ...lines]) => [title, ...lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`)].join("\n"))
    .join("\n\n");
  return wrapLines(text, width);
}

function renderPolicies({ policy, otherPolicies, requiredBy = [] }: Read): string[] {
  const none = requiredBy.length === 0 ? "none" : "none of its own: it follows the workloads that need it";
  return [
    "POLICY",
    ...(policy ? [renderPolicy(policy)] : [none]),
    ...otherPolicies.map((other) => `not ${renderPolicy(other)}`),
  ];
}

function renderPolicy(policy: DeepReadonly<ExplainedPolicy>): string {
  const { kind, namespace, name, priority, selectsBy, reason } = policy;
  const selects = selectsBy === "nothing" ? "" : `, selects it by ${selectsBy}`;
  return `${kind} ${namespace ? `${namespace}/` : ""}${name} (priority ${priority}${selects}): ${reason}`;
}

/** More workloads than that need few objects, such as the default pull Secret of a namespace. */
const MAX_REQUIRERS = 20;

function renderRequirers({ requiredBy = [] }: Read): string[] {
  if (requiredBy.length === 0) return [];
  const more = requiredBy.length - MAX_REQUIRERS;
  return [
    "NEEDED BY",
    ...requiredBy.slice(0, MAX_REQUIRERS).map(({ kind = "binding", namespace, name, clusters }) => {
      const title = `${kind} ${namespace ? `${namespace}/` : ""}${name}`;
      return `${title}: ${clusters.length === 0 ? "on no member" : `on ${nameMembers(clusters)}`}`;
    }),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function renderDecision({ decision, requiredBy = [] }: Read, width: number | undefined): string[] {
  // Its members are those of the workloads that need it.
  if (!decision) return requiredBy.length > 0 ? [] : ["CLUSTERS", "not scheduled"];
  const { source, at, affinityName, failedTerms = [], kept, rejected, message, note } = decision;
  const number = (value: number | undefined): string => (value === undefined ? "-" : String(value));
  const rows = [
    ...kept.map(({ cluster, score, available, replicas }) => [
      cluster,
      "kept",
      number(score),
      available === MOST_REPLICAS ? "no limit" : number(available),
      number(replicas),
      "",
    ]),
    ...rejected.map(({ by, reason, count, clusters }) => [
      `${clusters.join(", ")}${count > clusters.length ? ` and ${count - clusters.length} more` : ""}`,
      "rejected",
      "-",
      "-",
      "-",
      `${by}: ${reason}`,
    ]),
  ];
  return [
    `CLUSTERS (${source === "recorded" ? `decided at ${at}` : "computed now: the original decision is not recorded"})`,
    ...(affinityName === undefined ? [] : [`uses the affinity ${affinityName}`]),
    ...failedTerms.map((term) => `affinity ${term.name} failed: ${term.message}`),
    ...(rows.length > 0
      ? [renderTable(["CLUSTER", "VERDICT", "SCORE", "ROOM", "SHARE", "REASON"], rows, 3, width)]
      : message === undefined
        ? ["none: it is finished, and its members have left the fleet"]
        : []),
    ...(message === undefined ? [] : [`no cluster was selected: ${message}`]),
    ...(note === undefined ? [] : [note]),
  ];
}

function renderRelease({ release, members }: Read, width: number | undefined): string[] {
  if (!release) return [];
  const {
    name,
    number,
    strategy,
    previous,
    phase,
    wave,
    waveState: state,
    waves,
    updated,
    ready,
    total,
    waitingFor,
    cause,
  } = release;
  const led = strategy === undefined ? "" : `, strategy ${strategy}`;
  if (phase === "Pending")
    return [
      "RELEASE",
      `the change of the template is not recorded as a release yet${led}: members keep what they have`,
    ];
  const at = waves.findIndex((each) => each.name === wave);
  const given = members.flatMap(({ cluster, release: own }) =>
    own ? [{ name: cluster, wave: own.wave, state: own.state, hasRelease: own.revision === name }] : [],
  );
  return [
    "RELEASE",
    `${name} (number ${number}${led}${previous === undefined ? "" : `, returns to ${previous}`})`,
    `${phase}: ${updated} of ${total} pods updated, ${ready} of them available${waitingFor === undefined ? "" : `; waits for ${withoutCause(waitingFor)}`}`,
    ...(waves.length === 0
      ? []
      : [
          renderTable(
            ["WAVE", "UPDATES UP TO", "STATE", "MEMBERS"],
            waves.map((each, index) => [
              each.name,
              `${each.updated} of ${total}`,
              waveState(
                index,
                { phase, at, waveState: state, hasFailed: cause !== undefined },
                given.filter((member) => each.clusters.includes(member.name)),
              ),
              nameMembers(each.clusters),
            ]),
            3,
            width,
          ),
        ]),
  ];
}

function renderMembers({ members, resource }: Read): string[] {
  return members.length === 0 ? [] : ["MEMBERS", ...members.flatMap((member) => renderMember(member, resource))];
}

/** The replicas of a kind that runs on every node, such as the parallelism of a BroadcastJob, do not count its pods. */
function countText(
  { replicas: asked, autoscaler, status, applied }: DeepReadonly<ExplainedMember>,
  resource: Read["resource"],
): string[] {
  const { kind } = resource;
  const replicas = autoscaler?.replicas ?? asked;
  const {
    desired,
    active,
    succeeded,
    failed,
    matchedPods: matched,
    replicas: running,
  } = isObject(status) ? status : {};
  const numbers = { active, succeeded, failed };
  const pods = Object.entries(numbers).flatMap(([what, count]) =>
    typeof count === "number" && count > 0 ? [`${count} ${what}`] : [],
  );
  if (runsOnEveryNode(resource)) return [...(typeof desired === "number" ? [`${desired} nodes`] : []), ...pods];
  if (kind === Job.kind) return [...(replicas === undefined ? [] : [`parallelism ${replicas}`]), ...pods];
  // Their rules give a number, as Karmada's do, and nothing of them is replicated.
  if (kind === Pod.kind) return [];
  if (kind === SidecarSet.kind)
    return typeof matched === "number" ? [`matches ${matched} ${matched === 1 ? "pod" : "pods"}`] : [];
  if (replicas === undefined) return [];
  // A member that has not taken its share has the copy from before.
  const isOther = applied === false && typeof running === "number" && running !== replicas;
  return [`${replicas} ${replicas === 1 ? "replica" : "replicas"}${isOther ? ` (runs ${running})` : ""}`];
}

const REPLICAS = "spec.replicas";

function renderMember(member: DeepReadonly<ExplainedMember>, resource: Read["resource"]): string[] {
  const { cluster, state, applied, health, message, divided, overridden, overridePolicies, drift, stale } = member;
  const { onMember = [], ruleGives = [], onMemberBy, autoscaler, unhealthy, failedRule, held, release } = member;
  const facts = [
    ...countText(member, resource),
    ...(state === "leaving" ? ["being left"] : []),
    ...(applied === false ? [] : [applied ? "applied" : "not applied yet"]),
    ...(unhealthy !== undefined
      ? [`${failedRule !== undefined ? "health unknown" : "not healthy"}: ${unhealthy}`]
      : health === undefined
        ? []
        : // A partition, OnDelete or minReadySeconds, which Karmada's rules do not know.
          [health === "Unhealthy" ? (held ?? "unhealthy by its kind's rule only") : healthText(health, resource)]),
    ...(stale ? ["last known numbers"] : []),
    // The message says why.
    ...(applied === false ? ["not applied"] : []),
  ];
  return [
    `${cluster}: ${facts.join(", ")}${message ? `: ${message}` : ""}`,
    ...divided.map(
      (field) =>
        `  divided     ${renderField(field)}${isOlderTemplate(field) ? ` (${release ? "held back by the release" : "rolled back by partition"})` : ""}`,
    ),
    ...(release?.behind === undefined ? [] : [`  release     ${release.behind}`]),
    ...overridden.map((field) => `  overridden  ${renderField(field)}`),
    ...(overridePolicies.length > 0 ? [`  by          ${overridePolicies.join(", ")}`] : []),
    ...(drift ? [`  drift       ${drift}`] : []),
    ...onMember
      .filter(({ path }) => !autoscaler || path !== REPLICAS)
      .map((field) => `  on member   ${renderField(field)}`),
    ...ruleGives.map((field) => `  rule gives  ${renderField(field)}, when the hub next writes the copy`),
    ...(autoscaler
      ? [`  on member   ${REPLICAS}: ${autoscaler.asked} → ${autoscaler.replicas}, left to ${autoscaler.name} there`]
      : []),
    ...(onMemberBy ? [`  by          the Retain rule of ${onMemberBy}: ${whoDecides(member)}`] : []),
  ];
}

/** A rule keeps what the member has, or has values of its own. */
function whoDecides({ onMember = [], ruleGives = [], ruleSets = [] }: DeepReadonly<ExplainedMember>): string {
  if (ruleSets.length === 0) return "the member decides";
  const isAllSet = [...onMember, ...ruleGives].every(({ path }) => ruleSets.includes(path));
  return isAllSet ? "the rule decides" : `the rule decides ${ruleSets.join(", ")}, the member the others`;
}

/** A copy has another pod template only where a release holds it back, or the partition rolls pods back. */
const isOlderTemplate = ({ path }: DeepReadonly<FieldChange>): boolean => path.startsWith("spec.template.");

/** The rule of a kind that runs pods to completion does not see whether they start. */
function healthText(health: string, resource: Read["resource"]): string {
  if (health === "Unknown") return "health unknown";
  return health === "Healthy" && (runsToCompletion(resource) || isScheduled(resource))
    ? "healthy by its kind's rule"
    : health.toLowerCase();
}

function renderMoves({ moves, leaving }: Read): string[] {
  if (moves.length + leaving.length === 0) return [];
  const text = (value: unknown): string =>
    typeof value === "string" ? value : Array.isArray(value) ? value.join(" ") : "";
  return [
    "MOVES",
    ...leaving.map(
      ({ cluster, reason, producer, message, since }) =>
        `since ${since ?? "now"}: leaving ${cluster}: ${reason} (${producer})${message ? `: ${message}` : ""}`,
    ),
    ...moves
      .toReversed()
      .map(
        (move) =>
          `${text(move["ended"])}: left ${text(move["from"])} for ${text(move["after"]) || "nowhere"}: ` +
          `${text(move["cause"])} (${text(move["actor"])}), ${text(move["ending"])}`,
      ),
  ];
}

const hasCause = ({ problems, waiting = [] }: SeenExplanation): boolean => problems.length + waiting.length > 0;

function renderNotChecked({ notChecked = [] }: SeenExplanation): string[] {
  return notChecked.length === 0 ? [] : ["NOT CHECKED", ...notChecked];
}

function renderProblems({ problems, waiting = [], notChecked = [] }: SeenExplanation): string[] {
  if (problems.length === 0) {
    const none = `none${waiting.length === 0 ? "" : " yet"}${notChecked.length === 0 ? "" : " in what was checked"}`;
    return ["PROBLEMS", waiting.length === 0 ? none : `${none}; this may pass: ${waiting.join("; ")}`];
  }
  return ["PROBLEMS", ...problems.flatMap(({ what, try: remedy }) => [what, `  → ${remedy}`])];
}

/** Reports releases that failed or wait, and strategies and budgets that do not do what they say. */
import {
  formatLabelSelector,
  HUB,
  labelSelectorOf,
  matchesLabels,
  parseApiVersion,
  isForbidden,
} from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { createKindResolver, eachObject, find, UnknownKindError } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import {
  FleetDisruptionBudget,
  FleetRollout,
  hasOwnPartition,
  isReleasable,
  nextOpening,
  RECORD_FAILED,
  RolloutStrategy,
  UNSETTLED_RELEASES,
} from "@flotilla/flotilla";
import { Cluster, ResourceBinding } from "@flotilla/karmada";
import { Event, Secret } from "@flotilla/kubernetes";
import { createReleaseCollector } from "../../health/collect-releases.ts";
import type { ReportedRelease } from "../../health/collect-releases.ts";
import { failingNow, ofExisting, readRuleEvents } from "../../health/rule-events.ts";
import type { RuleEvent } from "../../health/rule-events.ts";
import { createObjectReader } from "../../status/object-reader.ts";
import { wordOf } from "../../members/served-types.ts";
import { defineCheck, listed } from "../doctor-check.ts";
import type { DoctorContext } from "../context.ts";
import type { DoctorFinding } from "../doctor-check.ts";
import { counted } from "../../text-layout.ts";

/** What a selector selects. */
export interface Selected {
  /** `CloneSet web`, of kinds that are released. */
  names: readonly string[];
  /** Those whose own partition leads their release. */
  ownPartition: readonly string[];
}

interface ReleaseFacts {
  reports: readonly ReportedRelease[];
  active: number;
  strategies: readonly DeepReadonly<RolloutStrategy>[];
  budgets: readonly DeepReadonly<FleetDisruptionBudget>[];
  clusters: readonly DeepReadonly<Cluster>[];
  /** By kind, namespace and name of the strategy or budget; absent if it could not be read. */
  selected: ReadonlyMap<string, Selected>;
  /** `shop/token`: Secrets that gates name and that do not exist. */
  missingSecrets: ReadonlySet<string>;
  /** Changes of templates that the hub could not record. */
  unrecorded: readonly RuleEvent[];
  unseen: readonly string[];
}

type Selecting = DeepReadonly<RolloutStrategy> | DeepReadonly<FleetDisruptionBudget>;
type Strategy = DeepReadonly<RolloutStrategy>;

/** A list for each selector and each kind that is propagated from its namespace. */
const MAX_LISTS = 200;
/** Enough to see whether selectors overlap. */
const MAX_SELECTED = 500;
const IMAGE_PULL_JOB = "ImagePullJob";

export const releasesCheck = defineCheck<ReleaseFacts>({
  name: "releases",
  summary: "releases make progress, and strategies and disruption budgets select workloads",
  reports:
    "A problem for each FleetRollout that failed, is rolled back or stands still, and for one that waits " +
    "for a gate that does not answer or never opens, and for a change of a template that the hub cannot " +
    "record as a release; a warning for one that waits for an approval or that is paused. A warning for " +
    "each RolloutStrategy that selects no propagated template, that selects one which another strategy " +
    "releases or whose own partition leads its release, with a wave that selects no member, or with a " +
    "window that never opens; a problem for one whose gate names a Secret or a member that does not exist, " +
    "or needs ImagePullJobs on members that do not serve them. A warning for each FleetDisruptionBudget " +
    "that selects nothing, or that allows no pod to be unavailable even when all are available.",
  async gather(context) {
    const { client, clock, signal, lists } = context;
    const reader = createObjectReader(client, signal);
    const collector = createReleaseCollector(clock.now());
    await reader.each(FleetRollout, collector.see, { fieldSelector: UNSETTLED_RELEASES });
    if (reader.notShown.size > 0)
      throw new FlotillaError("Forbidden", `you are not allowed to list ${FleetRollout.plural}`);
    const { reports, active, unseen } = await collector.take(client, signal);
    const [strategies, budgets] = await Promise.all([lists.all(RolloutStrategy), lists.all(FleetDisruptionBudget)]);
    // On a hub without releases nothing more is read.
    const isUsed = strategies.length + budgets.length > 0;
    const [bindings, clusters] = isUsed
      ? await Promise.all([lists.all(ResourceBinding), lists.all(Cluster)])
      : [[], []];
    const selection = await readSelected(client, [...strategies, ...budgets], bindings, signal);
    const secrets = await readMissingSecrets(strategies, context);
    const unrecorded = isUsed
      ? await ofExisting(
          failingNow(
            await readRuleEvents((fieldSelector) => lists.some(Event, { fieldSelector }), [RECORD_FAILED]),
            clock.now(),
          ),
          client,
          signal,
        )
      : [];
    return {
      reports,
      active: active.length,
      strategies,
      budgets,
      clusters,
      selected: selection.selected,
      missingSecrets: secrets.missing,
      unrecorded,
      unseen: [...unseen, ...selection.unseen, ...secrets.unseen],
    };
  },
  judge(facts, { nowMs }) {
    const { reports, active, strategies, budgets, unrecorded, unseen } = facts;
    const findings = [
      ...unrecorded.map(({ object, message }): DoctorFinding => ({
        severity: "problem",
        about: object,
        seen: message,
        fix: "Correct what rejects the FleetRollout; members keep what they have until then.",
        commands: ["flotilla doctor --only webhooks"],
      })),
      ...reports.map(findingOfRelease),
      ...strategies.flatMap((strategy) => strategyFindings(strategy, facts, nowMs)),
      ...budgets.flatMap((budget) => budgetFindings(budget, facts)),
    ];
    return {
      seen: `${counted(active, "unsettled release")}, ${counted(strategies.length, "strategy", "strategies")}, ${counted(budgets.length, "disruption budget")}`,
      findings,
      unseen,
    };
  },
});

const idOf = ({ kind, metadata }: Selecting): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

function findingOfRelease({ state, what, try: remedy, target }: ReportedRelease): DoctorFinding {
  const where = target.namespace ? ` -n ${target.namespace}` : "";
  return {
    severity: state === "waiting" ? "warning" : "problem",
    about: `${target.kind} ${target.namespace ? `${target.namespace}/` : ""}${target.name}`,
    seen: what,
    fix: `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`,
    commands: [
      `flotilla rollout status ${target.kind.toLowerCase()}/${target.name}${where}`,
      `flotilla why ${wordOf(target)}/${target.name}${where}`,
    ],
  };
}

function findingOf(object: Selecting, severity: DoctorFinding["severity"], seen: string, fix: string): DoctorFinding {
  const { metadata, kind } = object;
  const where = metadata.namespace ? ` -n ${metadata.namespace}` : "";
  return {
    severity,
    about: idOf(object),
    seen,
    fix,
    commands: [`kubectl get ${kind.toLowerCase()} ${metadata.name}${where} -o yaml`],
  };
}

function strategyFindings(strategy: Strategy, facts: ReleaseFacts, nowMs: number): DoctorFinding[] {
  const { selected, strategies, clusters, missingSecrets } = facts;
  const { metadata, spec } = strategy;
  const own = selected.get(idOf(strategy));
  const warn = (seen: string, fix: string): DoctorFinding => findingOf(strategy, "warning", seen, fix);
  const fail = (seen: string, fix: string): DoctorFinding => findingOf(strategy, "problem", seen, fix);
  const findings: DoctorFinding[] = [];
  if (own?.names.length === 0)
    findings.push(
      warn(
        "It selects no template that is propagated from its namespace, so it leads no release.",
        "Compare spec.selector with the labels of the templates themselves, not of their pods.",
      ),
    );
  if (own && own.ownPartition.length > 0)
    findings.push(
      warn(
        `It selects ${listed(own.ownPartition)}, whose own partition leads the release, so its waves do not apply there.`,
        "Remove the partition from the template, or the template from the selector.",
      ),
    );
  for (const other of strategies) {
    if (other.metadata.namespace !== metadata.namespace || other.metadata.name >= metadata.name) continue;
    const both = (selected.get(idOf(other))?.names ?? []).filter((name) => own?.names.includes(name));
    if (both.length > 0)
      findings.push(
        warn(
          `It selects ${listed(both)} as RolloutStrategy ${other.metadata.name} does, which applies: it is the first by name.`,
          "Let each template be selected by one strategy.",
        ),
      );
  }
  for (const wave of spec.waves) {
    const chosen = wave.clusters && clusters.filter((cluster) => selectsCluster(wave, cluster));
    if (chosen?.length === 0)
      findings.push(
        warn(`Its wave ${wave.name} selects no member, so it updates nothing.`, "Correct spec.waves[].clusters."),
      );
    const members = (chosen ?? clusters).map(({ metadata: { name } }) => name);
    for (const [when, gate] of gatesOf(wave)) {
      const at = `the gate ${when} wave ${wave.name}`;
      if (gate.window && nextOpening(gate.window, nowMs) === undefined)
        findings.push(warn(`The window of ${at} never opens.`, "Name a day of the week, and a time zone that exists."));
      const token = gate.metric?.bearerToken?.name ?? gate.webhook?.bearerToken?.name;
      if (token !== undefined && missingSecrets.has(`${metadata.namespace ?? ""}/${token}`))
        findings.push(
          fail(`Secret ${token} of ${at} does not exist, so the gate never opens.`, "Create it in the namespace."),
        );
      const runner = gate.job?.cluster;
      if (runner !== undefined && !clusters.some((cluster) => cluster.metadata.name === runner))
        findings.push(
          fail(`The Job of ${at} runs on ${runner}, which is not a member.`, "Name a member in job.cluster."),
        );
      const without = gate.images ? members.filter((name) => !servesImagePulls(clusters, name)) : [];
      if (without.length > 0)
        findings.push(
          fail(
            `The images of ${at} cannot be pulled before: ${listed(without)} ${without.length === 1 ? "does" : "do"} not serve ImagePullJobs of OpenKruise.`,
            "Install OpenKruise there, or remove the gate.",
          ),
        );
    }
  }
  return findings;
}

type Wave = Strategy["spec"]["waves"][number];

const gatesOf = ({ before = [], after = [] }: Wave): (readonly [string, NonNullable<Wave["before"]>[number]])[] => [
  ...before.map((gate) => ["before", gate] as const),
  ...after.map((gate) => ["after", gate] as const),
];

function selectsCluster({ clusters }: Wave, { metadata }: DeepReadonly<Cluster>): boolean {
  if (!clusters) return true;
  const { names, matchLabels, matchExpressions } = clusters;
  return (
    (names === undefined || names.includes(metadata.name)) &&
    matchesLabels(labelSelectorOf({ matchLabels, matchExpressions }), metadata.labels ?? {})
  );
}

/** A member that reports no kinds yet may serve it. */
function servesImagePulls(clusters: readonly DeepReadonly<Cluster>[], name: string): boolean {
  const served = clusters.find(({ metadata }) => metadata.name === name)?.status?.apiEnablements ?? [];
  return served.length === 0 || served.some(({ resources }) => resources?.some(({ kind }) => kind === IMAGE_PULL_JOB));
}

function budgetFindings(
  budget: DeepReadonly<FleetDisruptionBudget>,
  { selected, reports }: ReleaseFacts,
): DoctorFinding[] {
  const { expected = 0, limit, allowed = 0 } = budget.status ?? {};
  const own = selected.get(idOf(budget));
  if (own?.names.length === 0)
    return [
      findingOf(
        budget,
        "warning",
        "It selects no template that is propagated from its namespace, so it limits nothing.",
        "Compare spec.selector with the labels of the templates themselves, not of their pods.",
      ),
    ];
  if (limit === 0 && expected > 0)
    return [
      findingOf(
        budget,
        "warning",
        `It allows none of ${counted(expected, "pod")} to be unavailable, so no release of its workloads can make progress.`,
        "Allow at least one pod in spec.maxUnavailable, or fewer in spec.minAvailable.",
      ),
    ];
  const waiting = reports.filter(
    ({ budget: name, target }) => name === budget.metadata.name && target.namespace === budget.metadata.namespace,
  );
  if (waiting.length === 0 || allowed > 0) return [];
  const { available = 0, claims = [] } = budget.status ?? {};
  return [
    findingOf(
      budget,
      "problem",
      `It blocks ${listed(waiting.map(({ release }) => release))}: ${expected - available} of ` +
        `${counted(expected, "pod")} are unavailable or cannot be observed, ${limit ?? 0} may ` +
        `be${claims.length > 0 ? `, and ${listed(claims.map(({ holder, pods }) => `${holder} draws ${pods}`))}` : ""}.`,
      "Bring the unavailable pods back, or raise the budget.",
    ),
  ];
}

/** What each selector selects, among the kinds that are propagated from its namespace. */
async function readSelected(
  client: Client,
  objects: readonly Selecting[],
  bindings: readonly DeepReadonly<ResourceBinding>[],
  signal: AbortSignal,
): Promise<{ selected: Map<string, Selected>; unseen: string[] }> {
  const resolver = createKindResolver({ client, cluster: HUB });
  const kinds = new Map<string, Map<string, { apiVersion: string; kind: string }>>();
  for (const { metadata, spec } of bindings) {
    const { apiVersion, kind } = spec.resource;
    const known = kinds.get(metadata.namespace ?? "") ?? new Map<string, { apiVersion: string; kind: string }>();
    kinds.set(metadata.namespace ?? "", known);
    if (isReleasable({ apiVersion, kind, metadata: { namespace: metadata.namespace, name: "" } }))
      known.set(`${parseApiVersion(apiVersion).group}/${kind}`, { apiVersion, kind });
  }
  const selected = new Map<string, Selected>();
  const unseen = new Set<string>();
  let lists = 0;
  for (const object of objects) {
    const { namespace = "" } = object.metadata;
    const found: DeepReadonly<KubernetesObject>[] = [];
    let isWhole = true;
    for (const ref of kinds.get(namespace)?.values() ?? []) {
      if (++lists > MAX_LISTS) {
        unseen.add(`what further strategies and budgets select: only ${MAX_LISTS} lists are read`);
        isWhole = false;
        break;
      }
      try {
        const labelSelector = formatLabelSelector(labelSelectorOf(object.spec.selector));
        const kind = await resolver.resolve(ref);
        for await (const item of eachObject(client, kind, { cluster: HUB, namespace, labelSelector, signal }))
          if (found.push(item) >= MAX_SELECTED) break;
      } catch (error) {
        if (error instanceof UnknownKindError) continue;
        if (!isForbidden(error)) throw error;
        isWhole = false;
        unseen.add(
          `what strategies and budgets select of ${ref.kind}: you are not allowed to list them in ${namespace}`,
        );
      }
    }
    if (!isWhole) continue;
    const nameOf = ({ kind, metadata }: DeepReadonly<KubernetesObject>): string => `${kind} ${metadata.name}`;
    selected.set(idOf(object), {
      names: found.map(nameOf),
      ownPartition: object.kind === RolloutStrategy.kind ? found.filter(hasOwnPartition).map(nameOf) : [],
    });
  }
  return { selected, unseen: [...unseen] };
}

async function readMissingSecrets(
  strategies: readonly Strategy[],
  { client, signal }: Pick<DoctorContext, "client" | "signal">,
): Promise<{ missing: Set<string>; unseen: string[] }> {
  const named = new Set(
    strategies.flatMap(({ metadata, spec }) =>
      spec.waves
        .flatMap(gatesOf)
        .flatMap(([, gate]) => gate.metric?.bearerToken?.name ?? gate.webhook?.bearerToken?.name ?? [])
        .map((name) => `${metadata.namespace ?? ""}/${name}`),
    ),
  );
  const missing = new Set<string>();
  const unseen: string[] = [];
  for (const place of named) {
    const [namespace = "", name = ""] = place.split("/");
    try {
      const secret = await find(client, Secret, { cluster: HUB, namespace, name }, { signal });
      if (!secret) missing.add(place);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unseen.push(`whether Secret ${place} of a gate exists: you are not allowed to read it`);
    }
  }
  return { missing, unseen };
}

/**
 * The FleetRollouts of a hub by template, and which revision each member of a template may have. Dispatch reads the latter.
 *
 * Reads: RolloutStrategy, Rollout, FleetRollout.
 * Writes: nothing.
 */
import { gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { ObjectKey } from "@flotilla/client";
import { informerSource, keyOf } from "@flotilla/controller-runtime";
import type { Informer, Source } from "@flotilla/controller-runtime";
import { bindingName } from "@flotilla/karmada";
import { partitionOf } from "@flotilla/openkruise";
import type { Rollout as KruiseRollout } from "@flotilla/openkruise";
import type { Releases } from "../propagation/create-propagation.ts";
import type { MemberRelease, TemplateRelease } from "../propagation/dispatch/release-copies.ts";
import { compileLabelSelector } from "../propagation/policies/label-selector.ts";
import { releaseDigest } from "../propagation/templates/released-part.ts";
import type { FleetRollout } from "./kinds/fleet-rollout.ts";
import type { RolloutStrategy } from "./kinds/rollout-strategy.ts";
import { leadsFleet, refusalOf, returnsInSteps, strategyOfLead } from "./kruise/lead-release.ts";
import type { ReleaseLead } from "./plan/plan-releases.ts";
import { describeStanding, standingOf } from "./release-standing.ts";

type Template = DeepReadonly<KubernetesObject>;
type Rollout = DeepReadonly<FleetRollout>;

const NONE: readonly Rollout[] = [];

const BY_TARGET = "rollout.target";
const BY_WORKLOAD = "rollout.workload";
const BY_BINDING = "rollout.binding";

/** Names a template. */
interface TemplateRef {
  apiVersion: string;
  kind: string;
  namespace?: string;
  name: string;
}

export interface ReleaseIndex extends Releases {
  /** Whether a strategy of its namespace may select this template, or it has releases; cheap, because most have neither. */
  mayHaveReleases(ref: TemplateRef): boolean;
  /** The releases of a template that strategies lead, the newest first. */
  rolloutsOf(template: Template): readonly Rollout[];
  /** Releases of any source, the newest first. */
  allOf(template: Template): readonly Rollout[];
  /** The RolloutStrategy that selects the template, or that of the Rollout that leads it. */
  strategyOf(template: Template): DeepReadonly<RolloutStrategy> | undefined;
  /** The Rollout from which the strategy is derived; a RolloutStrategy that selects the template comes first. */
  leadOf(template: Template): ReleaseLead | undefined;
  /** The Rollouts that name the workload of a binding. */
  leadsOfBinding(key: ObjectKey): ObjectKey[];
  get(namespace: string, name: string): Rollout | undefined;
}

/** A release that changes nothing any more by itself. */
export const isFinished = ({ status }: Rollout): boolean =>
  status?.phase === "Succeeded" ||
  status?.phase === "Superseded" ||
  status?.phase === "RolledBack" ||
  status?.phase === "Failed";

/** A template whose own partition holds pods back leads its release itself (docs/adr/0017). */
export function hasOwnPartition(template: Template): boolean {
  const { group } = parseApiVersion(template.apiVersion);
  if (group !== "apps.kruise.io" && group !== "apps") return false;
  const partition = partitionOf(template);
  return partition !== undefined && partition !== 0 && partition !== "0%" && partition !== "0";
}

/** A Secret would be copied in plain into an object that more people may read. */
export const isReleasable = ({ apiVersion, kind, metadata }: Template): boolean =>
  Boolean(metadata.namespace) && !(apiVersion === "v1" && kind === "Secret") && kind !== "Job" && kind !== "Pod";

export function createReleaseIndex({
  hub,
  rollouts,
  strategies,
  leads,
}: {
  hub: string;
  rollouts: Informer<FleetRollout>;
  strategies: Informer<RolloutStrategy>;
  leads: Informer<KruiseRollout>;
}): ReleaseIndex {
  leads.addIndex(BY_WORKLOAD, ({ metadata, spec: { workloadRef } }) => [
    targetId(
      metadata.namespace ?? "",
      parseApiVersion(workloadRef.apiVersion).group,
      workloadRef.kind,
      workloadRef.name,
    ),
  ]);
  rollouts.addIndex(BY_TARGET, ({ metadata, spec: { target } }) => [
    targetId(metadata.namespace ?? "", parseApiVersion(target.apiVersion).group, target.kind, target.name),
  ]);
  leads.addIndex(BY_BINDING, ({ metadata, spec: { workloadRef } }) => [
    `${metadata.namespace}/${bindingName(workloadRef.kind, workloadRef.name)}`,
  ]);
  const selectors = new WeakMap<object, ReturnType<typeof compileLabelSelector>>();

  function allOf(template: Template): readonly Rollout[] {
    // Most templates have no release, and are asked for at every report of a member.
    if (rollouts.isEmpty) return NONE;
    const { group, kind } = gvkOf(template);
    const { namespace = "", name, uid } = template.metadata;
    const found = rollouts.by(BY_TARGET, targetId(namespace, group, kind, name));
    return found
      .filter(({ spec }) => spec.target.uid === undefined || spec.target.uid === uid)
      .toSorted((a, b) => b.spec.number - a.spec.number);
  }
  function rolloutsOf(template: Template): readonly Rollout[] {
    const all = allOf(template);
    return all.length === 0 ? all : all.filter(({ spec }) => spec.source === "Strategy");
  }

  /** A workload has one Rollout; where two were stored before that was checked, the first by name. */
  function leadOf(template: Template): DeepReadonly<KruiseRollout> | undefined {
    if (leads.isEmpty) return undefined;
    const { group, kind } = gvkOf(template);
    const { namespace = "", name } = template.metadata;
    const found = leads.by(BY_WORKLOAD, targetId(namespace, group, kind, name));
    return found.length === 0
      ? undefined
      : found.filter(leadsFleet).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  }

  function strategyOf(template: Template): DeepReadonly<RolloutStrategy> | undefined {
    if (!isReleasable(template) || hasOwnPartition(template)) return undefined;
    const selected = selectedBy(template);
    if (selected) return selected;
    const lead = leadOf(template);
    return lead && strategyOfLead(lead);
  }

  function selectedBy(template: Template): DeepReadonly<RolloutStrategy> | undefined {
    if (strategies.isEmpty) return undefined;
    return strategies
      .list({ cluster: hub, namespace: template.metadata.namespace })
      .filter((strategy) => {
        const { selector } = strategy.spec;
        const test = selectors.get(selector) ?? compileLabelSelector(selector);
        selectors.set(selector, test);
        return strategy.metadata.deletionTimestamp === undefined && test(template.metadata.labels);
      })
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  }

  const get = (namespace: string, name: string): Rollout | undefined => rollouts.get({ cluster: hub, namespace, name });

  return {
    mayHaveReleases({ apiVersion, kind, namespace = "", name }) {
      if (!strategies.isEmpty && strategies.list({ cluster: hub, namespace }).length > 0) return true;
      if (leads.isEmpty && rollouts.isEmpty) return false;
      const id = targetId(namespace, parseApiVersion(apiVersion).group, kind, name);
      return leads.by(BY_WORKLOAD, id).length > 0 || rollouts.by(BY_TARGET, id).length > 0;
    },
    rolloutsOf,
    allOf,
    strategyOf,
    leadOf(template) {
      const mayLead = isReleasable(template) && !hasOwnPartition(template) && !selectedBy(template);
      const lead = mayLead ? leadOf(template) : undefined;
      return (
        lead && {
          name: lead.metadata.name,
          refusal: refusalOf(lead),
          returnsInSteps: returnsInSteps(lead),
        }
      );
    },
    leadsOfBinding: ({ cluster, namespace, name }) =>
      leads.by(BY_BINDING, `${namespace}/${name}`).map((lead) => keyOf(cluster, lead)),
    get,
    of(template) {
      if (!isReleasable(template)) return undefined;
      const strategy = strategyOf(template);
      const [newest] = rolloutsOf(template);
      if (!newest) return strategy ? "pending" : undefined;
      if (newest.spec.revision !== releaseDigest(template))
        return strategy || (!isFinished(newest) && !hasOwnPartition(template)) ? "pending" : undefined;
      if (!strategy && newest.status?.phase === "Succeeded") return undefined;
      return newest.status?.clusters ? releaseFrom(newest, get) : "pending";
    },
    standingOf(template) {
      if (!isReleasable(template)) return undefined;
      const [newest] = rolloutsOf(template);
      if (!newest) return undefined;
      if (newest.spec.revision !== releaseDigest(template))
        return strategyOf(template) || !(isFinished(newest) || hasOwnPartition(template)) ? "pending" : undefined;
      if (newest.status?.phase === "Succeeded" && !strategyOf(template)) return undefined;
      const { namespace = "" } = template.metadata;
      return standingOf(newest, (name) => get(namespace, name));
    },
    standings: (): Source<ObjectKey> =>
      informerSource(rollouts, ({ cluster, object, old, deleted }) =>
        deleted ||
        !old ||
        isAssignedDifferently(old, object) ||
        describeStanding(old).message !== describeStanding(object).message
          ? [bindingKeyOfRollout(cluster, object)]
          : [],
      ),
    changes: (): Source<ObjectKey> =>
      informerSource(rollouts, ({ cluster, object, old, deleted }) =>
        deleted || !old || isAssignedDifferently(old, object) ? [bindingKeyOfRollout(cluster, object)] : [],
      ),
  };
}

const targetId = (namespace: string, group: string, kind: string, name: string): string =>
  `${namespace}/${group}/${kind}/${name}`;

export function bindingKeyOfRollout(cluster: string, { metadata, spec }: Rollout): ObjectKey {
  return { cluster, namespace: metadata.namespace ?? "", name: bindingName(spec.target.kind, spec.target.name) };
}

/** Every member has a revision that is known; `pending` where one is not, so that members keep what they have. */
export function releaseFrom(newest: Rollout, get: ReleaseIndex["get"]): TemplateRelease | "pending" {
  const { namespace = "", name } = newest.metadata;
  const entries = new Map((newest.status?.clusters ?? []).map((entry) => [entry.name, entry]));
  const fallback = newest.status?.phase === "Succeeded" ? name : (newest.spec.previous ?? name);
  const known = new Map<string, Rollout>();
  const rolloutOf = (revision: string): Rollout | undefined => (revision === name ? newest : get(namespace, revision));
  const needed = Array.from(entries.values(), ({ revision, kept }) =>
    kept === undefined ? [revision] : [revision, rolloutOf(revision)?.spec.previous ?? revision],
  );
  for (const revision of new Set([fallback, ...needed.flat()])) {
    const rollout = rolloutOf(revision);
    if (rollout?.spec.template === undefined) return "pending";
    known.set(revision, rollout);
  }
  return {
    of(cluster): MemberRelease {
      const entry = entries.get(cluster);
      const revision = entry?.revision ?? fallback;
      const own = known.get(revision) ?? newest;
      const isKeeping = entry?.kept !== undefined && own.spec.previous !== undefined;
      const rollout = isKeeping ? (known.get(own.spec.previous ?? "") ?? own) : own;
      return {
        revision: rollout === own ? revision : rollout.metadata.name,
        part: rollout.spec.template as MemberRelease["part"],
        target: entry?.target,
        keeps: isKeeping ? entry.kept : undefined,
        size: entry?.replicas,
        maxUnavailable: entry?.maxUnavailable,
        isPaused: entry?.paused,
        step: entry?.step,
      };
    },
  };
}

function isAssignedDifferently(before: Rollout, after: Rollout): boolean {
  const assigned = ({ status }: Rollout): unknown =>
    status?.clusters?.map(({ name, revision, target, kept, maxUnavailable, paused, step }) => [
      name,
      revision,
      target ?? null,
      kept ?? null,
      maxUnavailable ?? null,
      paused ?? false,
      step ?? null,
    ]);
  return (
    before.spec.revision !== after.spec.revision ||
    before.status?.phase !== after.status?.phase ||
    !equalJson(assigned(before) ?? null, assigned(after) ?? null)
  );
}

/** Decides which FleetRollouts a template has: one for each revision that was released, the newest for the present one. Pure. */
import { fnv1a32 } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import { releaseDigest, releasedPart } from "../../propagation/templates/released-part.ts";
import type { FleetRollout } from "../kinds/fleet-rollout.ts";
import type { RolloutStrategy } from "../kinds/rollout-strategy.ts";

type Template = DeepReadonly<KubernetesObject>;
type Rollout = DeepReadonly<FleetRollout>;

export interface ReleasesPlan {
  readonly create?: FleetRollout;
  /** Why a changed template is not released. */
  readonly held?: string;
  /** Old ones that no member and no release refers to. */
  readonly remove: readonly Rollout[];
}

/** The wave by which a template returns to the revision of the last release, without steps. */
export const ROLLBACK_WAVE = "rollback";

/** The Rollout from which the strategy is derived. */
export interface ReleaseLead {
  readonly name: string;
  /** What it asks for that cannot be carried out over the fleet: then only what runs is recorded. */
  readonly refusal: string | undefined;
  /** A return to the last complete release follows the steps as well. */
  readonly returnsInSteps: boolean;
}

const DEFAULT_HISTORY = 10;
/** Object names have at most 253 characters; the suffix takes nine. */
const MAX_BASE = 200;

/** `known`: the FleetRollouts that strategies lead, the newest first. `last`: the highest number of any. */
export function planReleases(
  template: Template,
  strategy: DeepReadonly<RolloutStrategy> | undefined,
  known: readonly Rollout[],
  lastNumber: number,
  lead?: ReleaseLead,
): ReleasesPlan {
  const [newest] = known;
  const revision = releaseDigest(template);
  const isUnfinished =
    newest?.status?.phase === undefined ||
    newest.status.phase === "Progressing" ||
    newest.status.phase === "Paused" ||
    newest.status.phase === "RollingBack";
  const isChanged = newest?.spec.revision !== revision;
  if (isChanged && newest && lead?.refusal !== undefined)
    return { held: `the Rollout ${lead.name} asks for ${lead.refusal}`, remove: [] };
  if (isChanged && (strategy || (newest && isUnfinished))) {
    const last = known.find(({ status }) => status?.phase === "Succeeded");
    const hasEnded = newest?.status?.phase === "Succeeded";
    const isReturn = lead !== undefined && !lead.returnsInSteps && !hasEnded && last?.spec.revision === revision;
    const create = makeRollout(
      template,
      revision,
      lastNumber + 1,
      isReturn && strategy ? atOnce(strategy) : strategy,
      newest && (last?.metadata.name ?? newest.metadata.name),
      newest,
    );
    if (lead) create.spec = { ...create.spec, rolloutName: lead.name, strategyName: undefined };
    if (lead) create.metadata = { ...create.metadata, labels: undefined };
    return { create, remove: [] };
  }
  return { remove: outdated(known, strategy?.spec.historyLimit ?? DEFAULT_HISTORY) };
}

/** One wave without gates: kruise-rollout returns to the stable revision without steps. */
const atOnce = (strategy: DeepReadonly<RolloutStrategy>): DeepReadonly<RolloutStrategy> => ({
  ...strategy,
  spec: { ...strategy.spec, waves: [{ name: ROLLBACK_WAVE }] },
});

function makeRollout(
  template: Template,
  revision: string,
  number: number,
  strategy: DeepReadonly<RolloutStrategy> | undefined,
  previous: string | undefined,
  before: Rollout | undefined,
): FleetRollout {
  const { apiVersion, kind } = template;
  const { namespace, name, uid } = template.metadata;
  const { selector: _selector, historyLimit: _limit, ...steps } = strategy?.spec ?? {};
  const led = strategy ? (steps as FleetRollout["spec"]["strategy"]) : before?.spec.strategy;
  return {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetRollout",
    metadata: {
      namespace,
      name: rolloutName(template, revision, number),
      labels: strategy ? { "flotilla.dev/strategy": strategy.metadata.name.slice(0, 63) } : undefined,
      // It ends with its template.
      ownerReferences: [{ apiVersion, kind, name, uid: uid ?? "" }],
    },
    spec: {
      target: { apiVersion, kind, name, uid },
      source: "Strategy",
      number,
      revision,
      previous,
      template: releasedPart(template),
      strategyName: strategy?.metadata.name ?? before?.spec.strategyName,
      rolloutName: strategy ? undefined : before?.spec.rolloutName,
      strategy: led as FleetRollout["spec"]["strategy"],
      paused: false,
      abort: false,
      retry: 0,
    },
  };
}

/** `web-7c9f01ab`: the same for the same release, so that creating it twice creates it once. */
function rolloutName({ kind, metadata }: Template, revision: string, number: number): string {
  const hash = fnv1a32(`${kind}/${metadata.uid}/${number}/${revision}`).toString(16).padStart(8, "0");
  return `${metadata.name.slice(0, MAX_BASE)}-${hash}`;
}

function outdated(known: readonly Rollout[], limit: number): readonly Rollout[] {
  const [newest] = known;
  if (!newest || known.length <= limit) return [];
  const stable = known.find(({ status }) => status?.phase === "Succeeded");
  const used = new Set([
    newest.metadata.name,
    newest.spec.previous,
    stable?.metadata.name,
    ...(newest.status?.clusters ?? []).map(({ revision }) => revision),
  ]);
  return known.slice(limit).filter(({ metadata }) => !used.has(metadata.name));
}

/** The names of the other releases of the same revision. */
export const sameRevision = ({ metadata, spec }: Rollout, all: readonly Rollout[]): ReadonlySet<string> =>
  new Set(
    all.flatMap((each) =>
      each.metadata.name !== metadata.name && each.spec.revision === spec.revision ? [each.metadata.name] : [],
    ),
  );

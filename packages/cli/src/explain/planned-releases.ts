/** The releases of a plan: every wave, with its gates, before it starts. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout, RolloutStrategy, TemplatePlan } from "@flotilla/flotilla";

export interface PlannedRelease {
  /** `CloneSet shop/web` */
  resource: string;
  strategy: string;
  waves: {
    name: string;
    /** Pods of the workload that run the revision when the wave is complete. */
    updated: number;
    clusters: string[];
    /** `approval`, `soak 5m` */
    before?: string[];
    after?: string[];
  }[];
  total: number;
  /** What the release waits for after its first step. */
  waitingFor?: string | undefined;
  onFailure: "Pause" | "Rollback";
}

/** Without those of workloads that are on no member: they change nothing. */
export const releasesIn = (plans: readonly TemplatePlan[]): PlannedRelease[] =>
  plans.flatMap(({ template: { kind, metadata }, release }) =>
    release?.status?.clusters?.length
      ? [
          {
            resource: `${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}`,
            ...planOf(release),
          },
        ]
      : [],
  );

function planOf({ spec, status }: DeepReadonly<FleetRollout>): Omit<PlannedRelease, "resource"> {
  const specOf = new Map(spec.strategy?.waves.map((wave) => [wave.name, wave]));
  return {
    strategy: spec.strategyName ?? (spec.rolloutName === undefined ? "" : `Rollout ${spec.rolloutName}`),
    waves: (status?.plan ?? []).map(({ name, updated, clusters }) => ({
      name,
      updated,
      clusters: [...clusters],
      before: specOf.get(name)?.before?.map(gateText),
      after: specOf.get(name)?.after?.map(gateText),
    })),
    total: status?.total ?? 0,
    waitingFor: status?.waitingFor,
    onFailure: spec.strategy?.failure.action ?? "Pause",
  };
}

type Gate = NonNullable<RolloutStrategy["spec"]["waves"][number]["before"]>[number];

function gateText({ soak, window, ...others }: DeepReadonly<Gate>): string {
  if (soak !== undefined) return `soak ${soak}`;
  if (window) return `window ${window.days?.join(",") ?? "daily"} ${window.start}-${window.end} ${window.timeZone}`;
  return Object.keys(others).find((name) => others[name as keyof typeof others] !== undefined) ?? "";
}

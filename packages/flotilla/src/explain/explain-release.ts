/** Explains the release that a template is in: its waves, what each member may have, and what a person must do. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout } from "../rollout/kinds/fleet-rollout.ts";
import type { ReleaseIndex } from "../rollout/release-index.ts";
import { failureText } from "../rollout/plan/plan-failure.ts";
import { reportRelease, whyBehind } from "../rollout/report-release.ts";
import { releaseDigest } from "../propagation/templates/released-part.ts";
import type { Template } from "../propagation/templates/templates.ts";
import type { ExplainedMember, ExplainedRelease, Problem } from "./explanation.ts";

export interface ReleaseExplanation {
  release?: ExplainedRelease;
  problems: Problem[];
  /** Adds what the release gives each member. */
  membersOf(members: ExplainedMember[]): ExplainedMember[];
}

const NONE: ReleaseExplanation = { problems: [], membersOf: (members) => members };

/** A first FleetRollout only records what ran when a strategy first selected the template. */
const isRelease = ({ spec, status }: DeepReadonly<FleetRollout>): boolean =>
  spec.previous !== undefined || status?.phase !== "Succeeded";

export function explainRelease(
  releases: ReleaseIndex | undefined,
  template: Template,
  nowMs: number,
): ReleaseExplanation {
  const state = releases?.of(template);
  if (!releases || state === undefined) return NONE;
  const [newest] = releases.rolloutsOf(template);
  if (!newest || newest.spec.revision !== releaseDigest(template))
    return { ...NONE, release: pending(releases.strategyOf(template)?.metadata.name, newest) };
  if (!isRelease(newest)) return NONE;
  const entries = new Map((newest.status?.clusters ?? []).map((entry) => [entry.name, entry]));
  const report = reportRelease(newest, nowMs);
  return {
    release: summarise(newest),
    problems: report ? [{ what: report.what, try: report.try }] : [],
    membersOf: (members) =>
      members.map((member) => {
        const entry = entries.get(member.cluster);
        if (!entry) return member;
        const { wave, revision, state: at, updated } = entry;
        return { ...member, release: { wave, revision, state: at, updated, behind: whyBehind(newest, entry) } };
      }),
  };
}

function summarise({ metadata, spec, status }: DeepReadonly<FleetRollout>): ExplainedRelease {
  return {
    name: metadata.name,
    number: spec.number,
    strategy: spec.strategyName ?? (spec.rolloutName === undefined ? undefined : `Rollout ${spec.rolloutName}`),
    previous: spec.previous,
    phase: status?.phase ?? "New",
    wave: status?.wave,
    waveState: status?.waveState,
    waves: (status?.plan ?? []).map(({ name, updated, clusters }) => ({ name, updated, clusters: [...clusters] })),
    updated: status?.updated ?? 0,
    ready: status?.ready ?? 0,
    total: status?.total ?? 0,
    waitingFor: status?.waitingFor,
    cause: status?.failure && failureText(status.failure),
  };
}

/** Until a change has a FleetRollout, members keep what they have. */
const pending = (strategy: string | undefined, before: DeepReadonly<FleetRollout> | undefined): ExplainedRelease => ({
  name: "",
  number: (before?.spec.number ?? 0) + 1,
  strategy,
  previous: before?.metadata.name,
  phase: "Pending",
  waves: [],
  updated: 0,
  ready: 0,
  total: before?.status?.total ?? 0,
});

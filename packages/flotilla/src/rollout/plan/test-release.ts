/** Releases for the unit tests of their planners: `web-2` replaces `web-1` on members of ten pods. */
import { formatTime } from "@flotilla/base";
import type { FleetRollout, FleetRolloutStatus } from "../kinds/fleet-rollout.ts";
import type { StrategySpec } from "../kinds/strategy-fields.ts";
import { NO_STRATEGY } from "./release.ts";
import type { Entry, Release } from "./release.ts";
import type { ObservedMember, ReleaseInput } from "./release-state.ts";

const NOW_MS = Date.parse("2026-05-01T12:00:00Z");
/** A time so many seconds before now. */
export const ago = (seconds: number): string => formatTime(NOW_MS - seconds * 1000);

export const makeMember = (name: string, more: Partial<ObservedMember> = {}): ObservedMember => ({
  name,
  labels: {},
  size: 10,
  isReachable: true,
  isAcknowledged: true,
  updated: 0,
  ready: 0,
  available: more.size ?? 10,
  ...more,
});

export const makeEntry = (name: string, more: Partial<Entry> = {}): Entry => ({
  name,
  revision: "web-1",
  replicas: 10,
  updated: 0,
  ready: 0,
  state: "Waiting",
  ...more,
});

export interface TestRelease {
  members?: readonly ObservedMember[];
  entries?: Entry[];
  status?: Partial<FleetRolloutStatus>;
  strategy?: Partial<Omit<StrategySpec, "failure">> & { failure?: Partial<StrategySpec["failure"]> };
  spec?: Partial<FleetRollout["spec"]>;
  input?: Partial<ReleaseInput>;
}

/** `wakes` has what the planner asked for. */
export function makeRelease(given: TestRelease): Release & { wakes: number[] } {
  const { entries = [], members = entries.map(({ name, replicas: size }) => makeMember(name, { size })) } = given;
  const strategy = {
    ...NO_STRATEGY,
    ...given.strategy,
    failure: { ...NO_STRATEGY.failure, ...given.strategy?.failure },
  };
  const rollout: FleetRollout = {
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "FleetRollout",
    metadata: { name: "web-2", namespace: "shop", generation: 1 },
    spec: {
      target: { apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", name: "web" },
      source: "Strategy",
      number: 2,
      revision: "2",
      previous: "web-1",
      strategy: strategy as StrategySpec,
      paused: false,
      abort: false,
      retry: 0,
      ...given.spec,
    },
  };
  const wakes: number[] = [];
  return {
    input: { rollout, members, updates: { hasPartition: true, takesDown: "budget" }, nowMs: NOW_MS, ...given.input },
    self: "web-2",
    previous: rollout.spec.previous,
    strategy,
    members: new Map(members.map((member) => [member.name, member])),
    entries,
    status: { updated: 0, ready: 0, total: 0, unavailable: 0, phase: "Progressing", ...given.status },
    now: formatTime(NOW_MS),
    events: [],
    wake: (inMs) => void wakes.push(inMs),
    wakes,
  };
}

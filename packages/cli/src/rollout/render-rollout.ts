/** Releases as text: a list, one release with its waves, gates and members, and a history. Pure. */
import { failureText } from "@flotilla/flotilla";
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout } from "@flotilla/flotilla";
import { renderTable } from "../text-table.ts";
import { waveState } from "./wave-state.ts";

type Rollout = DeepReadonly<FleetRollout>;

export const phaseOf = ({ status }: Rollout): string => status?.phase ?? "New";

export const targetOf = ({ spec: { target } }: Rollout): string => `${target.kind.toLowerCase()}/${target.name}`;

const GAP = 2;

export function renderList(rollouts: readonly Rollout[], width?: number): string {
  if (rollouts.length === 0)
    return "no release: a RolloutStrategy that selects a template, or a Rollout that names it, leads its next release";
  return renderTable(
    ["NAMESPACE", "TARGET", "RELEASE", "PHASE", "WAVE", "UPDATED", "WAITING FOR"],
    rollouts.map((rollout) => [
      rollout.metadata.namespace ?? "",
      targetOf(rollout),
      rollout.metadata.name,
      phaseOf(rollout),
      rollout.status?.wave ?? "",
      progressOf(rollout),
      rollout.status?.waitingFor ?? "",
    ]),
    GAP,
    width,
  );
}

const progressOf = ({ status }: Rollout): string => `${status?.updated ?? 0}/${status?.total ?? 0}`;

export function renderRollout(rollout: Rollout, width?: number): string {
  const { spec, status } = rollout;
  const lines = [
    `${targetOf(rollout)} in ${rollout.metadata.namespace}: release ${rollout.metadata.name} (number ${spec.number}, revision ${spec.revision})`,
    `Phase:    ${phaseOf(rollout)}${status?.waitingFor === undefined ? "" : `, waits for ${status.waitingFor}`}`,
    `Pods:     ${status?.updated ?? 0} of ${status?.total ?? 0} updated, ${status?.ready ?? 0} of them ` +
      `available; ${status?.unavailable ?? 0} unavailable or booked`,
    `Strategy: ${spec.source === "Strategy" ? (spec.strategyName ?? ruledBy(spec.rolloutName)) : spec.source}` +
      (spec.previous === undefined ? "" : `, returns to ${spec.previous}`),
  ];
  if (status?.failure)
    lines.push(
      "Failed:   " +
        `${status.failure.reason}${status.failure.wave === undefined ? "" : ` in wave ${status.failure.wave}`} ` +
        `at ${status.failure.time}: ${failureText(status.failure)}`,
    );
  if (status?.plan?.length) lines.push("", renderWaves(rollout, width));
  if (status?.gates?.length) lines.push("", renderGates(rollout, width));
  if (status?.clusters?.length) lines.push("", renderMembers(rollout, width));
  return lines.join("\n");
}

const ruledBy = (rollout: string | undefined): string => (rollout === undefined ? "none" : `Rollout ${rollout}`);

function renderWaves({ metadata, status }: Rollout, width?: number): string {
  const release = {
    phase: status?.phase,
    at: status?.waveIndex ?? 0,
    waveState: status?.waveState,
    hasFailed: status?.failure !== undefined,
  };
  const members = (status?.clusters ?? []).map(({ name, wave, state, revision }) => ({
    name,
    wave,
    state,
    hasRelease: revision === metadata.name,
  }));
  return renderTable(
    ["WAVE", "UPDATES UP TO", "STATE", "MEMBERS"],
    (status?.plan ?? []).map(({ name, updated, clusters }, index) => [
      name,
      `${updated} of ${status?.total ?? 0}`,
      waveState(
        index,
        release,
        members.filter((member) => clusters.includes(member.name)),
      ),
      listed(clusters),
    ]),
    GAP,
    width,
  );
}

const listed = (names: readonly string[]): string =>
  names.length <= 8 ? names.join(", ") : `${names.slice(0, 8).join(", ")} and ${names.length - 8} more`;

function renderGates({ status }: Rollout, width?: number): string {
  return renderTable(
    ["GATE", "WAVE", "STATE", "OPENED BY", "MESSAGE"],
    (status?.gates ?? []).map(({ type, wave, when, state, openedBy, openedAt, message, value }) => [
      type,
      `${when === "Before" ? "before" : "after"} ${wave}`,
      state,
      openedBy === undefined ? "" : `${openedBy}${openedAt === undefined ? "" : ` at ${openedAt}`}`,
      state === "Open" ? (value ?? "") : [value, message].filter((text) => text !== undefined).join(": "),
    ]),
    GAP,
    width,
  );
}

function renderMembers({ metadata, status }: Rollout, width?: number): string {
  return renderTable(
    ["MEMBER", "WAVE", "STATE", "UPDATED", "AVAILABLE", "REVISION", "MESSAGE"],
    (status?.clusters ?? []).map(({ name, wave, state, updated, replicas, ready, target, revision, message }) => [
      name,
      wave ?? "",
      state,
      `${updated}/${target ?? replicas}`,
      `${ready}`,
      revision === metadata.name ? "this" : revision,
      message ?? "",
    ]),
    GAP,
    width,
  );
}

/** The newest last, as in kubectl. */
export function renderHistory(rollouts: readonly Rollout[], width?: number): string {
  return renderTable(
    ["NUMBER", "RELEASE", "REVISION", "PHASE", "STARTED", "FINISHED", "CAUSE"],
    rollouts
      .toSorted((a, b) => a.spec.number - b.spec.number)
      .map(({ metadata, spec, status }) => [
        String(spec.number),
        metadata.name,
        spec.revision.slice(0, 10),
        status?.phase ?? "New",
        status?.startedAt ?? "",
        status?.finishedAt ?? "",
        status?.failure ? failureText(status.failure) : "",
      ]),
    GAP,
    width,
  );
}

/** The state of a release in one line. */
export function progressLine(rollout: Rollout): string {
  const { status } = rollout;
  const where = status?.wave === undefined ? "" : `, wave ${status.wave}`;
  const waits = status?.waitingFor === undefined ? "" : `, waits for ${status.waitingFor}`;
  return `${targetOf(rollout)} ${rollout.metadata.name}: ${phaseOf(rollout)}${where}, ${progressOf(rollout)} updated${waits}`;
}

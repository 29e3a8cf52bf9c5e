/**
 * Simulated pull-mode members: one agent in this process serves them all, with the code that serves a real cluster. It
 * starts with the first of them, so that a fleet without any pays nothing.
 */
import { createAgent } from "@flotilla/flotilla";
import type { Agent, AgentMembers, AgentOptions, LaneFigures, MembershipTimes } from "@flotilla/flotilla";
import { Cluster } from "@flotilla/karmada";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { didYouMean, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Log, Random } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Informers, Manager } from "@flotilla/controller-runtime";
import type { Part } from "./process-parts.ts";

export interface PullMembersOptions {
  hub: string;
  /** Informers of the hub. */
  informers: Informers;
  clientFor(part: string): Client;
  simulated: {
    client: Client;
    informers: Informers;
    isMember(cluster: string): boolean;
    memberFor: AgentMembers["memberFor"];
  };
  origin: AgentOptions["origin"];
  times?: Partial<MembershipTimes>;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface PullMembers extends Part {
  managers(): readonly Manager[];
  /** Figures of members with pending work. */
  lanes(): readonly LaneFigures[];
  isQuiet(): boolean;
  /** Waits for pull-mode members. */
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

export function createPullMembers(options: PullMembersOptions): PullMembers {
  const { hub, informers, clientFor, simulated, origin, times, clock, random, log } = options;
  const { client, isMember, memberFor } = simulated;
  // The id of a member that joined in this process is its name. A logical cluster that an external agent registered is
  // served only by that agent.
  const isOurs = (name: string): boolean =>
    isMember(name) && informers.of(Cluster).get({ cluster: hub, name })?.spec.id === name;
  const members: AgentMembers = {
    serves: isOurs,
    idOf: (cluster) => cluster,
    accessTo: () => ({ client, informers: simulated.informers }),
    memberFor,
    summary: simulated.informers,
    objects: simulated.informers,
    onServed: (report) => simulated.informers.of(CustomResourceDefinition).subscribe(({ cluster }) => report(cluster)),
  };
  let agent: Agent | undefined;
  let stopFollowing = (): void => {};
  return {
    managers: () => (agent ? [agent.manager] : []),
    lanes: () => agent?.lanes() ?? [],
    isQuiet: () => agent?.isQuiet() ?? true,
    start(signal) {
      stopFollowing = informers.of(Cluster).subscribe(({ object }) => {
        if (agent || object.spec.syncMode !== "Pull" || !isOurs(object.metadata.name)) return;
        agent = createAgent({
          hub,
          apis: { karmada: true, ocm: true },
          clientFor,
          members,
          origin,
          times,
          clock,
          random,
          log,
        });
        agent.start(signal).catch((error: unknown) => {
          if (!signal.aborted) log.error("agent of simulated members failed to start", { error });
        });
      });
    },
    async stop() {
      stopFollowing();
      await agent?.stop();
    },
  };
}

/** Throws `UsageError` for members that cannot use pull mode: unknown ones, or members that joined in push mode. */
export function checkPulling(
  pull: readonly string[] | "all",
  members: readonly string[],
  joined: readonly DeepReadonly<Cluster>[],
): void {
  const [wanted, known] = [new Set(pull === "all" ? members : pull), new Set(members)];
  const [unknown] = wanted.difference(known);
  if (unknown !== undefined)
    throw new UsageError(
      `--pull: member '${unknown}' not found${didYouMean(unknown, members)}; this fleet has ${shown(members)}`,
    );
  const pushed = joined
    .filter(({ metadata, spec }) => wanted.has(metadata.name) && spec.syncMode === "Push")
    .map(({ metadata }) => metadata.name);
  const [first] = pushed;
  if (first !== undefined)
    throw new UsageError(
      `--pull: ${shown(pushed)} joined in push mode, and ${pushed.length === 1 ? "it" : "they"} cannot ` +
        `switch in this data directory; start without --pull and run 'flotilla unjoin ${first}' first, or ` +
        "choose another directory with --data DIR",
    );
}

const shown = (names: readonly string[]): string =>
  names.length === 0
    ? "none"
    : names.length > 4
      ? `${names.slice(0, 3).join(", ")} … ${names.at(-1)}`
      : names.join(", ");

/**
 * Simulated members that pull: one agent in this process serves them all, with the code that serves a real cluster. It
 * is started with the first of them, so that a fleet without any pays nothing.
 */
import { createAgent } from "../../agent/index.ts";
import type { Agent, AgentMembers, AgentOptions } from "../../agent/index.ts";
import { Cluster, CustomResourceDefinition } from "../../api/index.ts";
import { UsageError } from "../../base/index.ts";
import type { Clock, DeepReadonly, Log, Random } from "../../base/index.ts";
import { didYouMean } from "../../cli/index.ts";
import type { Client } from "../../client/index.ts";
import type { LaneFigures } from "../../delivery/index.ts";
import type { MembershipTimes } from "../../membership/index.ts";
import type { Informers, Manager } from "../../runtime/index.ts";

export interface PullMembersOptions {
  hub: string;
  /** Of the hub. */
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

export interface PullMembers {
  managers(): readonly Manager[];
  /** How it stands with members that are busy. */
  lanes(): readonly LaneFigures[];
  isQuiet(): boolean;
  /** Waits for members that pull. */
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

export function createPullMembers({
  hub,
  informers,
  clientFor,
  simulated,
  origin,
  times,
  clock,
  random,
  log,
}: PullMembersOptions): PullMembers {
  const { client, isMember, memberFor } = simulated;
  // One that joined in this process has its name for an id. A logical cluster that an agent of its own registered is
  // served by that agent alone.
  const isOurs = (name: string): boolean =>
    isMember(name) && informers.of(Cluster).get({ cluster: hub, name })?.spec.id === name;
  const members: AgentMembers = {
    serves: isOurs,
    idOf: (cluster) => cluster,
    accessTo: () => ({ client, informers: simulated.informers }),
    memberFor,
    summary: simulated.informers,
    objects: simulated.informers,
    onServed: (tell) => simulated.informers.of(CustomResourceDefinition).subscribe(({ cluster }) => tell(cluster)),
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
          faces: { karmada: true, ocm: true },
          clientFor,
          members,
          origin,
          times,
          clock,
          random,
          log,
        });
        agent.start(signal).catch((error: unknown) => {
          if (!signal.aborted) log.error("the agent of simulated members did not start", { error });
        });
      });
    },
    async stop() {
      stopFollowing();
      await agent?.stop();
    },
  };
}

/**
 * Throws `UsageError` for members that are to pull and cannot: there is no such member, or the hub has reached it since
 * it joined.
 */
export function checkPulling(
  pull: readonly string[] | "all",
  members: readonly string[],
  joined: readonly DeepReadonly<Cluster>[],
): void {
  const [wanted, known] = [new Set(pull === "all" ? members : pull), new Set(members)];
  const [unknown] = wanted.difference(known);
  if (unknown !== undefined)
    throw new UsageError(
      `--pull: there is no member '${unknown}'${didYouMean(unknown, members)}; this fleet has ${shown(members)}`,
    );
  const pushed = joined
    .filter(({ metadata, spec }) => wanted.has(metadata.name) && spec.syncMode === "Push")
    .map(({ metadata }) => metadata.name);
  const [first] = pushed;
  if (first !== undefined)
    throw new UsageError(
      `--pull: the hub has reached ${shown(pushed)} since ${pushed.length === 1 ? "it" : "they"} joined in this data directory; start without --pull and 'flotilla unjoin ${first}' first, or choose another directory with --data DIR`,
    );
}

const shown = (names: readonly string[]): string =>
  names.length === 0
    ? "none"
    : names.length > 4
      ? `${names.slice(0, 3).join(", ")} … ${names.at(-1)}`
      : names.join(", ");

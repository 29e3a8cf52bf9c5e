/** `flotilla drain`: moves the workloads of a member to others, each after its replacement is healthy. */
import { ApiError, HUB } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { DRAIN_TAINT } from "@flotilla/flotilla";
import { Cluster, ClusterResourceBinding, executionNamespace, ResourceBinding, Work } from "@flotilla/karmada";
import { Event } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { defineCommand } from "../command.ts";
import { counted } from "../doctor/check.ts";
import { controllersProblem, readControllers } from "../health/controllers-state.ts";
import { readDrainCauses } from "../membership/drain-causes.ts";
import { copiesOn, remainingOn } from "../membership/drain-progress.ts";
import type { Remaining } from "../membership/drain-progress.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { changeTaints } from "../membership/taints.ts";
import type { TaintChange } from "../membership/taints.ts";
import { CORDON } from "./cordon.ts";

const POLL_MS = 500;
/** Pods are read less often than bindings. */
const CAUSES_MS = 15_000;
const MAX_LISTED = 5;
const DRAIN: TaintChange = { type: "add", key: DRAIN_TAINT, effect: "NoExecute" };
/** Event times have whole seconds. */
const SECOND_MS = 1_000;

export const drainCommand = defineCommand({
  name: "drain",
  summary: "move the workloads of a member to others, and keep new ones away",
  details: `Sets the taints of 'flotilla cordon' and ${DRAIN_TAINT}:NoExecute. A copy is removed when its replacement is healthy elsewhere. Workloads that fit no other member stay, and so do those whose policy tolerates the taint, and finished Jobs, which would run again elsewhere; all are listed. 'flotilla plan --without-cluster MEMBER' shows beforehand where everything would go; 'flotilla uncordon MEMBER' ends the drain.`,
  example: [
    { says: "See what would move, and where to.", run: "flotilla plan --without-cluster member2" },
    { says: "Move it, and wait until it has left.", run: "flotilla drain member2" },
    { says: "Let the member get workloads again.", run: "flotilla uncordon member2" },
  ],
  args: [{ name: "MEMBER", description: "the member", required: true, completes: "cluster" }],
  flags: {
    timeout: {
      type: "integer",
      value: "SECONDS",
      default: 600,
      maximum: 86_400,
      description: "how long to wait until everything has left; 0 does not wait",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const [member = ""] = args;
    const { client, close } = await connect(hubKubeconfig(flags, environment));
    try {
      const isNew = await changeTaints(client, member, [CORDON, DRAIN], { clock, signal });
      const missing = controllersProblem(await readControllers({ client, clock, signal }));
      if (missing) output.warn(`${missing.what}: nothing leaves ${member} until controllers run; ${missing.try}`);
      const leaving = missing ? "nothing moves its workloads" : "its workloads are leaving";
      output.say(isNew ? `${member} cordoned; ${leaving}` : `${member} is being drained already`);
      const works = await client.list(ManifestWork, { cluster: HUB, namespace: member, signal });
      if (works.items.length > 0)
        output.warn(
          `${counted(works.items.length, "ManifestWork")} on ${member} stay; a ManifestWorkReplicaSet removes its own when its Placement stops selecting ${member}`,
        );
      const untilMs = clock.now() + flags.timeout * 1000;
      let known: ReadonlySet<string> | undefined;
      let causes: ReadonlyMap<string, string> = new Map();
      let causesAtMs = clock.now() + CAUSES_MS;
      for (;;) {
        const { all, bindings } = await readRemaining(client, member, signal);
        if (!known)
          for (const tolerated of all.filter(({ state }) => state === "stays"))
            output.warn(`${tolerated.resource} stays: ${tolerated.reason}`);
        const remaining = all.filter(({ state }) => state !== "stays");
        const names = new Set(remaining.map(({ resource }) => resource));
        for (const gone of known ? known.difference(names) : []) output.say(`${gone} has left`);
        known = names;
        if (remaining.length === 0) break;
        const isOver = clock.now() >= untilMs;
        if (flags.timeout > 0 && (isOver || clock.now() >= causesAtMs)) {
          causes = await readDrainCauses(member, bindings, { client, clock, signal });
          causesAtMs = clock.now() + CAUSES_MS;
        }
        const lines = remaining.map((each) => lineOf(each, causes));
        if (flags.timeout > 0 && (isOver || remaining.every(({ state }) => state === "blocked")))
          throw new FlotillaError("NotDrained", describe(lines, member, isOver ? flags.timeout : undefined));
        if (flags.timeout === 0) {
          output.say(`${counted(remaining.length, "workload")} still on ${member}; not waiting for them`);
          break;
        }
        output.progress(`waiting for ${counted(remaining.length, "workload")} to leave, ${lines[0] ?? ""}`);
        await sleep(clock, POLL_MS, signal);
      }
      output.progress("");
      output.result({ member, remaining: known.size }, () =>
        known.size === 0
          ? missing
            ? `no binding uses ${member}, as far as the hub knows without running controllers`
            : `${member} is drained: no resource that a policy may move is left there`
          : `run 'flotilla drain ${member}' again to see what is left`,
      );
    } finally {
      output.progress("");
      await close();
    }
  },
});

async function readRemaining(
  client: Client,
  member: string,
  signal: AbortSignal,
): Promise<{ all: Remaining[]; bindings: readonly DeepReadonly<ResourceBinding>[] }> {
  const [cluster, works, namespaced, clusterScoped, events] = await Promise.all([
    find(client, Cluster, { cluster: HUB, name: member }, { signal }),
    client.list(Work, { cluster: HUB, namespace: executionNamespace(member), signal }),
    client.list(ResourceBinding, { cluster: HUB, signal }),
    client.list(ClusterResourceBinding, { cluster: HUB, signal }),
    readEvents(client, signal),
  ]);
  const { timeAdded } = cluster?.spec.taints?.find(({ key }) => key === DRAIN_TAINT) ?? {};
  const sinceMs = timeAdded === undefined ? 0 : Date.parse(timeAdded) - SECOND_MS;
  const bindings = [...namespaced.items, ...(clusterScoped.items as readonly DeepReadonly<ResourceBinding>[])];
  const all = remainingOn(member, bindings, events, sinceMs);
  const named = new Set(all.map(({ resource }) => resource));
  return { all: [...all, ...copiesOn(cluster, works.items).filter(({ resource }) => !named.has(resource))], bindings };
}

/** Events only add reasons, so a user who may not list them is served without. */
async function readEvents(client: Client, signal: AbortSignal): Promise<readonly DeepReadonly<Event>[]> {
  try {
    const fieldSelector = "reason=EvictWorkloadFromClusterFailed";
    return (await client.list(Event, { cluster: HUB, fieldSelector, signal })).items;
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 403) return [];
    throw error;
  }
}

function describe(remaining: readonly string[], member: string, waitedSeconds: number | undefined): string {
  const lines = remaining.slice(0, MAX_LISTED).join("; ");
  const more = remaining.length > MAX_LISTED ? `; and ${remaining.length - MAX_LISTED} more` : "";
  const what =
    waitedSeconds === undefined
      ? `${counted(remaining.length, "workload")} cannot leave ${member}`
      : `${counted(remaining.length, "workload")} still on ${member} after ${waitedSeconds} s`;
  return `${what}: ${lines}${more}. The drain continues; after 'flotilla uncordon ${member}' no other workload leaves, and moves that have begun go on`;
}

function lineOf({ resource, reason, unhealthy }: Remaining, causes: ReadonlyMap<string, string>): string {
  const cause = causes.get(resource) ?? unhealthy;
  return `${resource}: ${reason}${cause === undefined ? "" : ` (${cause})`}`;
}

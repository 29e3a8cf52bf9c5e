/** `flotilla drain`: moves the workloads of a member to others, each after its replacement is healthy. */
import { ApiError, HUB, isNotFound } from "@flotilla/apimachinery";
import { FlotillaError, sleep } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { DRAIN_TAINT, STAYS_UNPLACED } from "@flotilla/flotilla";
import { Cluster, ClusterResourceBinding, executionNamespace, ResourceBinding, Work } from "@flotilla/karmada";
import { Event } from "@flotilla/kubernetes";
import { ManifestWork } from "@flotilla/ocm";
import { defineCommand } from "../command.ts";
import { controllersProblem, readControllers } from "../health/controllers-state.ts";
import { readDrainCauses } from "../membership/drain-causes.ts";
import {
  claimsLeaving,
  copiesOn,
  previewDrain,
  remainingOn,
  renderDrain,
  withMisfits,
} from "../membership/drain-progress.ts";
import type { Remaining } from "../membership/drain-progress.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { changeTaints } from "../membership/taints.ts";
import type { TaintChange } from "../membership/taints.ts";
import { CORDON } from "./cordon.ts";
import { counted } from "../text-layout.ts";

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
  details:
    `Sets the taints of 'flotilla cordon' and ${DRAIN_TAINT}:NoExecute. Namespaced objects leave: each copy ` +
    "is removed when its replacement is healthy elsewhere. Cluster-scoped objects, such as " +
    "CustomResourceDefinitions and ClusterRoles, stay, unless their policy has failover.cluster. Objects " +
    "that fit no other member cannot leave, and stay, and so do those whose policy tolerates the taint, and " +
    "finished Jobs, which would run again elsewhere. What leaves and what stays is listed first; --dry-run " +
    "only lists it. PersistentVolumeClaims leave without their data, so --delete-volume-data is required if " +
    "there are any. 'flotilla plan --without-cluster MEMBER' shows where the workloads would go; 'flotilla " +
    "uncordon MEMBER' ends the drain.",
  example: [
    { says: "See what would leave and what would stay.", run: "flotilla drain member2 --dry-run" },
    { says: "See where the workloads would go.", run: "flotilla plan --without-cluster member2" },
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
    "dry-run": { type: "boolean", description: "list what would leave and what would stay, and change nothing" },
    "delete-volume-data": {
      type: "boolean",
      description: "also move PersistentVolumeClaims, whose data on the member is lost",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const [member = ""] = args;
    const { client, close } = await connect(hubKubeconfig(flags, environment));
    try {
      const taints = [CORDON, DRAIN];
      await changeTaints(client, member, taints, { clock, signal, dryRun: true }); // There may be no such member.
      const seen = await readRemaining(client, member, signal);
      output.progress("checking where its workloads fit");
      const misfits = await readMisfits(client, member, { clock, signal });
      output.progress("");
      if (misfits === undefined)
        output.warn(`where the workloads of ${member} fit was not checked: you may not read what a plan needs`);
      const before = { ...seen, all: withMisfits(seen.all, misfits ?? new Map()) };
      const claims = claimsLeaving(member, before.bindings);
      if (flags["dry-run"]) {
        const works = await readManifestWorks(client, member, signal);
        const preview = {
          member,
          ...previewDrain(before.all),
          losesData: claims,
          // The hub may refuse to say.
          manifestWorks: works ?? null,
          fitsChecked: misfits !== undefined,
        };
        output.result(preview, () =>
          [
            ...renderDrain(member, before.all),
            ...(works?.length ? [renderWorks(member, works.length)] : []),
            ...(claims.length > 0 ? [renderClaims(member, claims)] : []),
          ].join("\n"),
        );
        return;
      }
      if (claims.length > 0 && !flags["delete-volume-data"])
        throw new FlotillaError(
          "LosesData",
          `${renderClaims(member, claims)}; nothing was changed; use --delete-volume-data to drain ${member} nevertheless`,
        );
      for (const line of renderDrain(member, before.all)) output.say(line);
      const isNew = await changeTaints(client, member, taints, { clock, signal });
      const missing = controllersProblem(await readControllers({ client, clock, signal }));
      if (missing) output.warn(`${missing.what}: nothing leaves ${member} until controllers run; ${missing.try}`);
      const leaving = missing ? "nothing moves its workloads" : "its workloads are leaving";
      output.say(isNew ? `${member} cordoned; ${leaving}` : `${member} is being drained already`);
      const works = await readManifestWorks(client, member, signal);
      if (works?.length) output.warn(renderWorks(member, works.length));
      const untilMs = clock.now() + flags.timeout * 1000;
      let known: ReadonlySet<string> = new Set();
      let causes: ReadonlyMap<string, string> = new Map();
      let causesAtMs = clock.now() + CAUSES_MS;
      for (;;) {
        const { all, bindings } = await readRemaining(client, member, signal);
        const remaining = all.filter(({ state }) => state !== "stays");
        const names = new Set(remaining.map(({ resource }) => resource));
        const left = known.difference(names);
        const kept = left.size > 0 ? await readKept(client, member, signal) : [];
        for (const gone of left)
          output.say(kept.find((message) => message.startsWith(`${gone} stays on `)) ?? `${gone} has left`);
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
    readEvents(client, "EvictWorkloadFromClusterFailed", signal),
  ]);
  const { timeAdded } = cluster?.spec.taints?.find(({ key }) => key === DRAIN_TAINT) ?? {};
  const sinceMs = timeAdded === undefined ? 0 : Date.parse(timeAdded) - SECOND_MS;
  const bindings = [...namespaced.items, ...(clusterScoped.items as readonly DeepReadonly<ResourceBinding>[])];
  const all = remainingOn(member, bindings, events, sinceMs);
  const named = new Set(all.map(({ resource }) => resource));
  return { all: [...all, ...copiesOn(cluster, works.items).filter(({ resource }) => !named.has(resource))], bindings };
}

/** By workload: why no other member takes it. Undefined for a user who may not read what a plan needs. */
async function readMisfits(
  client: Client,
  member: string,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ReadonlyMap<string, string> | undefined> {
  const { planInput } = await import("../explain/plan-input.ts");
  try {
    const { problems } = await planInput(
      client,
      { manifests: [], without: [member], namespace: "default" },
      clock,
      signal,
    );
    return new Map(
      problems.flatMap(({ resource, message }) =>
        message.endsWith(STAYS_UNPLACED) ? [[resource, message.slice(0, -STAYS_UNPLACED.length)] as const] : [],
      ),
    );
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 403) return undefined;
    throw error;
  }
}

/** Undefined for a user who may not list them. */
async function readManifestWorks(client: Client, member: string, signal: AbortSignal): Promise<string[] | undefined> {
  try {
    const { items } = await client.list(ManifestWork, { cluster: HUB, namespace: member, signal });
    return items.map(({ metadata }) => metadata.name);
  } catch (error) {
    if (isNotFound(error)) return []; // The hub does not serve them.
    if (error instanceof ApiError && error.status.code === 403) return undefined;
    throw error;
  }
}

const renderWorks = (member: string, count: number): string =>
  `${counted(count, "ManifestWork")} on ${member} stay; a ManifestWorkReplicaSet removes its own when its Placement stops selecting ${member}`;

function renderClaims(member: string, claims: readonly string[]): string {
  const more = claims.length > MAX_LISTED ? `, and ${claims.length - MAX_LISTED} more` : "";
  return `loses the data on ${member}: ${claims.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** What execute reported about objects that it released instead of deleting them. */
async function readKept(client: Client, member: string, signal: AbortSignal): Promise<string[]> {
  const place = { namespace: executionNamespace(member) };
  const events = await readEvents(client, "KeptOnMember", signal, place);
  return events.map(({ message = "" }) => message);
}

/** Events only add reasons, so a user who may not list them is served without. */
async function readEvents(
  client: Client,
  reason: string,
  signal: AbortSignal,
  place: { namespace?: string } = {},
): Promise<readonly DeepReadonly<Event>[]> {
  try {
    return (await client.list(Event, { cluster: HUB, ...place, fieldSelector: `reason=${reason}`, signal })).items;
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

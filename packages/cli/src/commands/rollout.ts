/** `flotilla rollout`: follows and steers releases over the fleet. */
import { gvkOf, HUB } from "@flotilla/apimachinery";
import { FlotillaError, sleep, UsageError } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { createKindResolver } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { approvalsOf, FleetRollout, releasedPatch } from "@flotilla/flotilla";
import { Rollout as KruiseRollout } from "@flotilla/openkruise";
import { namesOfType } from "../audit/type-names.ts";
import { defineCommand } from "../command.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { readSeconds } from "../members/flags.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import {
  phaseOf,
  progressLine,
  renderHistory,
  renderList,
  renderRollout,
  targetOf,
} from "../rollout/render-rollout.ts";
import { undoTarget } from "../rollout/undo-target.ts";

type Rollout = DeepReadonly<FleetRollout>;

const ACTIONS = [
  "status",
  "watch",
  "pause",
  "resume",
  "approve",
  "promote",
  "abort",
  "undo",
  "retry",
  "history",
] as const;
type Action = (typeof ACTIONS)[number];
const USAGE = "'flotilla rollout status cloneset/web'";
const POLL_MS = 500;
const FINISHED: ReadonlySet<string> = new Set(["Succeeded", "RolledBack", "Failed", "Superseded"]);

export const rolloutCommand = defineCommand({
  name: "rollout",
  summary: "follow and steer releases: status, watch, pause, resume, approve, promote, abort, undo, retry, history",
  details:
    "A release is a FleetRollout; the hub creates one when a template changes that a RolloutStrategy " +
    "selects or a Rollout names. 'approve' opens the approval gates before a wave, or those after it when it " +
    "is complete, 'promote' all gates of the present wave, or with --full of all waves. 'abort' returns the waves so far to the previous revision. " +
    "'undo' does the same for a release in progress, and writes the template of the previous release " +
    "otherwise, which is a new release. 'retry' continues a release that failed, or starts one again that " +
    "was rolled back.",
  example: [
    { says: "What do releases wait for?", run: "flotilla rollout status" },
    { says: "Waves, gates and members of one release.", run: "flotilla rollout status cloneset/web -n shop" },
    { says: "Follow it to its end; fails if the release fails.", run: "flotilla rollout watch cloneset/web -n shop" },
    { says: "Open the approval gates of a wave.", run: "flotilla rollout approve cloneset/web -n shop --wave half" },
    { says: "Return the waves so far to the previous revision.", run: "flotilla rollout abort cloneset/web -n shop" },
  ],
  args: [
    { name: "ACTION", description: ACTIONS.join(", "), required: true, choices: [...ACTIONS] },
    {
      name: "TYPE/NAME",
      description:
        "the template, rollout/NAME of its Rollout, or fleetrollout/NAME; all releases for status if omitted",
      required: false,
      completes: "resource",
    },
  ],
  flags: {
    wave: {
      type: "string",
      value: "WAVE",
      description:
        "for approve and promote: the wave (default: the one that waits); WAVE/after approves its end, if it has approvals before and after it",
    },
    full: { type: "boolean", description: "for promote: the gates of all waves" },
    to: {
      type: "integer",
      value: "NUMBER",
      minimum: 1,
      description: "for undo: the number of the release to return to",
    },
    timeout: { type: "string", value: "DURATION", default: "1h", description: "for watch: how long to wait" },
    "all-namespaces": { type: "boolean", short: "A", description: "for status: the releases of all namespaces" },
    ...namespaceFlag,
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const action = args[0] as Action;
    if (!ACTIONS.includes(action))
      throw new UsageError(`unknown action '${args[0]}'; use one of ${ACTIONS.join(", ")}`);
    const hub = await connect(hubKubeconfig(flags, environment));
    const { client } = hub;
    const namespace = chosenNamespace(flags, hub);
    try {
      const where = flags["all-namespaces"] ? undefined : namespace;
      const all = (await client.list(FleetRollout, { cluster: HUB, namespace: where, signal })).items;
      if (args[1] === undefined) {
        if (action !== "status") throw new UsageError(`name the template: 'flotilla rollout ${action} cloneset/web'`);
        const current = newestEach(all);
        output.result(current as unknown as Json, () => renderList(current, output.width));
        return;
      }
      const found = select(all, args[1]);
      const [newest] = found;
      if (!newest) {
        const { requireObject } = await import("../explain/nearest-object.ts");
        await requireObject(client, { ...readTemplateName(args[1]), namespace }, `rollout ${action}`, signal);
        throw new FlotillaError(
          "NoRelease",
          `${args[1]} in namespace ${namespace} has no release: either no RolloutStrategy selects it and ` +
            "no Rollout names it ('kubectl get rolloutstrategies,rollouts.rollouts.kruise.io -n " +
            `${namespace}' lists them), or its pod template has not changed since one does; 'flotilla why ` +
            `${args[1]} -n ${namespace}' shows how far a partition has come`,
        );
      }
      const patch = async (change: JsonObject, says: string): Promise<void> => {
        const key = { cluster: HUB, namespace: newest.metadata.namespace ?? "", name: newest.metadata.name };
        const changed = await client.patch(FleetRollout, key, { spec: change }, { type: "merge", signal });
        output.result(changed as unknown as Json, () => says);
      };
      const named = `${targetOf(newest)} (${newest.metadata.name})`;
      const mustBeOpen = (): void => {
        if (newest.spec.source !== "Strategy")
          throw new FlotillaError("NotSteered", `${named} is led by ${sourceText(newest)}: change that instead`);
        if (FINISHED.has(phaseOf(newest)))
          throw new FlotillaError("ReleaseFinished", `the release ${named} has ended: ${phaseOf(newest)}`);
      };
      switch (action) {
        case "status":
          output.result(newest as unknown as Json, () => renderRollout(newest, output.width));
          return;
        case "history":
          output.result(found as unknown as Json, () => renderHistory(found, output.width));
          return;
        case "pause":
          mustBeOpen();
          return await patch({ paused: true }, `${named} is paused; 'flotilla rollout resume' continues it`);
        case "resume":
          mustBeOpen();
          if (newest.status?.failure)
            throw new FlotillaError(
              "ReleaseFailed",
              `${named} is paused because it failed: ${newest.status.failure.message}; 'flotilla rollout ` +
                "retry' continues it, 'flotilla rollout abort' returns " +
                `to ${newest.spec.previous ?? "the revision before"}`,
            );
          await resumeLead(client, newest, signal);
          return await patch({ paused: false }, `${named} continues`);
        case "approve": {
          mustBeOpen();
          const approval = approvalFor(newest, flags.wave);
          return await patch(
            { approvals: withItem(newest.spec.approvals, approval) },
            `wave ${approval} of ${named} is approved`,
          );
        }
        case "promote": {
          mustBeOpen();
          const wave = flags.full ? "*" : (flags.wave ?? newest.status?.wave ?? "");
          if (wave !== "*") knownWave(newest, wave);
          return await patch(
            { promotions: withItem(newest.spec.promotions, wave) },
            `the gates of ${wave === "*" ? "all waves" : `wave ${wave}`} of ${named} are open`,
          );
        }
        case "abort":
          mustBeOpen();
          return await patch(
            { abort: true, paused: false },
            `${named} returns to ${newest.spec.previous ?? "the revision before"}`,
          );
        case "retry":
          if (!newest.status?.failure) throw new FlotillaError("NotFailed", `${named} has not failed`);
          return await patch({ retry: newest.spec.retry + 1, abort: false }, `${named} is tried again`);
        case "undo": {
          if (!FINISHED.has(phaseOf(newest)) && flags.to === undefined && newest.spec.source === "Strategy")
            return await patch(
              { abort: true, paused: false },
              `${named} returns to ${newest.spec.previous ?? "the revision before"}`,
            );
          return await undo(client, found, flags.to, (says, value) => output.result(value, () => says), signal);
        }
        case "watch": {
          const untilMs = clock.now() + readSeconds("--timeout", flags.timeout) * 1000;
          let last = "";
          for (;;) {
            const key = { cluster: HUB, namespace: newest.metadata.namespace ?? "", name: newest.metadata.name };
            const rollout = await client.get(FleetRollout, key, { signal });
            const line = progressLine(rollout);
            if (line !== last) output.say((last = line));
            const phase = phaseOf(rollout);
            if (FINISHED.has(phase)) {
              output.result(rollout as unknown as Json, () => "");
              if (phase !== "Succeeded")
                throw new FlotillaError(
                  "ReleaseFailed",
                  `${named}: ${phase}${rollout.status?.failure ? `: ${rollout.status.failure.message}` : ""}`,
                );
              return;
            }
            if (clock.now() >= untilMs)
              throw new FlotillaError(
                "ReleaseTimeout",
                `${named} is not finished after ${flags.timeout}: waits for ${rollout.status?.waitingFor ?? "members"}`,
              );
            await sleep(clock, POLL_MS, signal);
          }
        }
      }
    } finally {
      await hub.close();
    }
  },
});

const sourceText = ({ spec }: Rollout): string =>
  spec.source === "Partition" ? "the partition of its template" : "a ManifestWorkReplicaSet";

const withItem = (items: readonly string[] | undefined, item: string): string[] => [
  ...new Set([...(items ?? []), item]),
];

function knownWave({ status, spec }: Rollout, wave: string): void {
  const names = (status?.plan ?? spec.strategy?.waves ?? []).map(({ name }) => name);
  if (!names.includes(wave))
    throw new UsageError(`the release has no wave '${wave}'; its waves are ${names.join(", ")}`);
}

/**
 * The entry of `spec.approvals` to add. Of a wave that is complete it is that of its end; without a wave, the one that the
 * release waits for, or the next one that is missing.
 */
function approvalFor(rollout: Rollout, asked: string | undefined): string {
  const { status, spec } = rollout;
  const waves = spec.strategy?.waves ?? [];
  const closed = status?.gates?.find(({ type, state }) => type === "approval" && state !== "Open");
  if (asked === undefined) {
    const waiting = waves.find(({ name }) => name === closed?.wave);
    const waitsFor = waiting && approvalsOf(waiting)[closed?.when === "After" ? "after" : "before"];
    if (waitsFor !== undefined) return waitsFor;
    const later = waves.slice(status?.waveIndex ?? 0).flatMap((wave) => Object.values(approvalsOf(wave)));
    const missing = later.find((name) => !spec.approvals?.includes(name));
    if (missing === undefined) throw new FlotillaError("NoApproval", "no wave of this release waits for an approval");
    return missing;
  }
  const wave = waves.find(({ name }) => name === asked);
  const { before, after } = wave ? approvalsOf(wave) : {};
  if (waves.some((each) => approvalsOf(each).after === asked)) return asked;
  knownWave(rollout, asked);
  const isComplete = status?.wave === asked && status.waveState === "After";
  return (isComplete ? after : undefined) ?? before ?? asked;
}

/** A release is also paused while the Rollout that leads it is. */
async function resumeLead(client: Client, { metadata, spec }: Rollout, signal: AbortSignal): Promise<void> {
  if (spec.rolloutName === undefined) return;
  const key = { cluster: HUB, namespace: metadata.namespace ?? "", name: spec.rolloutName };
  const { items } = await client.list(KruiseRollout, { cluster: HUB, namespace: key.namespace, signal });
  if (items.some(({ metadata: { name }, spec: { strategy } }) => name === key.name && strategy.paused))
    await client.patch(KruiseRollout, key, { spec: { strategy: { paused: false } } }, { type: "merge", signal });
}

/** The newest of each template, in the order of their names. */
function newestEach(rollouts: readonly Rollout[]): Rollout[] {
  const newest = new Map<string, Rollout>();
  for (const rollout of rollouts) {
    const id = `${rollout.metadata.namespace}/${targetOf(rollout)}`;
    if ((newest.get(id)?.spec.number ?? 0) < rollout.spec.number) newest.set(id, rollout);
  }
  return [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, rollout]) => rollout);
}

/** The newest first. */
function select(rollouts: readonly Rollout[], text: string): Rollout[] {
  const [type = "", name = "", ...rest] = text.split("/");
  if (type === "" || name === "" || rest.length > 0) throw new UsageError(`'${text}' is not TYPE/NAME: ${USAGE}`);
  const isRollout = ["fleetrollout", "fleetrollouts", "fr"].includes(type.toLowerCase());
  const isLead = /^rollouts?(\.rollouts\.kruise\.io)?$/.test(type.toLowerCase());
  const types = new Set([...namesOfType(type)].map((each) => each.toLowerCase()));
  return rollouts
    .filter(({ metadata, spec: { target, rolloutName } }) =>
      isLead
        ? rolloutName === name
        : isRollout
          ? metadata.name === name
          : target.name === name && types.has(target.kind.toLowerCase()),
    )
    .toSorted((a, b) => b.spec.number - a.spec.number);
}

async function undo(
  client: Client,
  found: readonly Rollout[],
  to: number | undefined,
  say: (says: string, value: Json) => void,
  signal: AbortSignal,
): Promise<void> {
  const [newest] = found as [Rollout];
  const wanted = undoTarget(found, to);
  if (!wanted || wanted.spec.template === undefined)
    throw new FlotillaError(
      "NoRevision",
      to === undefined
        ? "there is no earlier release to return to"
        : `there is no release with the number ${to}; 'flotilla rollout history' lists them`,
    );
  const { target } = newest.spec;
  const kind = await createKindResolver({ client, cluster: HUB }).resolve(target);
  const key = { cluster: HUB, namespace: newest.metadata.namespace ?? "", name: target.name };
  const template = await client.get(kind, key, { signal });
  const changed = await client.update(kind, HUB, releasedPatch(template, wanted.spec.template as Json), { signal });
  say(
    `${gvkOf(template).kind.toLowerCase()}/${target.name} has the template of release ${wanted.metadata.name} again; its release follows the strategy`,
    changed as unknown as Json,
  );
}

function readTemplateName(word: string): { type: string; name: string } {
  const [type = "", name = ""] = word.split("/", 2);
  return { type, name };
}

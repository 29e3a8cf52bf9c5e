/** Changes of a member's taints, as `kubectl taint` writes them. Planning is pure; `changeTaints` carries it out. */
import { HUB, isConflict } from "@flotilla/apimachinery";
import { didYouMean, equalJson, FlotillaError, formatTime, UsageError } from "@flotilla/base";
import type { Clock, DeepReadonly, Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Cluster } from "@flotilla/karmada";

export type Taint = DeepReadonly<NonNullable<Cluster["spec"]["taints"]>[number]>;

export type TaintChange =
  | { type: "add"; key: string; value?: string; effect: Taint["effect"] }
  /** Without an effect, taints of every effect. */
  | { type: "remove"; key: string; effect?: string };

const EFFECTS: readonly Taint["effect"][] = ["NoSchedule", "NoExecute"];
const KEY = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const MAX_ATTEMPTS = 5;

/** `key=value:Effect` and `key:Effect` add, `key:Effect-` and `key-` remove. Throws `UsageError`. */
export function parseTaintChange(text: string): TaintChange {
  const isRemoval = text.endsWith("-");
  const [pair = "", effectText, ...rest] = (isRemoval ? text.slice(0, -1) : text).split(":");
  const [key = "", value, ...values] = pair.split("=");
  if (!KEY.test(key) || rest.length > 0 || values.length > 0)
    throw new UsageError(`'${text}' is not a taint; write KEY=VALUE:EFFECT, KEY:EFFECT, or KEY- to remove it`);
  const effect = EFFECTS.find((known) => known === effectText);
  if (effectText !== undefined && effect === undefined)
    throw new UsageError(`'${text}' has the effect '${effectText}'; members support ${EFFECTS.join(" and ")}`);
  if (isRemoval) return { type: "remove", key, effect };
  if (effect === undefined)
    throw new UsageError(`'${text}' has no effect; write ${text}:NoSchedule or ${text}:NoExecute`);
  return { type: "add", key, value: value === "" ? undefined : value, effect };
}

/** The taints after the changes. A taint that is already there keeps its time, from which tolerations count. */
export function planTaints(taints: readonly Taint[], changes: readonly TaintChange[], nowMs: number): readonly Taint[] {
  return changes.reduce((present: readonly Taint[], change) => {
    if (change.type === "remove")
      return present.filter(
        ({ key, effect }) => key !== change.key || (change.effect !== undefined && effect !== change.effect),
      );
    const { key, value, effect } = change;
    const same = present.find((taint) => taint.key === key && taint.effect === effect);
    if (same && (same.value ?? "") === (value ?? "")) return present;
    const added: Taint = { key, value, effect, timeAdded: effect === "NoExecute" ? formatTime(nowMs) : undefined };
    return [...present.filter((taint) => taint !== same), added];
  }, taints);
}

export async function memberNotFound(client: Client, name: string, signal: AbortSignal): Promise<FlotillaError> {
  const { items } = await client.list(Cluster, { cluster: HUB, signal });
  const meant = didYouMean(
    name,
    items.map(({ metadata }) => metadata.name),
  );
  return new FlotillaError("NoMember", `member ${name} not found${meant}; run 'flotilla status' to list the members`);
}

/** Whether something changed. Throws if there is no such member. */
export async function changeTaints(
  client: Client,
  name: string,
  changes: readonly TaintChange[],
  { clock, signal, dryRun = false }: { clock: Clock; signal: AbortSignal; dryRun?: boolean },
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const cluster = await find(client, Cluster, { cluster: HUB, name }, { signal });
    if (!cluster) throw await memberNotFound(client, name, signal);
    const before = cluster.spec.taints ?? [];
    const after = planTaints(before, changes, clock.now());
    if (equalJson(before, after)) return false;
    if (dryRun) return true;
    try {
      await client.patch(
        Cluster,
        { cluster: HUB, name },
        {
          metadata: { resourceVersion: cluster.metadata.resourceVersion ?? "" },
          spec: { taints: after.length > 0 ? (after as unknown as Json) : null },
        },
        { type: "merge", signal },
      );
      return true;
    } catch (error) {
      // Another writer changed the member since it was read.
      if (!isConflict(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

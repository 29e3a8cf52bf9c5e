/**
 * Detects that autoscalers change the same number back and forth: each sets what another has changed. A single
 * autoscaler that follows its load, or its schedule, does not dispute anything. After the third turn within ten minutes neither
 * changes the number any more, until one of them is changed or deleted.
 *
 * An entry exists for each number that was changed in the last ten minutes, and for each stopped one. A process that
 * starts begins to count again: replicas that are changed three more times replace no pods.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import { FlotillaError } from "@flotilla/base";
import type { Clock, DeepReadonly } from "@flotilla/base";

const WINDOW_MS = 10 * 60_000;
const MAX_TURNS = 3;

type Scaler = DeepReadonly<KubernetesObject>;

/** A number that autoscalers set. */
export interface ScaledNumber {
  /** `spec.replicas of Deployment shop/web` */
  text: string;
  from: number;
  to: number;
}

export interface ScaleDisputes {
  /** Throws if the change would turn the number round too often, and for every later one. */
  beforeChange(number: ScaledNumber, scaler: Scaler): void;
  /** The numbers that are not changed any more. */
  stopped(): number;
}

export interface ScaleDisputesOptions {
  clock: Clock;
  /** The autoscaler as it is now. */
  current(scaler: Scaler): Scaler | undefined;
}

interface Entry {
  last: { by: string; rises: boolean };
  turnsAtMs: number[];
  /** Those that changed it, by title. */
  scalers: Map<string, Scaler>;
  changedAtMs: number;
  stopped?: string;
}

export function createScaleDisputes({ clock, current }: ScaleDisputesOptions): ScaleDisputes {
  /** By number; the one that was changed last is at the end. */
  const entries = new Map<string, Entry>();

  const isSame = (scaler: Scaler): boolean => {
    const now = current(scaler)?.metadata;
    return now?.uid === scaler.metadata.uid && now?.generation === scaler.metadata.generation;
  };
  function dropOld(nowMs: number): void {
    for (const [text, { stopped, changedAtMs, scalers }] of entries)
      if (stopped === undefined ? nowMs - changedAtMs >= WINDOW_MS : !scalers.values().every(isSame))
        entries.delete(text);
  }

  return {
    beforeChange({ text, from, to }, scaler) {
      const nowMs = clock.now();
      dropOld(nowMs);
      const title = titleOf(scaler);
      const before = entries.get(text);
      if (before?.stopped !== undefined) throw new FlotillaError("Oscillation", before.stopped);
      const rises = to > from;
      const isTurn = before !== undefined && before.last.by !== title && before.last.rises !== rises;
      const turnsAtMs = [
        ...(before?.turnsAtMs ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS),
        ...(isTurn ? [nowMs] : []),
      ];
      const scalers = new Map(before?.scalers).set(title, scaler);
      const entry: Entry = { last: { by: title, rises }, turnsAtMs, scalers, changedAtMs: nowMs };
      entries.delete(text);
      entries.set(text, entry);
      if (turnsAtMs.length < MAX_TURNS) return;
      entry.stopped =
        `${[...scalers.keys()].toSorted().join(" and ")} changed ${text} back and forth ${MAX_TURNS} times ` +
        `within ten minutes; it stays at ${from} until one of them is changed or deleted`;
      throw new FlotillaError("Oscillation", entry.stopped);
    },
    stopped() {
      dropOld(clock.now());
      return entries.values().reduce((sum, { stopped }) => sum + (stopped === undefined ? 0 : 1), 0);
    },
  };
}

/** A field of an autoscaler's target. */
export function numberOf(
  {
    metadata,
    spec,
  }: Scaler & { readonly spec: { readonly scaleTargetRef: { readonly kind: string; readonly name: string } } },
  { from, to, field = "spec.replicas" }: { from: number; to: number; field?: string },
): ScaledNumber {
  const { kind, name } = spec.scaleTargetRef;
  return { text: `${field} of ${kind} ${metadata.namespace ?? ""}/${name}`, from, to };
}

const titleOf = ({ kind, metadata }: Scaler): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

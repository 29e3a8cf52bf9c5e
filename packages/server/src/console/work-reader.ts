/**
 * The Works of one workload, which report delivery and drift. They change rarely, so they are read with each change of the
 * binding, at most once a second.
 */
import { HUB, isForbidden } from "@flotilla/apimachinery";
import type { Clock, DeepReadonly, Timer } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { BINDING_ID, CLUSTER_BINDING_ID, executionNamespace, Work } from "@flotilla/karmada";
import type { ResourceBinding } from "@flotilla/karmada";
import { shortMessage } from "./watch-copy.ts";

const WORKS_MS = 1_000;

interface WorkReaderOptions {
  client: Client;
  clock: Clock;
  signal: AbortSignal;
  onChange(): void;
}

export interface WorkReader {
  read: ReadonlyMap<string, DeepReadonly<Work>>;
  /** What could not be read. */
  note(): string;
  /** Reads the Works of these members, at most once a second. */
  readAgain(members: readonly string[], binding: DeepReadonly<ResourceBinding> | undefined): void;
}

export function createWorkReader({ client, clock, signal, onChange }: WorkReaderOptions): WorkReader {
  const read = new Map<string, DeepReadonly<Work>>();
  const problems = new Map<string, string>();
  let wanted: { members: readonly string[]; binding: DeepReadonly<ResourceBinding> | undefined };
  let timer: Timer | undefined;
  let isReading = false;
  let isStale = false;

  async function readOne(member: string): Promise<void> {
    const labelSelector = workSelector(wanted.binding);
    if (labelSelector === undefined) {
      read.delete(member);
      problems.delete(member);
      return;
    }
    try {
      const { items } = await client.list(Work, {
        cluster: HUB,
        namespace: executionNamespace(member),
        labelSelector,
        signal,
      });
      problems.delete(member);
      const [work] = items;
      if (work) read.set(member, work);
      else read.delete(member);
    } catch (error) {
      if (signal.aborted) return;
      read.delete(member);
      // Without the right to read Works the delivery is not shown; the binding has the same in short.
      if (!isForbidden(error)) problems.set(member, `${member}: ${shortMessage(error)}`);
    }
  }
  async function readAll(): Promise<void> {
    isReading = true;
    isStale = false;
    const { members } = wanted;
    for (const member of [...read.keys(), ...problems.keys()])
      if (!members.includes(member)) {
        read.delete(member);
        problems.delete(member);
      }
    await Promise.all(members.map(readOne));
    isReading = false;
    if (signal.aborted) return;
    onChange();
    timer = clock.after(WORKS_MS, () => {
      timer = undefined;
      if (isStale) void readAll();
    });
  }
  signal.addEventListener("abort", () => timer?.cancel());
  return {
    read,
    note: () => (problems.size === 0 ? "" : `the delivery cannot be read: ${[...problems.values()].join("; ")}`),
    readAgain(members, binding) {
      wanted = { members, binding };
      if (members.length + read.size + problems.size === 0) return;
      isStale = true;
      if (!isReading && !timer) void readAll();
    },
  };
}

/** Undefined as long as the binding has no id: no Work refers to it. */
function workSelector(binding: DeepReadonly<ResourceBinding> | undefined): string | undefined {
  const labels = binding?.metadata.labels ?? {};
  const label = [BINDING_ID, CLUSTER_BINDING_ID].find((name) => labels[name] !== undefined);
  return label && `${label}=${labels[label]}`;
}

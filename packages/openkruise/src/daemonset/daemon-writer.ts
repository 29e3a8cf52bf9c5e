/**
 * Executes the planned changes of an Advanced DaemonSet's pods, and emits events for updates in place.
 *
 * Writes: Pod.
 */
import { messageOf } from "@flotilla/base";
import type { Random } from "@flotilla/base";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { writeAll } from "@flotilla/kubernetes";
import type { Owner, PodWriter, RevisionPlan } from "@flotilla/kubernetes";
import type { createWritePod, PodStep } from "../in-place/write-pod.ts";
import type { DaemonPlan } from "./manage.ts";
import { makePod } from "./new-pod.ts";
import type { DaemonView } from "./nodes.ts";

/** The set whose pods are written. */
export interface DaemonTarget {
  view: DaemonView;
  owner: Owner;
  revisions: RevisionPlan;
  signal: AbortSignal;
}

export interface DaemonWriterOptions {
  podWriter: Pick<PodWriter, "create" | "remove">;
  writePod: ReturnType<typeof createWritePod>;
  random: Random;
  events: EventRecorder | undefined;
}

export interface DaemonWriter {
  /** Prepares, creates and deletes pods. */
  manage(target: DaemonTarget, plan: DaemonPlan): Promise<void>;
  refresh(target: DaemonTarget, steps: readonly PodStep[]): Promise<void>;
  updateInPlace(target: DaemonTarget, steps: readonly PodStep[]): Promise<void>;
}

export function createDaemonWriter({ podWriter, writePod, random, events }: DaemonWriterOptions): DaemonWriter {
  async function updateOne({ view: { set }, owner, revisions, signal }: DaemonTarget, step: PodStep): Promise<void> {
    const { name } = step.pod.metadata;
    try {
      if (!(await writePod(owner, step, signal))) return;
      events?.record(owner.cluster, set, {
        type: "Normal",
        reason: "SuccessfulUpdatePodInPlace",
        message: `successfully update pod ${name} in-place`,
      });
    } catch (error) {
      events?.record(owner.cluster, set, {
        type: "Warning",
        reason: "FailedUpdatePodInPlace",
        message: `failed to update pod ${name} in-place(revision ${revisions.update.metadata.name}): ${messageOf(error)}`,
      });
      throw error;
    }
  }

  return {
    async manage({ view: { set, hash }, owner, signal }, { create, remove, prepare }) {
      const podOwner = { cluster: owner.cluster, object: set };
      await writeAll("lifecycle changes", prepare, async (step) => void (await writePod(owner, step, signal)));
      await podWriter.create(
        podOwner,
        create.map((node) => makePod(set, node, hash, random)),
        signal,
      );
      await podWriter.remove(podOwner, remove, signal);
    },
    refresh: ({ owner, signal }, steps) =>
      writeAll("pod refreshes", steps, async (step) => void (await writePod(owner, step, signal))),
    updateInPlace: (target, steps) => writeAll("in-place updates", steps, (step) => updateOne(target, step)),
  };
}

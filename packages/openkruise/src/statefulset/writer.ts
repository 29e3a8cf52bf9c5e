/**
 * Executes the plan of an Advanced StatefulSet, emits events for it, and records the expectations for the informers.
 */
import { createPodWriter, failureMessage, PersistentVolumeClaim, writeAll } from "@flotilla/kubernetes";
import type { Expectations, Owner, PodWords, PodWriter } from "@flotilla/kubernetes";
import { messageOf } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { isAlreadyExists } from "@flotilla/apimachinery";
import { unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { createWritePod } from "../in-place/write-pod.ts";
import type { PodChange, StatefulPlan } from "./plan-statefulset.ts";
import type { ReadonlyStatefulSet } from "./statefulset-pod-state.ts";

interface Target {
  set: ReadonlyStatefulSet;
  owner: Owner;
  /** The target revision of the pods. */
  updateRevision: string;
  signal: AbortSignal;
}

export interface WriterDependencies {
  client: Client;
  podsSeen: Expectations;
  claimsSeen: Expectations;
  events?: EventRecorder | undefined;
}

/** A failure, and the condition that reports it. */
export interface Failure {
  cause: unknown;
  condition?: { type: "FailedCreatePod" | "FailedUpdatePod"; message: string };
}

export interface StatefulWriter {
  /** Stops at the first failure: later writes build on earlier ones. */
  carryOut(target: Target, plan: StatefulPlan): Promise<Failure | undefined>;
  pods: PodWriter;
}

const WORDS: PodWords = {
  done: (verb, pod, { object }) => `${verb} Pod ${pod} in StatefulSet ${object.metadata.name} successful`,
  failed: (verb, pod, { object }, why) =>
    `${verb} Pod ${pod} in StatefulSet ${object.metadata.name} failed error: ${why}`,
};

export function createStatefulWriter({ client, podsSeen, claimsSeen, events }: WriterDependencies): StatefulWriter {
  const pods = createPodWriter({ client, expectations: podsSeen, events, words: WORDS, hasFixedNames: true });
  const writePod = createWritePod({ client, podsSeen });
  const recordEvent = ({ owner, set }: Target, type: "Normal" | "Warning", reason: string, message: string): void =>
    events?.record(owner.cluster, set, { type, reason, message });

  async function createClaim(target: Target, { claim, pod }: StatefulPlan["createClaims"][number]): Promise<void> {
    const { set, owner, signal } = target;
    const { name } = claim.metadata;
    try {
      claimsSeen.wrote(owner, await client.create(PersistentVolumeClaim, owner.cluster, claim, { signal }));
      recordEvent(
        target,
        "Normal",
        "SuccessfulCreate",
        `create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`,
      );
    } catch (error) {
      // The existing claim is used.
      if (isAlreadyExists(error)) return;
      recordEvent(
        target,
        "Warning",
        "FailedCreate",
        `create Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${messageOf(error)}`,
      );
      throw error;
    }
  }

  async function changeClaim(
    target: Target,
    { claim, pod, isResized }: StatefulPlan["changeClaims"][number],
  ): Promise<void> {
    const { set, owner, signal } = target;
    const { name } = claim.metadata;
    try {
      const written = await unlessChanged(client.update(PersistentVolumeClaim, owner.cluster, claim, { signal }));
      if (!written) return;
      claimsSeen.wrote(owner, written);
      if (isResized)
        recordEvent(
          target,
          "Normal",
          "SuccessfulResize",
          `resize Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`,
        );
    } catch (error) {
      if (isResized)
        recordEvent(
          target,
          "Warning",
          "FailedResize",
          `resize Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${messageOf(error)}`,
        );
      throw error;
    }
  }

  async function changePod(target: Target, change: PodChange): Promise<void> {
    const { set, owner, updateRevision, signal } = target;
    const { pod, isMended, isUpdatedInPlace } = change;
    const { name } = pod.metadata;
    try {
      if (!(await writePod(owner, change, signal))) return;
      if (isMended)
        recordEvent(
          target,
          "Normal",
          "SuccessfulUpdate",
          `update Pod ${name} in StatefulSet ${set.metadata.name} successful`,
        );
      if (isUpdatedInPlace)
        recordEvent(
          target,
          "Normal",
          "SuccessfulUpdatePodInPlace",
          `successfully update pod ${name} in-place(revision ${updateRevision})`,
        );
    } catch (error) {
      const why = messageOf(error);
      if (isMended)
        recordEvent(
          target,
          "Warning",
          "FailedUpdate",
          `update Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${why}`,
        );
      if (isUpdatedInPlace)
        recordEvent(
          target,
          "Warning",
          "FailedUpdatePodInPlace",
          `failed to update pod ${name} in-place(revision ${updateRevision}): ${why}`,
        );
      throw error;
    }
  }

  return {
    pods,
    async carryOut(target, plan) {
      const podOwner = { cluster: target.owner.cluster, object: target.set };
      const isMending = plan.change.some(({ isMended }) => isMended);
      const created = await attempt("FailedCreatePod", "create", async () => {
        // A pod without its claims would only wait for them.
        await writeAll("claim creations", plan.createClaims, (item) => createClaim(target, item));
        await writeAll("claim updates", plan.changeClaims, (item) => changeClaim(target, item));
        await pods.create(podOwner, plan.create, target.signal);
      });
      if (created) return created;
      const changed = await attempt(isMending ? "FailedUpdatePod" : undefined, "update", () =>
        writeAll("pod updates", plan.change, (item) => changePod(target, item)),
      );
      return changed ?? attempt(undefined, "delete", () => pods.remove(podOwner, plan.remove, target.signal));
    },
  };
}

/** A failure is written to the status first and thrown afterwards, so it is a value until then. */
async function attempt(
  type: "FailedCreatePod" | "FailedUpdatePod" | undefined,
  verb: string,
  writes: () => Promise<void>,
): Promise<Failure | undefined> {
  try {
    await writes();
    return undefined;
  } catch (cause) {
    return { cause, condition: type ? { type, message: podFailure(verb, failureMessage(cause)) } : undefined };
  }
}

/** The wording in an Advanced StatefulSet's conditions. */
export const podFailure = (verb: string, why: string): string =>
  `StatefulPodControl failed to ${verb} Pod error: ${why}`;

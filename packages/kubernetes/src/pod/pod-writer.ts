/**
 * Writes pods for the controllers of Kubernetes: records expectations for every write, and emits upstream's events on
 * the owner.
 *
 * Every write of a list is attempted before the first failure is thrown, except that creations begin with a few: if a
 * quota or a webhook rejects all of them, a thousand rejections add no information.
 */
import { Pod } from "./pod-kind.ts";
import { controllerReference, isAlreadyExists, isNamespaceTerminating } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { EventRecorder } from "@flotilla/controller-runtime";
import type { Expectations } from "../workloads/expectations.ts";
import { WriteAllError, slowStart, writeAll } from "../workloads/write-all.ts";
import type { ReadonlyPod } from "./pod-state.ts";

/** The owner of the written pods. */
export interface PodOwner {
  cluster: string;
  object: DeepReadonly<KubernetesObject>;
}

export interface PodWriter {
  create(owner: PodOwner, pods: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
  remove(owner: PodOwner, pods: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
  adopt(owner: PodOwner, pods: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
  /** The pod continues to run without an owner. */
  release(owner: PodOwner, pods: readonly ReadonlyPod[], signal: AbortSignal): Promise<void>;
  /** Writes the given pod; returns false on a conflict. */
  update(owner: PodOwner, pod: ReadonlyPod, signal: AbortSignal): Promise<boolean>;
}

export interface PodWriterOptions {
  client: Client;
  expectations: Expectations;
  events?: EventRecorder | undefined;
  /** Event messages of kinds with their own wording. */
  words?: PodWords;
  /** The name of a pod is its identity, as in a StatefulSet: no other name takes its place. */
  hasFixedNames?: boolean;
}

export interface PodWords {
  done(verb: "create" | "delete", pod: string, owner: PodOwner): string;
  failed(verb: "create" | "delete", pod: string, owner: PodOwner, why: string): string;
}

const WORDS: PodWords = {
  done: (verb, pod) => `${verb === "create" ? "Created" : "Deleted"} pod: ${pod}`,
  failed: (verb, _pod, _owner, why) => `Error ${verb === "create" ? "creating" : "deleting"}: ${why}`,
};

export function createPodWriter(options: PodWriterOptions): PodWriter {
  const { client, expectations, events, words = WORDS, hasFixedNames = false } = options;
  const idOf = ({ cluster, object }: PodOwner): { cluster: string; uid: string } => ({
    cluster,
    uid: object.metadata.uid ?? "",
  });
  const recordEvent = (
    { cluster, object }: PodOwner,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void => events?.record(cluster, object, { type, reason, message });

  async function createNamed({ cluster }: PodOwner, pod: ReadonlyPod, signal: AbortSignal): Promise<ReadonlyPod> {
    try {
      return await client.create(Pod, cluster, pod, { signal });
    } catch (error) {
      // Among ten thousand pods two or three draw the same random name. Then the server chooses another.
      if (hasFixedNames || !pod.metadata.generateName || !isAlreadyExists(error)) throw error;
      return client.create(Pod, cluster, { ...pod, metadata: { ...pod.metadata, name: "" } }, { signal });
    }
  }

  async function createOne(owner: PodOwner, pod: ReadonlyPod, signal: AbortSignal): Promise<void> {
    try {
      const created = await createNamed(owner, pod, signal);
      expectations.wrote(idOf(owner), created);
      recordEvent(owner, "Normal", "SuccessfulCreate", words.done("create", created.metadata.name, owner));
    } catch (error) {
      // Nothing can be created there any more, and the owner is about to be deleted.
      if (isNamespaceTerminating(error)) return;
      recordEvent(owner, "Warning", "FailedCreate", words.failed("create", pod.metadata.name, owner, messageOf(error)));
      throw error;
    }
  }

  async function update(owner: PodOwner, pod: ReadonlyPod, signal: AbortSignal): Promise<boolean> {
    const written = await unlessChanged(client.update(Pod, owner.cluster, pod, { signal }));
    if (written) expectations.wrote(idOf(owner), written);
    return written !== undefined;
  }

  return {
    create: (owner, pods, signal) => slowStart("pod creations", pods, (pod) => createOne(owner, pod, signal)),
    async remove(owner, pods, signal) {
      await writeAll("pod deletions", pods, async (pod) => {
        try {
          await unlessChanged(
            client.delete(Pod, keyOf(owner.cluster, pod), { preconditions: { uid: pod.metadata.uid ?? "" }, signal }),
          );
        } catch (error) {
          recordEvent(
            owner,
            "Warning",
            "FailedDelete",
            words.failed("delete", pod.metadata.name, owner, messageOf(error)),
          );
          throw error;
        }
        expectations.deleted(idOf(owner), pod);
        recordEvent(owner, "Normal", "SuccessfulDelete", words.done("delete", pod.metadata.name, owner));
      });
    },
    async adopt(owner, pods, signal) {
      await writeAll("pod adoptions", pods, async (pod) => {
        const ownerReferences = [...(pod.metadata.ownerReferences ?? []), controllerReference(owner.object)];
        await update(owner, { ...pod, metadata: { ...pod.metadata, ownerReferences } }, signal);
      });
    },
    async release(owner, pods, signal) {
      await writeAll("pod releases", pods, async (pod) => {
        const ownerReferences =
          pod.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.object.metadata.uid) ?? [];
        await update(owner, { ...pod, metadata: { ...pod.metadata, ownerReferences } }, signal);
      });
    },
    update,
  };
}

/** The API server's message, without our count of failed writes: conditions show it to users and programs. */
export function failureMessage(error: unknown): string {
  return messageOf(error instanceof WriteAllError ? error.cause : error);
}

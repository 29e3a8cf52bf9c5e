/**
 * Executes a step of a StatefulSet, emits its events, and waits until a write is visible in the informers.
 *
 * Writes: Pod, PersistentVolumeClaim.
 */
import { isAlreadyExists } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { unlessChanged } from "@flotilla/controller-runtime";
import { PersistentVolumeClaim } from "../persistentvolumeclaim/persistentvolumeclaim-kind.ts";
import { Pod } from "../pod/pod-kind.ts";
import { createPodWriter } from "../pod/pod-writer.ts";
import type { PodWords, PodWriter } from "../pod/pod-writer.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { writeAll } from "../workloads/write-all.ts";
import type { ReadonlyStatefulSet } from "./identity.ts";
import type { StatefulPlan } from "./plan-statefulset.ts";

const verbOf = (verb: "create" | "delete"): string => (verb === "create" ? "Create" : "Delete");
const WORDS: PodWords = {
  done: (verb, pod, { object }) => `${verbOf(verb)} Pod ${pod} in StatefulSet ${object.metadata.name} successful`,
  failed: (verb, pod, { object }, why) =>
    `${verbOf(verb)} Pod ${pod} in StatefulSet ${object.metadata.name} failed error: ${why}`,
};

/** The set whose step is executed. */
interface Target {
  set: ReadonlyStatefulSet;
  owner: Owner;
  signal: AbortSignal;
}

export interface StatefulWriter {
  readonly pods: Pick<PodWriter, "adopt" | "release">;
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  /** Returns whether anything was written. */
  carryOut(target: Target, plan: StatefulPlan): Promise<boolean>;
}

export function createStatefulWriter({ client, informers, clock, events }: WorkloadDependencies): StatefulWriter {
  const podsSeen = createExpectations(informers.of(Pod), clock);
  const claimsSeen = createExpectations(informers.of(PersistentVolumeClaim), clock);
  const recorder = events?.("statefulset-controller");
  const pods = createPodWriter({ client, expectations: podsSeen, events: recorder, words: WORDS, hasFixedNames: true });

  async function createClaim(
    { set, owner, signal }: Target,
    { claim, pod }: StatefulPlan["createClaims"][number],
  ): Promise<void> {
    const { cluster } = owner;
    try {
      claimsSeen.wrote(owner, await client.create(PersistentVolumeClaim, cluster, claim, { signal }));
      recorder?.record(cluster, set, {
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Create Claim ${claim.metadata.name} Pod ${pod} in StatefulSet ${set.metadata.name} success`,
      });
    } catch (error) {
      // The existing claim is used.
      if (isAlreadyExists(error)) return;
      recorder?.record(cluster, set, {
        type: "Warning",
        reason: "FailedCreate",
        message: `Create Claim ${claim.metadata.name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${messageOf(error)}`,
      });
      throw error;
    }
  }

  return {
    pods,
    waitMs: (owner) => Math.max(podsSeen.waitMs(owner), claimsSeen.waitMs(owner)),

    async carryOut(target, { createClaims, mendClaims, create, mend, remove }) {
      const { set, owner, signal } = target;
      const podOwner = { cluster: owner.cluster, object: set };
      // A pod without its claims would only wait for them.
      await writeAll("claim creations", createClaims, (claim) => createClaim(target, claim));
      await writeAll("claim updates", mendClaims, async (claim) => {
        const written = await unlessChanged(client.update(PersistentVolumeClaim, owner.cluster, claim, { signal }));
        if (written) claimsSeen.wrote(owner, written);
      });
      await pods.create(podOwner, create, signal);
      await writeAll("pod updates", mend, async (pod) => void (await pods.update(podOwner, pod, signal)));
      await pods.remove(podOwner, remove, signal);
      return createClaims.length + mendClaims.length + create.length + mend.length + remove.length > 0;
    },
  };
}

/**
 * Writes the ReplicaSets of a Deployment, emits its events, and waits until a write is visible in the informers.
 *
 * Writes: ReplicaSet; Deployment status, if a ReplicaSet cannot be created.
 */
import { isAlreadyExists } from "@flotilla/apimachinery";
import { messageOf } from "@flotilla/base";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import type { ReadonlyReplicaSet } from "../replicaset/plan-replicaset.ts";
import { ReplicaSet } from "../replicaset/replicaset-kind.ts";
import type { WorkloadDependencies } from "../workloads/dependencies.ts";
import { createExpectations } from "../workloads/expectations.ts";
import type { Owner } from "../workloads/expectations.ts";
import { adopted } from "../workloads/ownership.ts";
import { writeAll } from "../workloads/write-all.ts";
import { Deployment } from "./deployment-kind.ts";
import { createFailedStatus } from "./deployment-status.ts";
import { replicasOf } from "./replica-sets.ts";
import type { ReadonlyDeployment } from "./replica-sets.ts";
import type { Resize } from "./rollout.ts";

interface Target {
  owner: Owner;
  signal: AbortSignal;
}

export interface ReplicaSetWriter {
  /** How long the writes of this owner need at most to become visible; 0 if they are. */
  waitMs(owner: Owner): number;
  adopt(deployment: ReadonlyDeployment, orphans: readonly ReadonlyReplicaSet[], target: Target): Promise<void>;
  create(deployment: ReadonlyDeployment, set: ReadonlyReplicaSet, target: Target): Promise<void>;
  resize(deployment: ReadonlyDeployment, resizes: readonly Resize[], target: Target): Promise<void>;
  remove(sets: readonly ReadonlyReplicaSet[], cluster: string, signal: AbortSignal): Promise<void>;
}

export function createReplicaSetWriter(deps: WorkloadDependencies): ReplicaSetWriter {
  const { client, informers, clock } = deps;
  const expectations = createExpectations(informers.of(ReplicaSet), clock);
  const events = deps.events?.("deployment-controller");

  function recordScaled(
    cluster: string,
    deployment: ReadonlyDeployment,
    { from, to, name }: { from: number; to: number; name: string },
  ): void {
    if (from === to) return;
    events?.record(cluster, deployment, {
      type: "Normal",
      reason: "ScalingReplicaSet",
      message: `Scaled ${from < to ? "up" : "down"} replica set ${name} from ${from} to ${to}`,
    });
  }

  async function writeStatus(
    deployment: ReadonlyDeployment,
    { owner, signal }: Target,
    status: ReadonlyDeployment["status"],
  ): Promise<void> {
    await unlessChanged(client.updateStatus(Deployment, owner.cluster, { ...deployment, status }, { signal }));
  }

  return {
    waitMs: (owner) => expectations.waitMs(owner),

    async adopt(deployment, orphans, { owner, signal }) {
      await writeAll("ReplicaSet adoptions", orphans, async (set) => {
        const taken = await unlessChanged(
          client.update(ReplicaSet, owner.cluster, adopted(set, deployment), { signal }),
        );
        if (taken) expectations.wrote(owner, taken);
      });
    },

    async create(deployment, set, target) {
      const { owner, signal } = target;
      const { name } = set.metadata;
      try {
        expectations.wrote(owner, await client.create(ReplicaSet, owner.cluster, set, { signal }));
        recordScaled(owner.cluster, deployment, { from: 0, to: replicasOf(set), name });
      } catch (error) {
        if (!isAlreadyExists(error)) {
          const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
          events?.record(owner.cluster, deployment, { type: "Warning", reason: "ReplicaSetCreateError", message });
          await writeStatus(deployment, target, createFailedStatus(deployment, message, clock.now()));
          throw error;
        }
        // A hash collision with another template, or a ReplicaSet of another owner: the next attempt uses another name.
        const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
        await writeStatus(deployment, target, { ...deployment.status, collisionCount });
      }
    },

    async resize(deployment, resizes, { owner, signal }) {
      await writeAll("ReplicaSet updates", resizes, async ({ from, to }) => {
        const written = await unlessChanged(client.update(ReplicaSet, owner.cluster, to, { signal }));
        if (!written) return;
        expectations.wrote(owner, written);
        const { name } = to.metadata;
        recordScaled(owner.cluster, deployment, { from: replicasOf(from), to: replicasOf(to), name });
      });
    },

    async remove(sets, cluster, signal) {
      await writeAll("ReplicaSet deletions", sets, async (set) => {
        const preconditions = { uid: set.metadata.uid ?? "" };
        await unlessChanged(client.delete(ReplicaSet, keyOf(cluster, set), { preconditions, signal }));
      });
    },
  };
}

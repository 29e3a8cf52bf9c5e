/**
 * Carries out the changes of a UnitedDeployment's subsets, and emits their events.
 *
 * Writes: the workloads of the subsets, of any of the four kinds; deletes pods that block an update.
 */
import { messageOf } from "@flotilla/base";
import type { EventRecorder } from "@flotilla/controller-runtime";
import { slowStart, writeAll, WriteAllError } from "@flotilla/kubernetes";
import type { Owner } from "@flotilla/kubernetes";
import type { Numbers } from "./allocate.ts";
import type { ReadonlyUnitedDeployment } from "./uniteddeployment-names.ts";
import type { SubsetChange, SubsetChanges } from "./provision.ts";
import type { ReadonlyWorkload, SubsetTemplate } from "./subset-kinds.ts";
import type { SubsetWorkloads } from "./subset-workloads.ts";
import { makeSubsetWorkload } from "./workload.ts";

/** The UnitedDeployment whose subsets are written. */
export interface SubsetTarget {
  deployment: ReadonlyUnitedDeployment;
  template: SubsetTemplate;
  owner: Owner;
  revision: string;
  signal: AbortSignal;
}

/** The desired numbers of each subset. */
interface SubsetNumbers {
  replicas: Numbers;
  partitions: Numbers;
}

export interface SubsetWriter {
  deleteDuplicates(target: SubsetTarget, duplicates: readonly ReadonlyWorkload[]): Promise<void>;
  /** Creates missing workloads, deletes surplus ones and those of other kinds, and updates the rest. */
  write(target: SubsetTarget, changes: SubsetChanges, numbers: SubsetNumbers): Promise<void>;
}

export function createSubsetWriter(workloads: SubsetWorkloads, recorder: EventRecorder | undefined): SubsetWriter {
  const recordCount = ({ owner, deployment, template }: SubsetTarget, verb: string, count: number): void => {
    if (count === 0) return;
    recorder?.record(owner.cluster, deployment, {
      type: "Normal",
      reason: "SuccessfulUpdateSubset",
      message: `${verb} ${count} Subset (${template.kind.type})`,
    });
  };
  const recordFailure = ({ owner, deployment }: SubsetTarget, reason: string, message: string): void =>
    recorder?.record(owner.cluster, deployment, { type: "Warning", reason, message });

  async function create(target: SubsetTarget, names: readonly string[], numbers: SubsetNumbers): Promise<void> {
    const { deployment, template, owner, revision, signal } = target;
    await slowStart("subset creations", names, async (name) => {
      const workload = makeSubsetWorkload(deployment, template, {
        name,
        revision,
        replicas: numbers.replicas.get(name) ?? 0,
        partition: numbers.partitions.get(name) ?? 0,
      });
      await workloads.create(owner, template.kind, workload, signal);
    });
    recordCount(target, "Create", names.length);
  }

  async function remove(target: SubsetTarget, surplus: readonly ReadonlyWorkload[]): Promise<void> {
    const { template, owner, signal } = target;
    await writeAll("subset deletions", surplus, (workload) => workloads.delete(owner, template.kind, workload, signal));
  }

  async function update({ template, owner, signal }: SubsetTarget, updates: readonly SubsetChange[]): Promise<void> {
    await slowStart("subset updates", updates, async ({ changed, stuck }) => {
      if (changed) await workloads.update(owner, template.kind, changed, signal);
      for (const pod of stuck) await workloads.deletePod(owner, pod, signal);
    });
  }

  return {
    async deleteDuplicates(target, duplicates) {
      try {
        await remove(target, duplicates);
      } catch (error) {
        recordFailure(target, "FailedDeleteDuplicatedSubsets", messageOf(error));
        throw error;
      }
    },

    async write(target, changes, numbers) {
      try {
        await create(target, changes.create, numbers);
        await remove(target, changes.remove);
        recordCount(target, "Delete", changes.remove.length);
        for (const { kind, workload } of changes.removeOtherKinds)
          await workloads.delete(target.owner, kind, workload, target.signal);
        await update(target, changes.update);
      } catch (error) {
        const cause = messageOf(error instanceof WriteAllError ? error.cause : error);
        recordFailure(target, "FailedUpdateSubset", `fail to manage Subset provision: ${cause}`);
        throw error;
      }
    },
  };
}

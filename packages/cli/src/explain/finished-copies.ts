/** Copies of finished runs in a plan without a member: they stay there, and nothing replaces them. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import { isFinishedRun } from "@flotilla/flotilla";
import type { MemberChange } from "@flotilla/flotilla";
import type { ResourceBinding } from "@flotilla/karmada";
import { referenceTitle } from "@flotilla/apimachinery";

/** Takes the copies of finished runs on the members `without` out of the changes, and has a note for each. */
export function splitFinishedCopies(
  changes: readonly MemberChange[],
  bindings: readonly DeepReadonly<ResourceBinding>[],
  without: readonly string[],
): { changes: MemberChange[]; notes: string[] } {
  if (without.length === 0) return { changes: [...changes], notes: [] };
  const finished = new Set(bindings.filter(isFinishedRun).map(({ spec }) => referenceTitle(spec.resource)));
  // A run that the plan starts again elsewhere is removed.
  const starting = new Set(
    changes.filter(({ action }) => action === "create").map(({ object }) => referenceTitle(object)),
  );
  const notes: string[] = [];
  const others = changes.filter(({ cluster, action, object }) => {
    const title = referenceTitle(object);
    const stays = action === "delete" && without.includes(cluster) && finished.has(title) && !starting.has(title);
    if (stays)
      notes.push(
        `${title} on ${cluster} is finished: it stays there on drain, is released on unjoin, and does not run again`,
      );
    return !stays;
  });
  return { changes: others, notes };
}

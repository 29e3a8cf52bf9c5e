/** Which release `flotilla rollout undo` returns to. Pure. */
import type { DeepReadonly } from "@flotilla/base";
import type { FleetRollout } from "@flotilla/flotilla";

type Rollout = DeepReadonly<FleetRollout>;

/**
 * `found`: the releases of a template, the newest first. A release that failed or was rolled back is returned to only by
 * its number: without one, the newest that succeeded with another revision is meant.
 */
export function undoTarget(found: readonly Rollout[], to: number | undefined): Rollout | undefined {
  if (to !== undefined) return found.find(({ spec }) => spec.number === to);
  const [newest] = found;
  if (!newest) return undefined;
  return (
    found.find(({ metadata }) => metadata.name === newest.spec.previous) ??
    found.find(
      ({ spec, status }) =>
        spec.number < newest.spec.number && spec.revision !== newest.spec.revision && status?.phase === "Succeeded",
    )
  );
}

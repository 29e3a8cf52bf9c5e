/**
 * Counts the pods of each task of a Volcano Job in each phase, over all members. Names come from members and may be
 * anything.
 */
import { isObject, type JsonObject } from "@flotilla/base";
import { countOf } from "@flotilla/kubernetes";

export class TaskCounts {
  /** A mutable cell per phase, so that counting needs one lookup. */
  readonly #phases = new Map<string, Map<string, { pods: number }>>();

  add(taskStatusCount: unknown): void {
    if (!isObject(taskStatusCount)) return;
    for (const task in taskStatusCount) {
      const counted = taskStatusCount[task];
      if (!isObject(counted) || !isObject(counted["phase"])) continue;
      let phases = this.#phases.get(task);
      if (!phases) this.#phases.set(task, (phases = new Map()));
      for (const phase in counted["phase"]) {
        const pods = countOf(counted["phase"][phase]);
        const sum = phases.get(phase);
        if (sum) sum.pods += pods;
        else phases.set(phase, { pods });
      }
    }
  }

  sum(): JsonObject {
    return Object.fromEntries(
      [...this.#phases].map(([task, phases]) => [
        task,
        { phase: Object.fromEntries([...phases].map(([phase, { pods }]) => [phase, pods])) },
      ]),
    );
  }
}

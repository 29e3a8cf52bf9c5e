/**
 * Deliberate bugs, one line each, to see that the simulation finds them. They are not in the sources: a copy in memory of
 * one file is changed while it is loaded. Its text must be there exactly once, so a defect cannot get lost when code moves.
 */
import { registerHooks } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export interface Defect {
  file: string;
  was: string;
  is: string;
}

const ROOT = join(import.meta.dirname, "../..");

const DIVIDE = "packages/openkruise/src/divide";
const PROPAGATION = "packages/flotilla/src/propagation";

export const defects: Readonly<Record<string, Defect>> = {
  /** Every pod is updated, whatever the partition says. */
  "ignore the partition": {
    file: `${DIVIDE}/partition.ts`,
    was: "const demanded = total - keptPods(partition, total);",
    is: "const demanded = total;",
  },
  /** Every member may have all its pods unavailable. */
  "skip the budget": {
    file: `${DIVIDE}/budgets.ts`,
    was: "const parts = splitUpdated(sizes, Math.min(amount, sumOf(sizes)));",
    is: "const parts = [...sizes];",
  },
  /** The finalizer of a binding is removed before its Works are. */
  "forget a finalizer": {
    file: `${PROPAGATION}/dispatch/dispatch-controller.ts`,
    was: "        await deps.removeWorks(binding, signal);",
    is: "",
  },
  /** A companion whose kind was not discovered yet does not exist. */
  "take a missing list as an empty one": {
    file: `${PROPAGATION}/concerns/companions.ts`,
    was: "if (!areListed()) return undefined;",
    is: "",
  },
  /** A deletion whose answer is lost counts as carried out. */
  "lose a deletion": {
    file: "packages/flotilla/src/delivery/remove-object.ts",
    was: "if (!isConflict(error) || attempt >= RACE_RETRIES) throw error;",
    is: 'if (!isConflict(error) || attempt >= RACE_RETRIES) return "gone";',
  },
  /** Every member but the first runs one completion more. */
  "double a completion": {
    file: `${PROPAGATION}/jobs/job-completions.ts`,
    was: "return divideByWeight(completions, weights, { uid: tieBreaker });",
    is: "return divideByWeight(completions, weights, { uid: tieBreaker }).map((part, index) => index > 0 ? { ...part, replicas: part.replicas + 1 } : part);",
  },
  /** After a lost connection a watch skips what was written next. */
  "read stale": {
    file: "packages/controller-runtime/src/informer.ts",
    was: `    for await (const batch of client.watch(this.kind, {
      cluster,
      ...watched,
      resourceVersion: this.#resourceVersion,`,
    is: `    for await (const batch of client.watch(this.kind, {
      cluster,
      ...watched,
      resourceVersion: String(Number(this.#resourceVersion) + 2),`,
  },
  /** The status of a member is written at every probe, although it is as it was. */
  "write when converged": {
    file: "packages/flotilla/src/membership/plan-cluster-status.ts",
    was: "return equalJson(status, before) ? cluster : { ...cluster, status };",
    is: "return { ...cluster, status };",
  },
  /** The report of a third member is not summed. */
  "forget a member": {
    file: `${PROPAGATION}/aggregate/aggregate-controller.ts`,
    was: "const reported = planItems(works, held);",
    is: "const reported = planItems(works.slice(0, 2), held);",
  },
  /** What could not be delivered is not tried again. */
  "forget a retry": {
    file: `${PROPAGATION}/execute/execute-controller.ts`,
    was: "return driver.retry(work, key, failures);",
    is: "return done;",
  },
  /** Changes of copies on members are not noticed. */
  "overlook drift": {
    file: `${PROPAGATION}/execute/execute-controller.ts`,
    was: "!isStatusChange(old, object) || deps.interpreter",
    is: "false && deps.interpreter",
  },
  /** A binding is created again without asking whether its template is still there. */
  "drop a guard": {
    file: `${PROPAGATION}/match/match-controller.ts`,
    was: "if ((await isGone(key, template, signal)) || !isTemplate(template)) return done;",
    is: "if (!isTemplate(template)) return done;",
  },
  /** A time of the clock before it was set back counts. */
  "trust a clock": {
    file: "packages/flotilla/src/membership/prober.ts",
    was: "const dueMs = Math.min(MIN_PAUSE_MS, loop.lastMs + MIN_PAUSE_MS - clock.now());",
    is: "const dueMs = loop.lastMs + MIN_PAUSE_MS - clock.now();",
  },
};

/** The file of a defect with the defect in it. */
export function withDefect(name: string): { path: string; source: string } {
  const defect = defects[name];
  if (!defect) throw new Error(`no defect is called '${name}'; there are: ${Object.keys(defects).join(", ")}`);
  const path = join(ROOT, defect.file);
  const parts = readFileSync(path, "utf8").split(defect.was);
  if (parts.length !== 2) throw new Error(`${defect.file} has changed: update the defect '${name}'`);
  return { path, source: parts.join(defect.is) };
}

/** Call it before the program is loaded. */
export function breakProgram(name: string): void {
  const { path, source } = withDefect(name);
  const url = pathToFileURL(path).href;
  registerHooks({
    load: (loaded, context, next) =>
      loaded === url ? { format: "module-typescript", source, shortCircuit: true } : next(loaded, context),
  });
}

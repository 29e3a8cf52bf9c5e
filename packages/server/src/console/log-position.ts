/**
 * How far the log of a container was read. Kubernetes resumes a log at a second, so a reader that connects again gets
 * lines again. Pure.
 */

export interface LogPosition {
  /** The time of the newest line; empty before the first one. */
  readonly since: string;
  /** The next lines are those of a new request, from `since` on. */
  resume(): void;
  /** Whether a line was not read before. */
  accept(time: string, text: string): boolean;
}

/** Lines with the same time stamp that are recognized; more are read twice. */
const MAX_SAME_TIME = 1_000;

/** Comparable as text: a fraction of a second may have any number of digits. The zone of a log does not change. */
const comparable = (time: string): string => time.replace(/(?:Z|[+-]\d\d:\d\d)$/, "");

export function createLogPosition(): LogPosition {
  let since = "";
  let newest: string[] = [];
  /** Lines of the newest time stamp that a new request repeats; undefined when it has passed them. */
  let repeated: string[] | undefined;

  function isRepeated(time: string, text: string): boolean {
    if (!repeated) return false;
    const [at, mark] = [comparable(time), comparable(since)];
    if (at < mark) return true;
    const index = at === mark ? repeated.indexOf(text) : -1;
    if (index >= 0) repeated.splice(index, 1);
    else repeated = undefined;
    return index >= 0;
  }
  return {
    get since() {
      return since;
    },
    resume() {
      repeated = since === "" ? undefined : [...newest];
    },
    accept(time, text) {
      if (isRepeated(time, text)) return false;
      const [at, mark] = [comparable(time), comparable(since)];
      if (at > mark) {
        since = time;
        newest = [];
      }
      if (at >= mark && newest.length < MAX_SAME_TIME) newest.push(text);
      return true;
    },
  };
}

/**
 * Bindings that should leave a cluster and cannot. They are retried when clusters or their workload groups change, and
 * at growing intervals because room may become free without an event; each problem is reported once.
 */
import type { ObjectKey } from "@flotilla/client";

const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 300_000;

interface Problem {
  readonly key: ObjectKey;
  readonly problem: string;
  readonly retryMs: number;
}

export interface Stuck {
  note(id: string, key: ObjectKey, problem: string): { isNew: boolean; retryAfterMs: number };
  release(id: string): void;
  has(id: string): boolean;
  /** All of them, to retry after cluster changes. */
  keys(): ObjectKey[];
}

export function createStuck(): Stuck {
  const problems = new Map<string, Problem>();
  return {
    note(id, key, problem) {
      const last = problems.get(id);
      const isNew = last?.problem !== problem;
      const retryMs = last && !isNew ? Math.min(LAST_RETRY_MS, last.retryMs * 2) : FIRST_RETRY_MS;
      problems.set(id, { key, problem, retryMs });
      return { isNew, retryAfterMs: retryMs };
    },
    release: (id) => void problems.delete(id),
    has: (id) => problems.has(id),
    keys: () => Array.from(problems.values(), ({ key }) => key),
  };
}

/** What happened, as a hash of all of it: two runs of one seed must have the same. */
import { createHash } from "node:crypto";

export interface Trace {
  /** How much happened so far. */
  readonly length: number;
  add(atMs: number, what: string): void;
  digest(): string;
}

export function createTrace(onEvent?: (line: string) => void): Trace {
  const hash = createHash("sha256");
  let length = 0;
  let waiting: string[] = [];
  const flush = (): void => {
    hash.update(waiting.join("\n"));
    waiting = [];
  };
  return {
    get length() {
      return length;
    },
    add(atMs, what) {
      length++;
      const line = `${atMs} ${what}`;
      onEvent?.(line);
      if (waiting.push(line) >= 256) flush();
    },
    digest() {
      flush();
      return hash.copy().digest("hex").slice(0, 16);
    },
  };
}

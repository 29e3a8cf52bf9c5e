/**
 * Something that is begun anew when a file that it was begun with says something else: a Secret that was mounted, or a
 * kubeconfig that somebody replaced.
 */
import { sleep } from "../base/index.ts";
import type { Clock, Log } from "../base/index.ts";

/** Files that are mounted from Secrets change within a minute; more often is not worth a look. */
const LOOK_MS = 10_000;

export interface WhileUnchangedOptions {
  clock: Clock;
  log: Log;
  /** What the log calls it. */
  name: string;
}

/**
 * `read` gives undefined for a file that is not there. Resolves, or rejects, when `run` ends for another reason than
 * its signal.
 */
export async function whileUnchanged(
  read: () => Promise<string | undefined>,
  run: (signal: AbortSignal) => Promise<void>,
  { clock, log, name }: WhileUnchangedOptions,
  signal: AbortSignal,
): Promise<void> {
  for (let before = await read(); ;) {
    const changed = new AbortController();
    const ended = new AbortController();
    const watching = untilOther(read, before, clock, AbortSignal.any([signal, ended.signal])).then((text) => {
      if (text === undefined) return;
      before = text;
      log.info("the kubeconfig changed, beginning anew", { file: name });
      changed.abort();
    });
    try {
      await run(AbortSignal.any([signal, changed.signal]));
    } catch (error) {
      if (!changed.signal.aborted || signal.aborted) throw error;
    } finally {
      ended.abort();
      await watching;
    }
    if (!changed.signal.aborted || signal.aborted) return;
  }
}

/** The new text; undefined when nobody waits any more. A file that is gone for a moment is on its way. */
async function untilOther(
  read: () => Promise<string | undefined>,
  before: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    for (;;) {
      await sleep(clock, LOOK_MS, signal);
      const text = await read();
      if (text !== undefined && text !== before) return text;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Restarts a run when its input file changes: a mounted Secret, or a replaced kubeconfig. */
import { sleep } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";

/** Files mounted from Secrets change within a minute; checking more often gains nothing. */
const POLL_MS = 10_000;

export interface WhileUnchangedOptions {
  clock: Clock;
  log: Log;
  /** Its name in the log. */
  name: string;
}

/**
 * `read` returns undefined for a missing file. Resolves, or rejects, when `run` ends for another reason than its
 * signal.
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
      log.info("kubeconfig changed, restarting", { file: name });
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

/** The new text; undefined when the wait is aborted. A file that is missing briefly is being replaced. */
async function untilOther(
  read: () => Promise<string | undefined>,
  before: string | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    for (;;) {
      await sleep(clock, POLL_MS, signal);
      const text = await read();
      if (text !== undefined && text !== before) return text;
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
